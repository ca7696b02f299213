"""Programs of torch.export (.pt2) without weights: the archive's structure, and every member of weights empty."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import torch

from zoo import exporters
from zoo.network import Network

# Members that say what the program is; all others hold weights or example inputs.
_KEPT = (".json", "archive_format", "archive_version", "byteorder", "version")
_DROPPED = ("sample_inputs/", "serialized_example_inputs")


def export(network: Network, decomposed: bool) -> bytes:
    """As torch.export.save writes it; `decomposed` to the operators of Core ATen."""
    symbols = {s for axes in network.symbols().values() for s in axes.values()}
    dimensions = {s: torch.export.Dim(s) for s in symbols}
    axes = [{axis: dimensions[s] for axis, s in a.items()} for a in network.symbols().values()]
    try:
        program = _program(network, axes)
    except Exception:  # named dimensions that turn out to be fixed or tied are errors, automatic ones are not
        program = _program(network, [{axis: torch.export.Dim.AUTO for axis in a} for a in axes])
    if decomposed:
        program = program.run_decompositions()
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    return strip(buffer.getvalue())


def _program(network: Network, axes: list[dict[int, Any]]) -> torch.export.ExportedProgram:
    shapes: tuple[Any, ...] = tuple(axes)
    if exporters.takes_any_number(network.module):
        shapes = (shapes,)  # all of them belong to the one parameter *tensors
    return torch.export.export(network.module, network.example(), dynamic_shapes=shapes)


def strip(data: bytes) -> bytes:
    """The same archive with empty weights, compressed, without example inputs, stack traces and local paths."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for info in source.infolist():
            if any(part in info.filename for part in _DROPPED):
                continue
            kept = info.filename.endswith(_KEPT)
            content = _without_traces(info.filename, source.read(info)) if kept else b""
            target.writestr(zipfile.ZipInfo(info.filename), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _without_traces(name: str, content: bytes) -> bytes:
    if not name.endswith(".json"):
        return content
    value = json.loads(content)
    _drop(value)
    return json.dumps(value, separators=(",", ":")).encode()


def _drop(value: Any) -> None:
    if isinstance(value, dict):
        for key in ("stack_trace", "torch_fn", "source_fn_stack"):
            value.pop(key, None)
        for inner in value.values():
            _drop(inner)
    elif isinstance(value, list):
        for inner in value:
            _drop(inner)
