"""Every value's shape at bound sizes by ONNX's own tools, as an independent answer to compare with."""

from __future__ import annotations

import warnings

import onnx
import onnx_ir
from onnxscript import optimizer

Shapes = dict[str, list[int | str | None]]

# Operators that the folding leaves alone by default because their results can be large; here they compute shapes.
_SHAPE_MAKERS = {"ConstantOfShape", "Expand", "Range", "Where"}
_FOLD_LIMIT = 65536  # elements


def infer(model: onnx.ModelProto, sizes: dict[str, int]) -> Shapes:
    """Value name -> dimensions; a dimension that could not be inferred is None or a name.

    ONNX's shape inference follows the values of small integer tensors only through a few operators, and most
    transformers compute their shapes with others. Folding constants first, all sizes being numbers, evaluates those.
    """
    bound = bind(model, sizes)
    found = _infer_bound(bound)
    if any(not isinstance(d, int) for shape in found.values() for d in shape):
        folded = _fold(bound)
        constants: Shapes = {t.name: list(t.dims) for t in folded.graph.initializer if t.name in found}
        found |= constants | _infer_bound(folded)
    return found


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


def _infer_bound(model: onnx.ModelProto) -> Shapes:
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    found: Shapes = {}
    for value in [*inferred.graph.input, *inferred.graph.value_info, *inferred.graph.output]:
        if value.type.tensor_type.HasField("shape"):
            found[value.name] = [_dimension(d) for d in value.type.tensor_type.shape.dim]
    return found


def _fold(model: onnx.ModelProto) -> onnx.ModelProto:
    empty = {t.name for t in model.graph.initializer if _is_stripped(t)}

    def should_fold(node: onnx_ir.Node) -> bool | None:
        if any(value is not None and value.name in empty for value in node.inputs):
            return False
        return True if node.op_type in _SHAPE_MAKERS else None

    folded = onnx_ir.from_proto(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimizer.fold_constants(
            folded,
            onnx_shape_inference=True,
            should_fold=should_fold,
            input_size_limit=_FOLD_LIMIT,
            output_size_limit=_FOLD_LIMIT,
        )
    result = onnx_ir.to_proto(folded)
    result.graph.ClearField("value_info")
    return result


def _is_stripped(tensor: onnx.TensorProto) -> bool:
    data = ("raw_data", "float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
    return all(tensor.dims) and not any(getattr(tensor, field) for field in data)


def _dimension(d: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if d.HasField("dim_value"):
        return d.dim_value
    return d.dim_param or None
