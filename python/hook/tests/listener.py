# SPDX-License-Identifier: Apache-2.0
"""For the tests: runs a Python program as `measure` does, and hears what its hook says."""
import os
import pathlib
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading

HOOK = pathlib.Path(__file__).resolve().parent.parent
LINE = re.compile(r"(?:@(\d+) )?(begin|end|mark) ([^\t]{1,200})((?:\t[^\t=]+=[^\t]*)*)$")


class Listener:
    """A bound socket, and a thread that takes all that arrives as (pid, line)."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.name = f"@joulecast-test-{os.getpid()}-{id(self)}"
        self.socket.bind("\0" + self.name[1:])
        self.heard = []
        self.stop, self.stopped = os.pipe()
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        while True:
            ready, _, _ = select.select([self.socket, self.stop], [], [])
            if self.socket not in ready:
                return
            data, extra, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(12))
            pid = next(struct.unpack("3i", given)[0] for _, kind, given in extra if kind == socket.SCM_CREDENTIALS)
            assert len(data) <= 512, data
            self.heard.append((pid, data.decode("utf-8")))

    def close(self):
        os.write(self.stopped, b"x")
        self.thread.join()
        self.socket.close()
        os.close(self.stop)
        os.close(self.stopped)


class Span:
    def __init__(self, name, begun, ended, keys):
        self.name, self.begun, self.ended, self.keys = name, begun, ended, keys

    def __repr__(self):
        return f"{self.name}{self.keys} {self.begun / 1e6:.3f}-{self.ended / 1e6:.3f} ms"

    def holds(self, other):
        return self.begun <= other.begun and other.ended <= self.ended


def spans(heard):
    """What a receiver makes of the lines: an end closes the innermost begin of that name of that sender."""
    opened, closed = {}, []
    for pid, line in heard:
        match = LINE.match(line)
        assert match, f"not a line: {line!r}"
        time, word, name, pairs = match.groups()
        if word == "begin":
            keys = dict(pair.split("=", 1) for pair in pairs.split("\t")[1:])
            opened.setdefault((pid, name), []).append((int(time), keys))
        elif word == "end":
            begins = opened.get((pid, name), [])
            place = [at for at, (_, keys) in enumerate(begins) if pairs in ("", f"\tid={keys.get('id')}")]
            assert place, f"end without begin: {line!r} in {heard}"
            begun, keys = begins.pop(place[-1])
            assert begun <= int(time), f"ends before it begins: {line!r}"
            closed.append(Span(name, begun, int(time), keys))
    still_open = [key for key, begins in opened.items() if begins]
    assert not still_open, f"never ended: {still_open}"
    return sorted(closed, key=lambda span: (span.begun, -span.ended))


class Run:
    """A program (text, run as a file) under the hook: `code`, `out`, `err`, `heard`, `pid`."""

    def __init__(self, program, files=(), options=(), path=(), hook=True, python=sys.executable, timeout=300, gone=False,
                 **environment):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="joulecast-hook-"))
        listener = Listener()
        try:
            for name, text in dict(files).items():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / name).write_text(textwrap.dedent(text))
            (self.folder / "program.py").write_text(textwrap.dedent(program))
            own = [str(self.folder / entry) for entry in path]
            variables = dict(os.environ, PYTHONPATH=os.pathsep.join(([str(HOOK)] if hook else []) + own), **environment)
            variables.pop("JOULECAST_MARKS", None)
            if hook:
                variables["JOULECAST_MARKS"] = listener.name
            if gone:
                listener.close()
            child = subprocess.Popen([str(python), *options, "program.py"], cwd=self.folder, env=variables, text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.pid = child.pid
            self.out, self.err = child.communicate(timeout=timeout)
            self.code = child.returncode
        finally:
            if not gone:
                listener.close()
            shutil.rmtree(self.folder, ignore_errors=True)
        self.heard = listener.heard

    def spans(self, name=None):
        return [span for span in spans(self.heard) if name in (None, span.name)]
