"""Takes the weights out of an ONNX file and keeps everything that shapes depend on."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from onnx import TensorProto

FLOAT_LIMIT = 1024  # bytes of floating-point data a tensor may keep (resize scales, clip bounds, epsilon ...)
INTEGER_LIMIT = 64 * 1024  # bytes of integer data a tensor may keep (shapes, axes, indices)

_BITS: dict[int, int] = {
    TensorProto.FLOAT: 32,
    TensorProto.DOUBLE: 64,
    TensorProto.FLOAT16: 16,
    TensorProto.BFLOAT16: 16,
    TensorProto.INT64: 64,
    TensorProto.INT32: 32,
    TensorProto.INT16: 16,
    TensorProto.INT8: 8,
    TensorProto.UINT64: 64,
    TensorProto.UINT32: 32,
    TensorProto.UINT16: 16,
    TensorProto.UINT8: 8,
    TensorProto.BOOL: 8,
    TensorProto.COMPLEX64: 64,
    TensorProto.COMPLEX128: 128,
    TensorProto.INT4: 4,
    TensorProto.UINT4: 4,
}
_FLOATS = {
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.FLOAT16,
    TensorProto.BFLOAT16,
    TensorProto.COMPLEX64,
    TensorProto.COMPLEX128,
}
_DATA_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")


def tensor_bytes(tensor: TensorProto) -> int:
    """Size of the tensor's data by its dimensions; 0 for types without a fixed size."""
    count = 1
    for d in tensor.dims:
        count *= d
    return count * _BITS.get(tensor.data_type, 8) // 8


def is_weight(tensor: TensorProto) -> bool:
    """Whether the tensor is so large that it loses its data."""
    return tensor_bytes(tensor) > (FLOAT_LIMIT if tensor.data_type in _FLOATS else INTEGER_LIMIT)


def strip(model: onnx.ModelProto) -> int:
    """Strips in place. Returns the bytes of weights that were dropped.

    A dropped tensor keeps name, dims and data_type and has no data of any kind.
    """
    dropped = 0
    for tensor in tensors(model):
        if is_weight(tensor):
            dropped += tensor_bytes(tensor)
            _drop_data(tensor)
        tensor.ClearField("doc_string")
        _clear_metadata(tensor)
    _strip_texts(model)
    return dropped


def _drop_data(tensor: TensorProto) -> None:
    for name in ("raw_data", "external_data", "data_location", *_DATA_FIELDS):
        tensor.ClearField(name)


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from _graphs(inner)


def _nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    for graph in _graphs(model.graph):
        yield from graph.node
    for function in model.functions:
        yield from function.node


def tensors(model: onnx.ModelProto) -> Iterator[TensorProto]:
    for graph in _graphs(model.graph):
        yield from graph.initializer
    for node in _nodes(model):
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors


def _clear_metadata(message: object) -> None:
    if hasattr(message, "metadata_props"):
        message.ClearField("metadata_props")  # type: ignore[attr-defined]


def _strip_texts(model: onnx.ModelProto) -> None:
    """Drops doc strings and metadata (the dynamo exporter writes a stack trace with local paths for each node)."""
    model.ClearField("doc_string")
    _clear_metadata(model)
    for graph in _graphs(model.graph):
        graph.ClearField("doc_string")
        _clear_metadata(graph)
        for value in [*graph.input, *graph.output, *graph.value_info]:
            value.ClearField("doc_string")
            _clear_metadata(value)
    for node in _nodes(model):
        node.ClearField("doc_string")
        _clear_metadata(node)
        for attribute in node.attribute:
            attribute.ClearField("doc_string")
    for function in model.functions:
        function.ClearField("doc_string")
        _clear_metadata(function)
