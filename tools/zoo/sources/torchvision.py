"""torchvision:NAME, every model torchvision registers; detectors give their backbone."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from zoo import torchvision_ops
from zoo.network import Input, Network, Options, UnsupportedNetwork, nearest

torchvision_ops.ensure()

from torchvision import models  # noqa: E402

# What a network is normally run at, where that is not 224 x 224 (torchvision's weight entries say so).
_IMAGE_SIZES = {
    "inception_v3": 299,
    "efficientnet_b1": 240,
    "efficientnet_b2": 288,
    "efficientnet_b3": 300,
    "efficientnet_b4": 380,
    "efficientnet_b5": 456,
    "efficientnet_b6": 528,
    "efficientnet_b7": 600,
    "efficientnet_v2_s": 384,
    "efficientnet_v2_m": 480,
    "efficientnet_v2_l": 480,
    "swin_v2_t": 256,
    "swin_v2_s": 256,
    "swin_v2_b": 256,
    "vit_h_14": 224,
}


class _FirstOutput(torch.nn.Module):
    """Takes the "out" entry of a segmentation network."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.module(input)["out"]


class _Features(torch.nn.Module):
    """A detector's backbone with its feature pyramid; the feature maps in order."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.backbone = module

    def forward(self, input: torch.Tensor) -> tuple[torch.Tensor, ...]:
        features = self.backbone(input)
        return (features,) if isinstance(features, torch.Tensor) else tuple(features.values())


class _Retina(torch.nn.Module):
    """Backbone, pyramid and both heads of RetinaNet and FCOS, up to the boxes' decoding."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.backbone = module.backbone
        self.head = module.head

    def forward(self, input: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(self.head(list(self.backbone(input).values())).values())


def names(kind: str) -> list[str]:
    """Names by kind: classification, segmentation, detection, video."""
    module = {
        "classification": models,
        "segmentation": models.segmentation,
        "detection": models.detection,
        "video": models.video,
    }[kind]
    return sorted(models.list_models(module=module))


def build(name: str, options: Options) -> Network:
    if name in names("detection"):
        return _detector(name, options)
    if name in names("segmentation"):
        module = models.get_model(name, weights=None, weights_backbone=None, num_classes=21)
        return _image_network(_FirstOutput(module), options, options.image_size or 520)
    if name in names("video"):
        return _video(name, options)
    if name in names("classification"):
        return _classifier(name, options)
    raise UnsupportedNetwork(f"torchvision has no model '{name}'{nearest(name, models.list_models())}")


def _classifier(name: str, options: Options) -> Network:
    extra: dict[str, object] = {}
    size = options.image_size or _IMAGE_SIZES.get(name, 224)
    if name.startswith("vit_"):
        extra["image_size"] = size
    if name == "maxvit_t":
        extra["input_size"] = (size, size)
    if name in ("inception_v3", "googlenet"):
        extra |= {"aux_logits": name == "inception_v3", "init_weights": False, "transform_input": False}
    module = models.get_model(name, weights=None, **extra)
    return _image_network(module, options, size)


def _image_network(module: torch.nn.Module, options: Options, size: int) -> Network:
    side = ("height", "width") if options.symbolic_image else (size, size)
    sizes = {"batch": options.batch}
    if options.symbolic_image:
        sizes |= {"height": size, "width": size}
    return Network(module, {"input": Input(("batch", 3, *side))}, sizes)


def _detector(name: str, options: Options) -> Network:
    module = models.get_model(name, weights=None, weights_backbone=None)
    if name.startswith("ssd"):
        size = 300 if name == "ssd300_vgg16" else 320
        network = _image_network(_Features(module.backbone), options, options.image_size or size)
        network.notes.append("backbone only")
    elif name.startswith(("retinanet", "fcos")):
        network = _image_network(_Retina(module), options, options.image_size or 800)
        network.notes.append("backbone and heads, before the boxes are decoded")
    else:
        network = _image_network(_Features(module.backbone), options, options.image_size or 800)
        network.notes.append("backbone with feature pyramid only")
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        count = len(network.module.eval()(*network.example()))
    network.outputs = [f"feature_{i}" for i in range(count)]
    return network


def _video(name: str, options: Options) -> Network:
    frames, size = 16, 112
    if name.startswith("mvit"):
        size = 224
    elif name.startswith("s3d"):
        size = 224
    elif name.startswith("swin3d"):
        frames, size = 32, 224
    size = options.image_size or size
    module = models.get_model(name, weights=None)
    return Network(module, {"input": Input(("batch", 3, frames, size, size))}, {"batch": options.batch})
