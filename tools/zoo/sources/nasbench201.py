# SPDX-License-Identifier: Apache-2.0
"""nasbench201:NAME, networks of NAS-Bench-201 (D-X-Y/NAS-Bench-201) for images of 32 pixels and ten classes.

NAME has a letter for each of the cell's six edges, those into the first node first and there by where they come from: `n` for
none (values times 0), `s` for skip, `1` or `3` for a ReLU, a convolution of so many pixels and its norm, `a` for an average
over 3 x 3: a.1s.1ss. Three stacks of five cells of 16, 32 and 64 channels, a residual block with a stride between, after the
definition of the benchmark.
"""

from __future__ import annotations

import re

import torch

from zoo import weightless
from zoo.network import Input, Network, Options, UnsupportedNetwork

_NAME = re.compile(r"[ns13a]\.[ns13a]{2}\.[ns13a]{3}")
CHANNELS, CELLS, CLASSES = (16, 32, 64), 5, 10


class _Zero(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mul(0.0)


def _conv(into: int, out: int, pixels: int, stride: int = 1) -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.ReLU(inplace=False),
        torch.nn.Conv2d(into, out, pixels, stride=stride, padding=pixels // 2, bias=False),
        torch.nn.BatchNorm2d(out),
    )


def _edge(letter: str, channels: int) -> torch.nn.Module:
    if letter == "n":
        return _Zero()
    if letter == "s":
        return torch.nn.Identity()
    if letter == "a":
        return torch.nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)
    return _conv(channels, channels, int(letter))


class _Cell(torch.nn.Module):
    """Sums begin with 0 as Python's do, which adds a kernel. It is a tensor here, for of a number exporters leave no trace."""

    def __init__(self, nodes: list[str], channels: int) -> None:
        super().__init__()
        self.register_buffer("start", torch.zeros(()))
        self.nodes = torch.nn.ModuleList(torch.nn.ModuleList(_edge(letter, channels) for letter in node) for node in nodes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = [x]
        for node in self.nodes:
            values.append(sum((edge(values[source]) for source, edge in enumerate(node)), start=self.start))
        return values[-1]


class _Halving(torch.nn.Module):
    def __init__(self, into: int, out: int) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(_conv(into, out, 3, 2), _conv(out, out, 3))
        self.shortcut = torch.nn.Sequential(torch.nn.AvgPool2d(2, 2), torch.nn.Conv2d(into, out, 1, bias=False))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.shortcut(x) + self.body(x)


def _network(nodes: list[str]) -> torch.nn.Module:
    parts: list[torch.nn.Module] = [torch.nn.Conv2d(3, CHANNELS[0], 3, padding=1, bias=False), torch.nn.BatchNorm2d(CHANNELS[0])]
    for stack, channels in enumerate(CHANNELS):
        if stack > 0:
            parts.append(_Halving(CHANNELS[stack - 1], channels))
        parts += [_Cell(nodes, channels) for _ in range(CELLS)]
    parts += [torch.nn.BatchNorm2d(CHANNELS[-1]), torch.nn.ReLU(inplace=True), torch.nn.AdaptiveAvgPool2d(1)]
    parts += [torch.nn.Flatten(), torch.nn.Linear(CHANNELS[-1], CLASSES)]
    return torch.nn.Sequential(*parts)


def build(name: str, options: Options) -> Network:
    if not _NAME.fullmatch(name):
        raise UnsupportedNetwork(f"nasbench201:{name}: expected a letter of n, s, 1, 3, a for each edge, as a.1s.1ss")
    network = Network(
        weightless.make(lambda: _network(name.split("."))),
        {"input": Input(("batch", 3, 32, 32))},
        {"batch": options.batch},
        ["output"],
    )
    network.weightless = True
    return network
