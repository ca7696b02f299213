"""timm:NAME, every model timm can create."""

from __future__ import annotations

from typing import Any

from zoo import torchvision_ops
from zoo.network import Input, Network, Options, UnsupportedNetwork, nearest

torchvision_ops.ensure()

import timm  # noqa: E402


def build(name: str, options: Options) -> Network:
    if not timm.is_model(name):
        raise UnsupportedNetwork(f"timm has no model '{name}'{nearest(name, timm.list_models())}")
    module: Any
    try:
        fixed: dict[str, Any] = {"img_size": options.image_size} if options.image_size else {}
        module = timm.create_model(name, pretrained=False, **fixed)
    except TypeError:  # networks that take any image size have no such argument
        module = timm.create_model(name, pretrained=False)
    channels, height, width = module.default_cfg["input_size"]
    if options.image_size:
        height = width = options.image_size
    sizes = {"batch": options.batch}
    side: tuple[int | str, ...] = (height, width)
    if options.symbolic_image:
        side = ("height", "width")
        sizes |= {"height": height, "width": width}
    return Network(module, {"input": Input(("batch", channels, *side))}, sizes)
