"""Makes torchvision importable where its C extension does not load (CUDA wheel beside a CPU build of torch)."""

from __future__ import annotations

import torch

# torchvision registers shape functions for these two at import time and fails if the operators do not exist.
_SCHEMAS = {
    "nms": "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
_library: torch.library.Library | None = None  # the definitions live as long as this object


def ensure() -> None:
    """Imports torchvision; defines the operators it misses first, if it misses any."""
    global _library
    try:
        import torchvision  # noqa: F401

        return
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
    import sys

    for name in [n for n in sys.modules if n == "torchvision" or n.startswith("torchvision.")]:
        del sys.modules[name]
    _library = torch.library.Library("torchvision", "FRAGMENT")
    for name, schema in _SCHEMAS.items():
        if not hasattr(torch.ops.torchvision, name):
            _library.define(schema)
    import torchvision  # noqa: F401
