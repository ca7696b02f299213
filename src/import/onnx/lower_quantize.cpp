// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/lowerings.h"

namespace joulecast::onnx {

// The zero point tells the type; since operator set 21 an attribute may.
Result<void> lower_quantize(NodeContext& node) {
  const ElementType zero_point = node.guess(2).element;
  const ElementType absent = zero_point == ElementType::kUnknown ? ElementType::kUInt8 : zero_point;
  JC_ASSIGN_OR_RETURN(const std::int64_t given, node.integer("output_dtype", 0));
  ElementType to = absent;
  if (given != 0) {
    JC_ASSIGN_OR_RETURN(to, node.element("output_dtype", absent));
  }
  return node.emit(Quantize{to}, {node.input(0), node.input(1), node.input(2)});
}

Result<void> lower_dequantize(NodeContext& node) {
  const ElementType scale = node.guess(1).element;
  const ElementType absent = is_floating(scale) ? scale : ElementType::kFloat32;
  JC_ASSIGN_OR_RETURN(const std::int64_t given, node.integer("output_dtype", 0));
  ElementType to = absent;
  if (given != 0) {
    JC_ASSIGN_OR_RETURN(to, node.element("output_dtype", absent));
  }
  return node.emit(Dequantize{to}, {node.input(0), node.input(1), node.input(2)});
}

// Scale from the extremes of x, then as QuantizeLinear.
Result<void> lower_dynamic_quantize(NodeContext& node) {
  const ValueId x = node.input(0);
  const ValueId high = node.step(Reduce{ReduceKind::kMax, {}, false, false}, {x}, "max");
  const ValueId low = node.step(Reduce{ReduceKind::kMin, {}, false, false}, {x}, "min");
  const ValueId scale = node.step(Binary{BinaryKind::kSub}, {high, low}, "scale");
  const ValueId zero_point = node.step(Cast{ElementType::kUInt8}, {low}, "zero_point");
  JC_RETURN_IF_ERROR(node.alias(1, scale));
  JC_RETURN_IF_ERROR(node.alias(2, zero_point));
  return node.emit_output(0, Quantize{ElementType::kUInt8}, {x, scale, zero_point});
}

}  // namespace joulecast::onnx
