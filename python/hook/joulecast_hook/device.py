# SPDX-License-Identifier: Apache-2.0
"""Waits for the GPU at an edge, so that its work is counted to the phase that asked for it. Never initialises CUDA."""
import os
import sys
import time

from . import guard

MIN_APART_NS = 20000000  # edges that follow each other faster are not worth a pause of the GPU each

_off = os.environ.get("JOULECAST_SYNC") == "0"
_last = 0


def wait():
    global _off, _last
    torch = sys.modules.get("torch")
    if _off or torch is None:
        return
    try:
        cuda = getattr(torch, "cuda", None)
        if cuda is None or not cuda.is_initialized() or time.monotonic_ns() - _last < MIN_APART_NS:
            return
        if cuda.is_current_stream_capturing():  # a wait would spoil the graph that is being captured
            return
        cuda.synchronize()
        _last = time.monotonic_ns()
    except Exception as error:
        _off = True
        guard.warn(f"phases end without waiting for the GPU: {type(error).__name__}: {error}")
