"""profet:NAME, the convolutional networks of PROFET's training steps (ddps-lab/profet, Middleware 2022).

They ran in TensorFlow 2.5; these are the same layers in torch, read from its generator of workloads: Keras' paddings,
biases before batch normalisation where Keras has them, pre-activated residual networks. The number of classes follows
from the image's size as its synthetic data sets have it, so every size is a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from zoo import torchvision_ops, weightless
from zoo.network import Input, Network, Options, UnsupportedNetwork

torchvision_ops.ensure()

import timm  # noqa: E402

_CLASSES = {16: 10, 32: 10, 64: 100, 128: 100, 224: 1000, 256: 1000}


def _same(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Rows of zeros before and after an image of `size` in TensorFlow's padding SAME: the odd one comes after."""
    total = max(0, (-(-size // stride) - 1) * stride + kernel - size)
    return total // 2, total - total // 2


class _Same(nn.Module):
    """A convolution or pooling of square images padded SAME: by itself where both sides are equal."""

    def __init__(self, size: int, kernel: int, stride: int, make: Callable[[int], nn.Module], fill: float) -> None:
        super().__init__()
        before, after = _same(size, kernel, stride)
        self.uneven = None if before == after else nn.ConstantPad2d((before, after, before, after), fill)
        self.inner = make(0 if self.uneven else before)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x if self.uneven is None else self.uneven(x))


class _Layers:
    """Layers one after the other, with the shape of what they give."""

    def __init__(self, size: int, channels: int = 3) -> None:
        self.size, self.channels = size, channels
        self.list: list[nn.Module] = []

    def add(self, *layers: nn.Module) -> _Layers:
        self.list += layers
        return self

    def conv(self, filters: int, kernel: int, stride: int = 1, same: bool = True) -> _Layers:
        channels = self.channels
        if same:
            self.add(
                _Same(self.size, kernel, stride, lambda pad: nn.Conv2d(channels, filters, kernel, stride, pad), 0.0)
            )
            self.size = -(-self.size // stride)
        else:
            self.add(nn.Conv2d(channels, filters, kernel, stride))
            self.size = (self.size - kernel) // stride + 1
        self.channels = filters
        return self

    def norm(self) -> _Layers:
        return self.add(nn.BatchNorm2d(self.channels) if self.size else nn.BatchNorm1d(self.channels))

    def relu(self) -> _Layers:
        return self.add(nn.ReLU())

    def pool(self) -> _Layers:
        self.size //= 2
        return self.add(nn.MaxPool2d(2))

    def pool_same(self) -> _Layers:
        self.add(_Same(self.size, 3, 2, lambda pad: nn.MaxPool2d(3, 2, pad), float("-inf")))
        self.size = -(-self.size // 2)
        return self

    def flatten(self) -> _Layers:
        self.channels *= self.size * self.size
        self.size = 0
        return self.add(nn.Flatten())

    def dense(self, units: int) -> _Layers:
        self.add(nn.Linear(self.channels, units))
        self.channels = units
        return self

    def mean(self) -> _Layers:
        self.size = 0
        return self.add(nn.AdaptiveAvgPool2d(1), nn.Flatten())

    def module(self) -> nn.Module:
        return nn.Sequential(*self.list)


def _lenet5(size: int, classes: int) -> nn.Module:
    x = _Layers(size).conv(6, 5, same=False).relu().pool().conv(16, 5, same=False).relu().pool()
    return x.flatten().dense(120).relu().dense(84).relu().dense(classes).add(nn.Softmax(-1)).module()


def _vgg(widths: list[list[int]], hidden: int) -> Callable[[int, int], nn.Module]:
    def make(size: int, classes: int) -> nn.Module:
        x = _Layers(size)
        for stage in widths:
            for filters in stage:
                x.conv(filters, 3).relu()
            x.pool()
        return x.flatten().dense(hidden).relu().dense(hidden).relu().dense(classes).add(nn.Softmax(-1)).module()

    return make


def _mnist_cnn(size: int, classes: int) -> nn.Module:
    x = _Layers(size).conv(32, 3, same=False).relu().pool().conv(64, 3, same=False).relu().pool()
    return x.flatten().add(nn.Dropout(0.5)).dense(classes).add(nn.Softmax(-1)).module()


def _cifar10_cnn(size: int, classes: int) -> nn.Module:
    x = _Layers(size)
    for filters in (32, 64):
        x.conv(filters, 3).relu().conv(filters, 3, same=False).relu().pool().add(nn.Dropout(0.25))
    return x.flatten().dense(512).relu().add(nn.Dropout(0.5)).dense(classes).add(nn.Softmax(-1)).module()


def _flower_cnn(size: int, classes: int) -> nn.Module:
    x = _Layers(size)
    for filters in (16, 32, 64):
        x.conv(filters, 3).relu().pool()
    return x.flatten().dense(128).relu().dense(classes).module()


def _alexnet(size: int, classes: int) -> nn.Module:
    x = _Layers(size).conv(96, 11).norm().relu().pool().conv(256, 5).norm().relu().pool()
    for filters, pooled in ((512, True), (1024, False), (1024, True)):
        x.add(nn.ZeroPad2d(1))
        x.size += 2
        x.conv(filters, 3).norm().relu()
        if pooled:
            x.pool()
    x.flatten()
    for units in (3072, 4096):
        x.dense(units).norm().relu().add(nn.Dropout(0.5))
    return x.dense(classes).norm().add(nn.Softmax(-1)).module()


class _Residual(nn.Module):
    """body(x) + shortcut(x)."""

    def __init__(self, body: nn.Module, shortcut: nn.Module | None) -> None:
        super().__init__()
        self.body, self.shortcut = body, shortcut or nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.shortcut(x) + self.body(x)


def _resnet_small(size: int, classes: int) -> nn.Module:
    x = _Layers(size).conv(64, 7, 2).relu().norm().pool_same()
    for filters, stride in ((64, 2), (64, 1), (128, 2), (128, 1)):
        body = _Layers(x.size, x.channels).conv(filters, 1, stride).norm().relu().conv(filters, 1).norm()
        shortcut = _Layers(x.size, x.channels).conv(filters, 1, stride).norm() if stride != 1 else None
        x.add(_Residual(body.module(), shortcut and shortcut.module())).relu()
        x.size, x.channels = body.size, filters
    return x.mean().dense(classes).add(nn.Softmax(-1)).module()


def _resnet(blocks: list[int], bottleneck: bool) -> Callable[[int, int], nn.Module]:
    def body(x: _Layers, filters: int, stride: int, activated: bool) -> _Layers:
        """The convolutions of a block, each after its normalisation but a first one that follows the pooling."""
        shapes = [(filters, 1), (filters, 3), (4 * filters, 1)] if bottleneck else [(filters, 3), (filters, 3)]
        for i, (channels, kernel) in enumerate(shapes):
            if i > 0 or not activated:
                x.norm().relu()
            x.conv(channels, kernel, stride if i == 0 else 1)
        return x

    def make(size: int, classes: int) -> nn.Module:
        x = _Layers(size).conv(64, 7, 2).norm().relu().pool_same()
        for stage, repetitions in enumerate(blocks):
            for i in range(repetitions):
                stride = 2 if i == 0 and stage > 0 else 1
                inner = body(_Layers(x.size, x.channels), 64 << stage, stride, stage == 0 and i == 0)
                shortcut = None
                if stride > 1 or inner.channels != x.channels:
                    shortcut = nn.Conv2d(x.channels, inner.channels, 1, stride)
                x.add(_Residual(inner.module(), shortcut))
                x.size, x.channels = inner.size, inner.channels
        return x.norm().relu().mean().dense(classes).add(nn.Softmax(-1)).module()

    return make


def _application(name: str) -> Callable[[int, int], nn.Module]:
    """Of keras.applications, by timm's model of the same layers."""
    return lambda size, classes: nn.Sequential(timm.create_model(name, num_classes=classes), nn.Softmax(-1))


_NETWORKS: dict[str, Callable[[int, int], nn.Module]] = {
    "LeNet5": _lenet5,
    "VGGSmall": _vgg([[32, 32], [64, 64], [128, 128]], 1024),
    "VGG11": _vgg([[64], [128], [256] * 2, [512] * 2, [512] * 2], 4096),
    "VGG13": _vgg([[64] * 2, [128] * 2, [256] * 2, [512] * 2, [512] * 2], 4096),
    "VGG16": _vgg([[64] * 2, [128] * 2, [256] * 3, [512] * 3, [512] * 3], 4096),
    "VGG19": _vgg([[64] * 2, [128] * 2, [256] * 4, [512] * 4, [512] * 4], 4096),
    "MNIST_CNN": _mnist_cnn,
    "CIFAR10_CNN": _cifar10_cnn,
    "FLOWER_CNN": _flower_cnn,
    "AlexNet": _alexnet,
    "ResNetSmall": _resnet_small,
    "ResNet18": _resnet([2, 2, 2, 2], False),
    "ResNet34": _resnet([3, 4, 6, 3], False),
    "ResNet50": _resnet([3, 4, 6, 3], True),
    "InceptionResNetV2": _application("inception_resnet_v2"),
    "InceptionV3": _application("inception_v3"),
    "Xception": _application("legacy_xception"),
    "EfficientNetB0": _application("efficientnet_b0"),
    "MobileNetV2": _application("mobilenetv2_100"),
}


def build(name: str, options: Options) -> Network:
    if name not in _NETWORKS:
        raise UnsupportedNetwork(f"profet:{name}: not among {', '.join(_NETWORKS)}")
    size = options.image_size or 224
    if size not in _CLASSES:
        raise UnsupportedNetwork(f"profet:{name}: its data sets have the sizes {', '.join(map(str, _CLASSES))}")
    module = weightless.make(lambda: _NETWORKS[name](size, _CLASSES[size]))
    network = Network(module, {"input": Input(("batch", 3, size, size))}, {"batch": options.batch})
    network.training = True
    network.weightless = True
    return network
