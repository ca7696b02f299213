#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command as if on a machine of its own, which can lose its power.

    keeper.py HOST COMMAND...

HOST becomes the machine's name for the command and all it starts; '-' leaves the name. SIGTERM is the loss of power:
everything the command ever started is stopped and then killed, so that none of it sees another die. The same happens
when the command ends, and when whoever started this is gone. The exit code is the command's.
"""
import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, CLONE_NEWUTS = 1, 36, 0x04000000


def take_name(host):
    """False where that needs more rights."""
    if LIBC.unshare(CLONE_NEWUTS) != 0:
        return False
    socket.sethostname(host)
    return True


def descendants():
    """Orphans among them: this process is the nearest reaper of all."""
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, open_ = set(), [os.getpid()]
    while open_:
        new = children.get(open_.pop(), [])
        found.update(new)
        open_.extend(new)
    return found


def send(process, what):
    try:
        os.kill(process, what)
    except ProcessLookupError:
        pass


def lose_power():
    stopped = set()
    while new := descendants() - stopped:
        for process in new:
            send(process, signal.SIGSTOP)
        stopped |= new
    for process in stopped:
        send(process, signal.SIGKILL)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def main(host, command):
    power = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, power | {signal.SIGCHLD})
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
    if host != "-":
        take_name(host)
    child = subprocess.Popen(command, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, []))
    code = None
    while code is None and signal.sigwait(power | {signal.SIGCHLD}) == signal.SIGCHLD:
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
                if ended[0] == child.pid:
                    code = os.waitstatus_to_exitcode(ended[1])
        except ChildProcessError:
            pass
    lose_power()
    return 143 if code is None else code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
