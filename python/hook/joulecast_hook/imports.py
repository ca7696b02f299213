# SPDX-License-Identifier: Apache-2.0
"""Calls our hooks right after the program's own import of a module on the list. The module keeps its spec and its loader:
only `exec_module` of this one loader object is replaced, and taken back before the module is seen by anyone."""
import sys


class Watcher:
    """A meta path finder that finds nothing itself: it asks those behind it and follows the loader they answer with."""

    def __init__(self, hooks):
        self.hooks = hooks
        self.asking = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.hooks or name in self.asking:
            return None
        self.asking.add(name)
        try:
            spec = self.spec_of_others(name, path, target)
        finally:
            self.asking.discard(name)
        try:
            if spec is not None and spec.loader is not None:
                follow(spec.loader, self.hooks[name])
        except Exception as error:
            switch_of(self.hooks[name]).fail(error)
        return spec

    def spec_of_others(self, name, path, target):
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


def follow(loader, hook):
    executed = loader.exec_module

    def exec_module(module):
        del loader.exec_module
        try:
            executed(module)
        except BaseException as error:
            error.__traceback__ = error.__traceback__.tb_next  # without this frame, as in guard.around
            raise
        call(hook, module)

    loader.exec_module = exec_module


def switch_of(hook):
    from . import guard

    return guard.of(hook[0])


def call(hook, module):
    switch = switch_of(hook)
    if switch.off:
        return
    try:
        # __import__ instead of importlib: that one is not loaded yet in most programs.
        getattr(__import__(f"{__package__}.{hook[0]}", fromlist=[hook[1]]), hook[1])(module)
    except Exception as error:
        switch.fail(error)


def watch(hooks):
    sys.meta_path.insert(0, Watcher(hooks))
    for name in hooks:  # somebody's .pth file may have been earlier
        if name in sys.modules:
            call(hooks[name], sys.modules[name])
