# SPDX-License-Identifier: Apache-2.0
"""Lies first on PYTHONPATH of what `measure` runs. Whatever sitecustomize Python would have imported without us is
imported as if we were not there: its errors are its own."""
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _start():
    if os.environ.get("JOULECAST_MARKS") and os.environ.get("JOULECAST_HOOK") != "0":
        try:
            import joulecast_hook
            joulecast_hook.start()
        except Exception as error:  # a program must not end because it is measured
            try:
                print(f"joulecast: phases are not found: {type(error).__name__}: {error}", file=sys.stderr)
            except Exception:
                pass


class _Ours:
    """What programs may import of ours, where they have none of that name: behind everything else, and not by the path."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in ("joulecast_marks", "joulecast_hook"):
            return None
        from importlib.machinery import PathFinder
        return PathFinder.find_spec(name, [_HERE])


def _step_aside():
    """The program sees the module path that it would have without us; submodules are still found through the package."""
    if os.environ.get("JOULECAST_MARKS"):
        sys.meta_path.append(_Ours)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _HERE]


_start()
_step_aside()
_ours = sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize  # noqa: F401: the next one on the path
except BaseException as _error:
    if not isinstance(_error, ImportError) or _error.name != "sitecustomize":
        _error.__traceback__ = _error.__traceback__.tb_next  # without this file, where Python lets us (3.11 and newer)
        raise
finally:
    if _ours is not None:  # the import system asks for a module under this name once we return
        sys.modules.setdefault("sitecustomize", _ours)
