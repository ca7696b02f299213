# SPDX-License-Identifier: Apache-2.0
"""For programs that say their own phases, beside those the hook finds:

    import joulecast_marks as marks

    with marks.phase("load", files=3):    # also `async with`
        ...

    @marks.phase("step")                  # functions, coroutines, generators
    def step(): ...

    marks.begin("epoch", index=0, total=10)
    marks.end("epoch")
    marks.mark("saved")

Whatever `joulecast measure` runs finds this module. Elsewhere it does nothing, and nowhere does it raise anything or wait for
the listener. Phases nest and overlap, in threads and tasks too: each `phase` ends its own begin. Where CUDA is in use `begin`
and `end` wait for the GPU as the hook's edges do (JOULECAST_SYNC=0: never)."""
import functools
import inspect
import itertools
import os
import time

__all__ = ["begin", "end", "mark", "phase", "listening"]

MAX_NAME = 200
MAX_LINE = 512

_ids = itertools.count(1)
_listening = None
_failed = False


def listening():
    """Whether somebody hears what is said: asked once."""
    global _listening
    if _listening is None:
        name = os.environ.get("JOULECAST_MARKS", "")
        _listening = len(name) > 1 and name.startswith("@")
    return _listening


def begin(name, /, **details):
    """`index` and `total` of an "epoch" tell how long the run will go on; an `id` is given to `end` again."""
    if listening():
        _say("begin", name, details, True)


def end(name, id=None):
    """Closes the innermost open begin of that name, or the one with that `id`."""
    if listening():
        _say("end", name, {} if id is None else {"id": id}, True)


def mark(name, /, **details):
    """A moment."""
    if listening():
        _say("mark", name, details, False)


class phase:
    def __init__(self, name, /, **details):
        self._name = name
        self._details = details
        self._open = []  # ids, innermost last

    def __enter__(self):
        if listening():
            self._open.append(next(_ids))
            begin(self._name, **dict(self._details, id=f"{os.getpid()}.{self._open[-1]}"))
        return self

    def __exit__(self, *_):
        if self._open:
            end(self._name, id=f"{os.getpid()}.{self._open.pop()}")

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, *_):
        self.__exit__()

    def __call__(self, function):
        """Each call is a phase of its own."""
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def marked(*arguments, **named):
                with phase(self._name, **self._details):
                    return await function(*arguments, **named)
        elif inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def marked(*arguments, **named):
                with phase(self._name, **self._details):
                    return (yield from function(*arguments, **named))
        else:
            @functools.wraps(function)
            def marked(*arguments, **named):
                with phase(self._name, **self._details):
                    return function(*arguments, **named)
        return marked


def _say(word, name, details, edge):
    global _failed
    if _failed:
        return
    try:
        from joulecast_hook import device, sender

        if edge:
            device.wait()
        at = time.monotonic_ns()
        to = sender.of_program()
        if to is not None:
            to.line(_line(f"@{at} {word} ", name, details))
    except Exception as error:
        _failed = True
        try:
            from joulecast_hook import guard
            guard.warn(f"the program's own phases are no longer marked: {type(error).__name__}: {error}")
        except Exception:  # a copy of this file alone: there is nobody to say it to
            pass


def _line(head, name, details):
    """What has no room is left out, last details first."""
    text = head + (_cut(_printable(name), MAX_NAME) or "?")
    for key, value in details.items():
        more = f"\t{_printable(key)}={_printable(value)}"
        if len((text + more).encode("utf-8", "replace")) <= MAX_LINE:
            text += more
    return text


def _printable(value):
    return "".join(" " if ord(letter) < 32 or ord(letter) == 127 else letter for letter in str(value))


def _cut(text, size):
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
