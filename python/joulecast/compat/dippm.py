# SPDX-License-Identifier: Apache-2.0
"""The one call of DIPPM (MAELSTROM deliverable 3.5, figure 6), so that programs written for it go on:

    from joulecast.compat import dippm
    out = dippm.predict(framework="pytorch", path="vgg16.pt", batch=32, input="3,224,224", device="A100")
    print("Predicted Memory {0} MB, Energy {1} J, Latency {2} ms, MIG {3}".format(*out))
"""
from __future__ import annotations

import os
from collections.abc import Sequence

from .._predictor import predict as _predict

_FRAMEWORKS = {"pytorch": "pytorch", "onnx": "onnx", "tensorflow": "tensorflow", "paddle": "paddle"}
_DEVICES = {"a100": "a100-sxm4-40gb"}  # the board that DIPPM was made for


def predict(framework: str, path: str | os.PathLike[str], batch: int, input: str | Sequence[int],
            device: str = "A100") -> tuple[float, float, float, str]:
    """Memory in MB (2**20 bytes, as nvidia-smi counts), energy of a batch in J, latency of a batch in ms, and the smallest MIG
    profile that holds it, or "None" where there is none. Inference, of a model file of that framework.

    framework: "pytorch", "onnx", "tensorflow" or "paddle". input: the shape of one example, "3,224,224"; the channels of an
    image may stand first or last. device: "A100", or any other GPU that joulecast knows. Raises joulecast.Error, and
    ValueError for a framework that nobody knows.
    """
    known = _FRAMEWORKS.get(framework.lower())
    if known is None:
        raise ValueError(f"framework {framework!r} is none of {', '.join(_FRAMEWORKS)}")
    found = _predict(path, gpu=_DEVICES.get(device.lower(), device), batch=batch, input=input, framework=known)
    return (round(found.memory_bytes.value / 2**20, 1), round(found.energy_j.value, 4), round(found.time_s.value * 1e3, 4),
            str(found.mig_profile))
