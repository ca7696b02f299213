# SPDX-License-Identifier: Apache-2.0
"""Time, power, energy and memory of networks on GPUs: predicted from the model file, or measured.

    import joulecast
    p = joulecast.predict("resnet50.onnx", gpu="a30", batch=32)
    print(p.time_s.value, p.time_s.lo, p.time_s.hi)

    with joulecast.measure("epoch") as window:
        train()
    print(window.time_s, window.energy_j)

Nothing is loaded before it is used.
"""
from __future__ import annotations

# Name -> the module that has it.
_PLACES = {
    "Interval": "_results", "Prediction": "_results", "Predictions": "_results", "Recommendation": "_results",
    "Recommendations": "_results",
    "Predictor": "_predictor", "predict": "_predictor", "recommend": "_predictor", "inspect": "_predictor", "gpus": "_predictor",
    "Meter": "_meter", "Window": "_meter", "Energy": "_meter", "measure": "_meter",
    "Error": "_library", "InvalidInputError": "_library", "UnsupportedError": "_library",
    "__version__": "_library",
}
_MODULES = ("callbacks", "compat")
__all__ = [name for name in _PLACES if not name.startswith("_")]


def __getattr__(name):
    import importlib

    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name not in _PLACES:
        raise AttributeError(f"module 'joulecast' has no attribute {name!r}")
    value = getattr(importlib.import_module("." + _PLACES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_PLACES, *_MODULES])
