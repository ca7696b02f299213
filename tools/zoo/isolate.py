"""Runs a function in a child process with limits on time and memory, so that a bad network ends only itself."""

from __future__ import annotations

import ctypes
import gc
import json
import multiprocessing
import os
import re
import resource
import signal
import tempfile
import traceback
from collections.abc import Callable
from typing import Any


# Where others use the machine as well, a child takes longer than it computes.
_SHARE = 20
_MORE_S = 60


class ChildFailed(Exception):
    """The function raised, ran out of time or memory, or its process died."""


def run(function: Callable[[], dict[str, Any]], timeout_s: float, memory_gib: float) -> dict[str, Any]:
    """The function's result, which must be JSON. The child is forked: what is imported already costs it nothing.

    The time is the processor's, so that what fails does not depend on what else runs.
    """
    with tempfile.TemporaryDirectory(prefix="zoo") as folder:
        answer = os.path.join(folder, "answer.json")
        child = multiprocessing.get_context("fork").Process(
            target=_child, args=(function, answer, timeout_s, memory_gib, os.path.join(folder, "log"))
        )
        child.start()
        patience_s = _SHARE * timeout_s + _MORE_S
        child.join(patience_s)
        if child.is_alive():
            child.kill()
            child.join()
            raise ChildFailed(f"not done after {patience_s:g} s")
        if child.exitcode == -signal.SIGXCPU:
            raise ChildFailed(f"timeout after {timeout_s:g} s of processor time")
        if not os.path.exists(answer):
            raise ChildFailed(f"process ended with code {child.exitcode}: {_tail(os.path.join(folder, 'log'))}")
        with open(answer, encoding="utf-8") as file:
            result = json.load(file)
    if "error" in result:
        raise ChildFailed(result["error"])
    return result


def _child(function: Callable[[], dict[str, Any]], answer: str, timeout_s: float, memory_gib: float, log: str) -> None:
    _die_with_parent()
    limit = int(memory_gib * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    seconds = max(1, round(timeout_s))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    gc.freeze()
    try:
        result = function()
    except BaseException as error:  # whatever it is, the parent reports it
        result = {"error": _reason(error)}
    with open(answer + ".part", "w", encoding="utf-8") as file:
        json.dump(result, file)
    os.rename(answer + ".part", answer)
    os._exit(0)  # no destructors: they can take long, or crash


def _die_with_parent() -> None:
    """A killed run leaves nobody behind who still writes its files."""
    die_with_parent = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(die_with_parent, signal.SIGKILL)


def _reason(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" [{os.path.basename(last[0].filename)}:{last[0].lineno}]" if last else ""
    message = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    message = message.split("## Exception summary")[-1]  # torch.export writes a page of advice before it
    return " ".join(f"{type(error).__name__}: {message}".split())[:600] + where


def _tail(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return " ".join(file.read()[-300:].split())
    except OSError:
        return ""
