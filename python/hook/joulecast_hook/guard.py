# SPDX-License-Identifier: Apache-2.0
"""What keeps our failures from the program, and our marks from its helper processes."""
import os
import sys
from functools import wraps

from . import pid

_switches = {}
_child = os.getpid() != pid  # of multiprocessing, or of any fork: what it inherited belongs to its parent


def warn(text):
    try:
        sys.stderr.write("joulecast: " + " ".join(text.split()) + "\n")
    except Exception:  # no stderr: there is nobody to tell
        pass


class Switch:
    """One framework's: on until the first failure."""

    def __init__(self, name):
        self.name = name
        self.off = False

    def fail(self, error):
        if not self.off:
            self.off = True
            warn(f"phases of {self.name} are no longer marked: {type(error).__name__}: {error}")


def of(name):
    return _switches.setdefault(name, Switch(name))


def guarded(name):
    """For everything a framework calls: returns None whatever happens, and nothing at all after the first failure."""
    switch = of(name)

    def decorate(function):
        @wraps(function)
        def guarded_function(*arguments, **named):
            if switch.off or _child:
                return None
            try:
                function(*arguments, **named)
            except Exception as error:
                switch.fail(error)
            return None

        return guarded_function

    return decorate


def around(name, original, before, after):
    """`original` with our calls before and after it, neither of which can fail. An exception of the original's does not
    show our frame (Python 3.11 and newer; older ones write it down again)."""
    before, after = guarded(name)(before), guarded(name)(after)

    @wraps(original)
    def wrapper(*arguments, **named):
        before(*arguments, **named)
        try:
            result = original(*arguments, **named)
        except BaseException as error:
            if error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        after(*arguments, **named)
        return result

    wrapper.joulecast = True
    return wrapper


def _forked():
    global _child
    _child = True


os.register_at_fork(after_in_child=_forked)


def is_child():
    """Workers of a DataLoader, of a pool, of any multiprocessing: forked, or spawned with a Python of their own."""
    global _child
    if not _child:
        process = sys.modules.get("multiprocessing.process")
        if process is not None:
            _child = process.parent_process() is not None or getattr(process.current_process(), "_inheriting", False)
    return _child
