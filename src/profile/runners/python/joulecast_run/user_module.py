# SPDX-License-Identifier: Apache-2.0
"""Networks of the user's own: PACKAGE.MODULE:CALLABLE or FILE.py:CALLABLE."""
import importlib
import importlib.util
import os
import sys

import torch

from .words import Refusal


def load_module(name):
    """What the callable makes without arguments, or the torch.nn.Module that it is."""
    where, colon, path = name.rpartition(":")
    if not colon or not where or not path:
        raise Refusal("protocol", f"module {name[:200]}: PACKAGE.MODULE:CALLABLE or FILE.py:CALLABLE is asked for")
    found = _import_file(where) if where.endswith(".py") else _import(where)
    for attribute in path.split("."):
        if not hasattr(found, attribute):
            raise Refusal("unsupported", f"module {where[:200]} has no {path[:200]}")
        found = getattr(found, attribute)
    made = found if isinstance(found, torch.nn.Module) else found()
    if not isinstance(made, torch.nn.Module):
        raise Refusal("unsupported", f"{name[:200]} makes a {type(made).__name__}, not a torch.nn.Module")
    return made


def _import(name):
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(1, here)  # as `python3 -m` has it; after our own folder
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise Refusal("unsupported", f"module {name[:200]}: {error}")


def _import_file(path):
    if not os.path.isfile(path):
        raise Refusal("unsupported", f"module {path[:200]}: there is no such file")
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(1, folder)  # what it imports from beside itself
    spec = importlib.util.spec_from_file_location("joulecast_user_module", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses and pickles look for it
    spec.loader.exec_module(module)
    return module
