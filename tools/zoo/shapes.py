"""Every value's shape by ONNX's own shape inference, at bound sizes, as an independent answer to compare with."""

from __future__ import annotations

import onnx


def bind(model: onnx.ModelProto, sizes: dict[str, int]) -> onnx.ModelProto:
    """A copy whose inputs have numbers for the symbols, and no shapes from the exporter."""
    bound = onnx.ModelProto()
    bound.CopyFrom(model)
    for value in bound.graph.input:
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param in sizes:
                dimension.dim_value = sizes[dimension.dim_param]
    bound.graph.ClearField("value_info")
    for value in bound.graph.output:
        value.type.tensor_type.ClearField("shape")
    return bound


def infer(model: onnx.ModelProto, sizes: dict[str, int]) -> dict[str, list[int | str | None]]:
    """Value name -> dimensions; None for a dimension that could not be inferred."""
    inferred = onnx.shape_inference.infer_shapes(bind(model, sizes), data_prop=True)
    found: dict[str, list[int | str | None]] = {}
    for value in [*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output]:
        if value.type.tensor_type.HasField("shape"):
            found[value.name] = [_dimension(d) for d in value.type.tensor_type.shape.dim]
    return found


def _dimension(d: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if d.HasField("dim_value"):
        return d.dim_value
    return d.dim_param or None
