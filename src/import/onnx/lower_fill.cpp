// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

double first_value(const TensorView& tensor) {
  if (!tensor.contents) return 0.0;
  if (!tensor.contents->reals.empty()) return tensor.contents->reals[0];
  return tensor.contents->ints.empty() ? 0.0 : static_cast<double>(tensor.contents->ints[0]);
}

Result<TensorView> numbers_tensor(const NodeContext& node) {
  JC_ASSIGN_OR_RETURN(auto reals, node.numbers("value_floats"));
  TensorView out;
  out.type = {ElementType::kFloat32, Shape{static_cast<std::int64_t>(reals->size())}};
  if (reals->size() <= kMaxKnownReals) out.contents = Contents{{}, std::move(*reals)};
  return out;
}

Result<TensorView> integers_tensor(const NodeContext& node) {
  JC_ASSIGN_OR_RETURN(auto ints, node.integers("value_ints"));
  TensorView out;
  out.type = {ElementType::kInt64, Shape{static_cast<std::int64_t>(ints->size())}};
  if (ints->size() <= kMaxKnownElements) out.contents = Contents{std::move(*ints), {}};
  return out;
}

// The forms of operator set 12; before there was `value` alone.
Result<TensorView> constant_value(const NodeContext& node) {
  TensorView out;
  if (node.has_attribute("value_float")) {
    JC_ASSIGN_OR_RETURN(const double value, node.number("value_float", 0.0));
    return TensorView{{}, {ElementType::kFloat32, {}}, Contents{{}, {value}}};
  }
  if (node.has_attribute("value_int")) {
    JC_ASSIGN_OR_RETURN(const std::int64_t value, node.integer("value_int"));
    return TensorView{{}, {ElementType::kInt64, {}}, Contents{{value}, {}}};
  }
  if (node.has_attribute("value_floats")) return numbers_tensor(node);
  if (node.has_attribute("value_ints")) return integers_tensor(node);
  if (node.has_attribute("value_string") || node.has_attribute("value_strings")) {
    return TensorView{{}, {ElementType::kString, Shape{1}}, std::nullopt};
  }
  JC_ASSIGN_OR_RETURN(const TensorView* tensor, node.tensor("value"));
  if (tensor == nullptr) return node.wrong_attribute("value", "is missing");
  return *tensor;
}

}  // namespace

// Some exporters (of TensorFlow and Paddle) write weights as Constant nodes too.
Result<void> lower_constant(NodeContext& node) {
  if (node.has_attribute("sparse_value")) return node.opaque();
  JC_ASSIGN_OR_RETURN(TensorView tensor, constant_value(node));
  if (tensor.type.element == ElementType::kUnknown)
    return unsupported("attribute 'value': element type we do not know");
  const bool weight = is_floating(tensor.type.element) && !tensor.type.shape.empty() &&
                      tensor.type.elements() > static_cast<std::int64_t>(kMaxKnownReals);
  return node.constant_output(tensor.type, std::move(tensor.contents),
                              weight ? ValueKind::kParameter : ValueKind::kConstant);
}

Result<void> lower_constant_of_shape(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const TensorView* value, node.tensor("value"));
  Fill op;
  if (value != nullptr) {
    if (value->type.elements() != 1) return node.wrong_attribute("value", "is not one element");
    if (value->type.element == ElementType::kUnknown)
      return node.wrong_attribute("value", "has an unknown element type");
    op = Fill{value->type.element, first_value(*value)};
  }
  return node.emit(op, {node.input(0)});
}

// RandomNormal, RandomUniform: the shape is an attribute.
Result<void> lower_random(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const auto shape, node.integers("shape"));
  if (!shape) return node.wrong_attribute("shape", "is missing");
  JC_ASSIGN_OR_RETURN(const ElementType element, node.element("dtype", ElementType::kFloat32));
  return node.emit(Fill{element, 0.0}, {node.int_vector(*shape)});
}

// RandomNormalLike, RandomUniformLike, Bernoulli, EyeLike: shape of the input, its element type unless told.
Result<void> lower_random_like(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const ElementType element, node.element("dtype", node.guess(0).element));
  if (element == ElementType::kUnknown) return node.opaque();
  const ValueId shape = node.step(ShapeOf{}, {node.input(0)}, "shape");
  return node.emit(Fill{element, 0.0}, {shape});
}

Result<void> lower_range(NodeContext& node) {
  return node.emit(Range{}, {node.input(0), node.input(1), node.input(2)});
}

}  // namespace joulecast::onnx
