"""Counts the flops of exported files from their own shapes and compares them with torch's count of the network.

It tells whether a stripped file still says everything that shapes depend on, and whether its symbolic batch is one:
a network whose export has the example's batch inside gives wrong numbers at batch 8.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx

from zoo import shapes
from zoo.shapes import Shapes


@dataclass(frozen=True)
class Comparison:
    file: str
    batch: int
    torch_flops: int
    onnx_flops: int
    unknown: int  # counted operators whose shapes could not be inferred

    def agrees(self) -> bool:
        return self.unknown == 0 and abs(self.onnx_flops - self.torch_flops) <= 0.001 * self.torch_flops


def compare(path: Path) -> Iterator[Comparison]:
    """One comparison for each batch of the file's reference."""
    reference = json.loads(reference_path(path).read_text())
    model = onnx.load(path)
    for batch, counted in sorted((reference.get("torch_flops") or {}).items()):
        sizes = {**reference["sizes"], "batch": int(batch)}
        flops, unknown = count(model, sizes)
        yield Comparison(str(path), int(batch), sum(counted.values()), flops, unknown)


def reference_path(path: Path) -> Path:
    """Beside the file, or in the folder reference/ beside it (as in examples/)."""
    name = path.stem + ".ref.json"
    beside = path.with_name(name)
    return beside if beside.exists() else path.parent / "reference" / name


def count(model: onnx.ModelProto, sizes: dict[str, int]) -> tuple[int, int]:
    """Flops of convolutions, matrix products and recurrent layers, a multiply-add being 2."""
    found: Shapes = {t.name: list(t.dims) for t in model.graph.initializer}
    found |= shapes.infer(model, sizes)
    total = unknown = 0
    for node in model.graph.node:
        if node.op_type in _COUNTERS:
            try:
                total += _COUNTERS[node.op_type](node, found)
            except (KeyError, TypeError):  # a shape, or one of its dimensions, is not known
                unknown += 1
    return total, unknown


def _size(dimensions: list[int | str | None]) -> int:
    return math.prod(int(d) if isinstance(d, int) else _fail() for d in dimensions)


def _fail() -> int:
    raise TypeError("unknown dimension")


def _attribute(node: onnx.NodeProto, name: str, default: int) -> int:
    return next((a.i for a in node.attribute if a.name == name), default)


def _convolution(node: onnx.NodeProto, found: Shapes) -> int:
    return 2 * _size(found[node.output[0]]) * _size(found[node.input[1]][1:])


def _transposed_convolution(node: onnx.NodeProto, found: Shapes) -> int:
    return 2 * _size(found[node.input[0]]) * _size(found[node.input[1]][1:])


def _product(node: onnx.NodeProto, found: Shapes) -> int:
    return 2 * _size(found[node.output[0]]) * _size(found[node.input[0]][-1:])


def _general_product(node: onnx.NodeProto, found: Shapes) -> int:
    left = found[node.input[0]]
    inner = left[0] if _attribute(node, "transA", 0) else left[1]
    return 2 * _size(found[node.output[0]]) * _size([inner])


def _einsum(node: onnx.NodeProto, found: Shapes) -> int:
    """Of two operands: every index once."""
    equation = next(a.s.decode() for a in node.attribute if a.name == "equation").replace(" ", "")
    terms = equation.split("->")[0].split(",")
    if len(terms) != 2 or "." in equation:
        return _fail()
    extents: dict[str, int | str | None] = {}
    for term, name in zip(terms, node.input, strict=True):
        extents |= zip(term, found[name], strict=True)
    return 2 * _size(list(extents.values()))


def _recurrent(node: onnx.NodeProto, found: Shapes) -> int:
    steps, batch, features = found[node.input[0]]
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[node.op_type]
    hidden = _attribute(node, "hidden_size", 0)
    bidirectional = any(a.name == "direction" and a.s == b"bidirectional" for a in node.attribute)
    weights = gates * hidden * (_size([features]) + hidden)
    return 2 * _size([steps, batch]) * weights * (2 if bidirectional else 1)


_COUNTERS = {
    "Conv": _convolution,
    "ConvTranspose": _transposed_convolution,
    "MatMul": _product,
    "Gemm": _general_product,
    "Einsum": _einsum,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "RNN": _recurrent,
}
