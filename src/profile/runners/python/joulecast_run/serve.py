# SPDX-License-Identifier: Apache-2.0
"""Requests in, replies out. A runner brings a backend:

    NAME           "python-torch"
    RUNTIMES       words of joulecast's runtimes that it has, its own choice first; none where it is none of them
    software()     "pytorch 2.13.0"
    open(device, threads, runtime)     -> an opened device, with .threads
        .case(program, options)        -> something to run; .module(inputs, options) likewise, or Refusal;
            .optimizer(parameters, options): one step of it alone
            .copies .distinct_copies .weight_bytes .run(iterations) -> Window .memory() -> {key: bytes}
        .release()
    kind_of(error) -> "out_of_memory", "unsupported" or "failed"
"""
import os
import sys
from dataclasses import dataclass

from .program import Program
from .words import Fields, Refusal, escaped, split

PROTOCOL = 1
# Longer than any line of a program; what has no end must not fill the memory.
LONGEST_LINE = 16 << 20
MOST_LINES = 1_000_000
LONGEST_TEXT = 2000
PRECISIONS = ("fp32", "tf32", "tf32-all", "fp16", "bf16", "fp64")


@dataclass
class CaseOptions:
    network: bool = False
    training: bool = False
    precision: str = "fp32"
    input_gradient: bool = True
    copies_bytes: int = 0
    copies_most: int = 1


class Lines:
    """Lines of bounded length."""

    def __init__(self, stream):
        self._stream = stream

    def next(self):
        """None at the end; "" with too_long set where the line was left out."""
        self.too_long = False
        line = self._stream.readline(LONGEST_LINE)
        if not line:
            return None
        while len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            self.too_long = True
            line = self._stream.readline(LONGEST_LINE)
            if len(line) < LONGEST_LINE:
                return ""
        return line.rstrip(b"\n").decode("utf-8", "surrogateescape")


class Session:
    """One device, one case at a time."""

    def __init__(self, backend):
        self._backend, self._device, self._case = backend, None, None

    def handle(self, line, lines):
        """The reply to a line. Raises."""
        words = split(line, " ")
        if lines.too_long:
            raise Refusal("protocol", "a line is too long")
        if not words:
            return "ok"
        fields = Fields(words[1:])
        if words[0] == "prepare":  # its lines are read whatever comes of it
            program = _program_lines(lines)
        if words[0] == "hello":
            return self._hello(fields)
        if self._device is None:
            raise Refusal("protocol", "hello comes first")
        if words[0] == "prepare":
            return self._prepare(fields, program)
        if words[0] == "run":
            return self._run(fields)
        if words[0] == "memory":
            return " ".join(["ok", *(f"{key}={value}" for key, value in self._prepared().memory().items())])
        if words[0] == "release":
            self.release()
            return "ok"
        raise Refusal("protocol", f"'{words[0][:40]}' is no request")

    def release(self):
        self._case = None
        if self._device is not None:
            self._device.release()

    def _hello(self, fields):
        if fields.integer("protocol") != PROTOCOL:
            raise Refusal("protocol", f"this runner speaks protocol {PROTOCOL}")
        threads = fields.integer("threads")
        if not 0 <= threads <= 65536:
            raise Refusal("protocol", "that many threads there are not")
        runtime = self._runtime(fields)
        self.release()
        self._device = self._backend.open(fields.text("device", "cpu"), threads, runtime)
        words = f"ok runner={self._backend.NAME}" + (f" runtime={runtime}" if runtime else "")
        return f"{words} software={escaped(self._backend.software())} threads={self._device.threads}"

    def _runtime(self, fields):
        own = self._backend.RUNTIMES
        runtime = fields.text("runtime", own[0] if own else "")
        if runtime and runtime not in own:
            raise Refusal("unsupported", f"runtime {runtime[:40]}: this runner has {', '.join(own) or 'its own alone'}")
        return runtime

    def _prepare(self, fields, lines):
        self.release()
        if lines is None:
            raise Refusal("protocol", "a program is too long")
        program = Program()
        for line in lines:
            program.add_line(line)
        options = _options(fields)
        if fields.text("kind", "operation") == "optimizer":
            return self._prepare_optimizer(program, options)
        if fields.has("module"):
            self._case = self._module(fields.text("module"), program, options)
        else:
            program.check()
            self._case = self._device.case(program, options)
        reply = (f"ok copies={self._case.copies} distinct_copies={self._case.distinct_copies}"
                 f" weight_bytes={self._case.weight_bytes}")
        return reply + (f" module={escaped(fields.text('module'))}" if fields.has("module") else "")

    def _prepare_optimizer(self, program, options):
        if program.steps or program.outputs or not program.values or any(value.kind != "parameter" for value in program.values):
            raise Refusal("protocol", "an optimizer has parameters alone")
        self._case = self._device.optimizer(program.values, options)
        return f"ok copies=1 distinct_copies=1 weight_bytes={self._case.weight_bytes} kind=optimizer"

    def _module(self, name, program, options):
        if program.steps or program.outputs or any(value.kind != "input" for value in program.values):
            raise Refusal("protocol", "a module has inputs alone")
        if not options.network:
            raise Refusal("protocol", "a module is a network")
        return self._device.module(name, program.values, options)

    def _prepared(self):
        if self._case is None:
            raise Refusal("protocol", "nothing is prepared")
        return self._case

    def _run(self, fields):
        case, iterations = self._prepared(), fields.integer("iterations", 1)
        if iterations < 1:
            raise Refusal("protocol", "iterations must be 1 or more")
        return f"ok {case.run(iterations).words(iterations)}"


def _program_lines(lines):
    """All of them up to `end`, before any can be refused; None where they are too many or too long."""
    out, fits = [], True
    while True:
        line = lines.next()
        fits = fits and not lines.too_long and len(out) < MOST_LINES
        if line is None or (line == "end" and not lines.too_long):
            return out if fits else None
        if fits:
            out.append(line)


def _options(fields):
    precision = fields.text("precision", "fp32")
    if precision not in PRECISIONS:
        raise Refusal("unsupported", f"precision {precision[:40]}")
    return CaseOptions(fields.choice("kind", ("operation", "network", "optimizer")) == "network",
                       fields.choice("mode", ("inference", "training")) == "training", precision,
                       fields.integer("input_gradient", 1) != 0, fields.integer("copies_bytes"), fields.integer("copies_most", 1))


def _refusal(kind, text):
    # The rest of a library's message is a backtrace.
    first = next((line for line in text.strip().splitlines() if line.strip()), "no reason given")
    return f"error kind={kind} text={escaped(first[:LONGEST_TEXT])}"


def _answer(session, backend, line, lines):
    """The reply, and after an error nothing of the case is left."""
    try:
        return session.handle(line, lines)
    except Refusal as error:
        reply = _refusal(error.kind, str(error))
    except MemoryError:
        reply = _refusal("out_of_memory", "no memory left")
    except (Exception, SystemExit) as error:  # a user's module may ask to exit: it is the case that ends
        reply = _refusal(backend.kind_of(error), f"{type(error).__name__}: {error}")
    session.release()
    return reply


def _own_descriptors():
    """What libraries, and their child processes, print or read must not be taken for the protocol."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return requests, replies


def serve(backend):
    requests, replies = _own_descriptors()
    lines, session = Lines(requests), Session(backend)
    while True:
        line = lines.next()
        if line is None:
            return 0
        reply = _answer(session, backend, line, lines)
        replies.write(reply.encode("utf-8", "surrogateescape") + b"\n")
        replies.flush()


def cannot_start(library, error):
    """For a runner whose library is not there: said once, on standard error."""
    print(f"this runner needs {library} ({error}); {sys.executable} has none: pip install {library}", file=sys.stderr)
    return 1
