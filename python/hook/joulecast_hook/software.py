# SPDX-License-Identifier: Apache-2.0
"""What the program runs on: Python's version, and those of the frameworks that it has imported, under the names of their
packages."""
import sys

from . import frameworks

BESIDE = ("jax",)  # below Keras; nothing of it is followed
MAX_VERSION = 40  # all together have to fit a line


def packages():
    names = []
    for module in [*frameworks.HOOKS, *BESIDE]:
        name = module.partition(".")[0]
        if name not in names:
            names.append(name)
    return names


def version_of(module):
    try:
        version = getattr(module, "__version__", None)
    except Exception:  # whatever lies under that name
        return None
    return version[:MAX_VERSION] if isinstance(version, str) and version.isprintable() else None


def versions():
    out = {"python": sys.version.split()[0]}
    for name in packages():
        version = version_of(sys.modules.get(name))
        if version:
            out[name] = version
    return out
