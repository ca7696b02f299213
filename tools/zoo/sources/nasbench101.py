# SPDX-License-Identifier: Apache-2.0
"""nasbench101:NAME, networks of NAS-Bench-101 (google-research/nasbench) for images of 32 pixels, as EC-NAS-Bench trained them.

NAME is EDGES_OPS: for each vertex of the cell the vertices it leads to as 0 and 1, with '.' between, the input first and the
output last, and for each vertex between them `3` or `1`, a convolution of so many pixels with its norm and ReLU, or `p`, a
maximum over 3 x 3: 0110.0001.0001.0000_pp. Three stacks of three cells of 128, 256 and 512 channels, halved in
between, after the definition of the benchmark; parameters come out as its tables have them (1,908 of 1,908).
"""

from __future__ import annotations

import re

import torch

from zoo import weightless
from zoo.network import Input, Network, Options, UnsupportedNetwork

_NAME = re.compile(r"([01]+(?:\.[01]+)*)_([31p]*)")
STEM, STACKS, CELLS, CLASSES = 128, 3, 3, 10

Edges = list[list[int]]


def channels(into: int, out: int, edges: Edges) -> list[int]:
    """Of each vertex: those that lead to the output share its channels, others have as many as the widest they lead to."""
    last = len(edges) - 1
    found = [into] + [0] * (last - 1) + [out]
    ends = [v for v in range(1, last) if edges[v][last]]
    for place, v in enumerate(ends):
        found[v] = out // len(ends) + (1 if place < out % len(ends) else 0)
    for v in range(last - 2, 0, -1):
        if not edges[v][last]:
            found[v] = max((found[to] for to in range(v + 1, last) if edges[v][to]), default=0)
    return found


class _Conv(torch.nn.Sequential):
    def __init__(self, into: int, out: int, pixels: int) -> None:
        super().__init__(
            torch.nn.Conv2d(into, out, pixels, padding=pixels // 2, bias=False),
            torch.nn.BatchNorm2d(out),
            torch.nn.ReLU(inplace=True),
        )


class _Cell(torch.nn.Module):
    def __init__(self, into: int, out: int, edges: Edges, ops: str) -> None:
        super().__init__()
        self.edges, self.last = edges, len(edges) - 1
        self.width = channels(into, out, edges)
        self.ops, self.projections = torch.nn.ModuleDict(), torch.nn.ModuleDict()
        for v in range(1, self.last):
            op = ops[v - 1]
            width = self.width[v]
            self.ops[str(v)] = torch.nn.MaxPool2d(3, 1, 1) if op == "p" else _Conv(width, width, int(op))
            if edges[0][v]:
                self.projections[str(v)] = _Conv(into, width, 1)
        self.ends = [v for v in range(1, self.last) if edges[v][self.last]]
        if edges[0][self.last] or not self.ends:
            self.projections[str(self.last)] = _Conv(into, out, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values = {0: x}
        for v in range(1, self.last):
            parts = [values[s][:, : self.width[v]] for s in range(1, v) if self.edges[s][v]]
            if self.edges[0][v]:
                parts.append(self.projections[str(v)](x))
            values[v] = self.ops[str(v)](sum(parts[1:], start=parts[0]))
        if not self.ends:
            return self.projections[str(self.last)](x)
        out = values[self.ends[0]] if len(self.ends) == 1 else torch.cat([values[v] for v in self.ends], dim=1)
        return out + self.projections[str(self.last)](x) if self.edges[0][self.last] else out


def _network(edges: Edges, ops: str) -> torch.nn.Module:
    parts: list[torch.nn.Module] = [_Conv(3, STEM, 3)]
    into, out = STEM, STEM
    for stack in range(STACKS):
        if stack > 0:
            parts.append(torch.nn.MaxPool2d(2, 2))
            out *= 2
        for _ in range(CELLS):
            parts.append(_Cell(into, out, edges, ops))
            into = out
    parts += [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(into, CLASSES)]
    return torch.nn.Sequential(*parts)


def _cell_of(name: str) -> tuple[Edges, str]:
    found = _NAME.fullmatch(name)
    edges = [[int(edge) for edge in row] for row in found[1].split(".")] if found else []
    square = len(edges) > 1 and all(len(row) == len(edges) for row in edges)
    forward = all(to > source for source, row in enumerate(edges) for to, edge in enumerate(row) if edge)
    if not found or not square or not forward or len(found[2]) != len(edges) - 2:
        raise UnsupportedNetwork(f"nasbench101:{name}: expected EDGES_OPS, as 0110.0001.0001.0000_3p")
    return edges, found[2]


def build(name: str, options: Options) -> Network:
    edges, ops = _cell_of(name)
    network = Network(
        weightless.make(lambda: _network(edges, ops)),
        {"input": Input(("batch", 3, 32, 32))},
        {"batch": options.batch},
        ["output"],
    )
    network.weightless = True
    return network
