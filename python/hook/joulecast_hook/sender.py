# SPDX-License-Identifier: Apache-2.0
"""Lines to whoever listens at JOULECAST_MARKS. Never waits: what finds no room is counted, or kept if it is a rare line
whose loss would leave a phase open. Every line carries its own time, so it may come late."""
import atexit
import collections
import errno
import os
import socket
import threading
import time

from . import guard

MAX_LINE = 512
MAX_KEPT = 64
GONE = (ConnectionError, FileNotFoundError)


class Sender:
    def __init__(self, name):
        self.address = b"\0" + os.fsencode(name[1:])
        self.socket = None
        self.inode = None
        self.kept = collections.deque()
        self.lost = 0
        self.dead = False
        self.lock = threading.RLock()  # a signal's handler or a finaliser may come in between

    def line(self, text, keep=True):
        """False if the line is lost. Without `keep` it is when there is no room at this moment."""
        data = text.encode("utf-8", "replace")[:MAX_LINE]
        with self.lock:
            if self.dead:
                return False
            if self.flush() and self.try_to_send(data):
                return True
            if keep and not self.dead and len(self.kept) < MAX_KEPT:
                self.kept.append(data)
                return True
            self.lost += 1
            return False

    def flush(self):
        while self.kept and self.try_to_send(self.kept[0]):
            self.kept.popleft()
        return not self.kept

    def try_to_send(self, data):
        try:
            self.connected().send(data)
            return True
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno == errno.ENOBUFS:
                return False
            self.give_up(error)
            return False

    def connected(self):
        """A program may close all descriptors, and the number may be another file by now: nothing of ours goes there."""
        if self.socket is not None and not self.is_ours():
            self.socket.detach()
            self.socket = None
        if self.socket is None:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)  # Python closes it in programs it starts
            self.socket.setblocking(False)
            self.socket.connect(self.address)
            self.inode = os.fstat(self.socket.fileno()).st_ino
        return self.socket

    def is_ours(self):
        try:
            return os.fstat(self.socket.fileno()).st_ino == self.inode
        except OSError:
            return False

    def give_up(self, error):
        self.dead = True
        self.kept.clear()
        reason = "nobody listens any more" if isinstance(error, GONE) else f"{type(error).__name__}: {error}"
        guard.warn(f"phases are no longer marked: {reason}")

    def finish(self):
        """At exit: what is kept gets a last chance of a few milliseconds, then the number of lost lines is told."""
        for _ in range(20):
            with self.lock:
                if self.dead or self.flush():
                    break
            time.sleep(0.001)
        self.lost += len(self.kept)
        self.kept.clear()
        if self.lost:
            for _ in range(20):
                if self.dead or self.try_to_send(b"lost %d" % self.lost):
                    break
                time.sleep(0.001)
        self.dead = True


    def finish_in(self, pid):
        if os.getpid() == pid:
            self.finish()


_sender = None
_at_exit = []


def get():
    """The process's sender; None in workers."""
    global _sender
    if _sender is None:
        if guard.is_child():
            return None
        _sender = Sender(os.environ.get("JOULECAST_MARKS", ""))
        atexit.register(_exit)
    return None if guard._child else _sender


_own = None
_own_pid = None


def of_program():
    """For what the program says itself, in every process of it: workers have one of their own."""
    global _own, _own_pid
    if not guard.is_child():
        return get()
    if _own_pid != os.getpid():
        _own, _own_pid = Sender(os.environ.get("JOULECAST_MARKS", "")), os.getpid()
        atexit.register(_own.finish_in, _own_pid)
    return _own


def at_exit(function):
    _at_exit.append(function)
    return function


def _exit():
    if guard._child or _sender is None:
        return
    for function in _at_exit:
        function()
    _sender.finish()
