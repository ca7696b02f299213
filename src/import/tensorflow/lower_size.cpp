// SPDX-License-Identifier: Apache-2.0
// What is computed of shapes, and tensors made from nothing.
#include <fmt/format.h>

#include <algorithm>

#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

Result<void> emit_shape(NodeContext& node, std::size_t i) {
  const Tensor& x = node.input(i);
  const auto extents = node.extents(i);
  if (extents && std::count(extents->begin(), extents->end(), -1) == 0) {
    return node.output(i, node.int_tensor(IntList(extents->begin(), extents->end())));
  }
  ValueId shape = node.step(ShapeOf{}, {node.value(i, x.layout)}, "shape");
  if (!x.layout.plain() && extents) {
    IntList order;
    for (std::size_t axis = 0; axis < extents->size(); ++axis) {
      order.push_back(static_cast<std::int64_t>(x.layout.in_value(axis)));
    }
    shape = node.step(Gather{}, {shape, node.int_vector(std::move(order))}, "shape");
  }
  return node.output(i, Tensor::value(shape));
}

}  // namespace

Result<void> lower_shape(NodeContext& node) {
  return emit_shape(node, 0);
}

Result<void> lower_shape_n(NodeContext& node) {
  for (std::size_t i = 0; i < node.input_count(); ++i) JC_RETURN_IF_ERROR(emit_shape(node, i));
  return {};
}

Result<void> lower_size(NodeContext& node) {
  const Layout layout = node.input(0).layout;
  return node.emit(ShapeOf{0, std::nullopt, true}, {node.value(0, layout)});
}

Result<void> lower_rank(NodeContext& node) {
  const auto rank = node.rank(0);
  if (!rank) return node.opaque();
  return node.output(0, Tensor::value(node.int_scalar(static_cast<std::int64_t>(*rank))));
}

Result<void> lower_range(NodeContext& node) {
  return node.emit(Range{}, {node.value(0), node.value(1), node.value(2)});
}

// dims, value.
Result<void> lower_fill(NodeContext& node) {
  const ElementType element = node.element(1);
  const auto integer = node.integer(1);
  const double value = integer ? static_cast<double>(*integer) : node.real(1).value_or(0.0);
  return node.emit(Fill{element == ElementType::kUnknown ? ElementType::kFloat32 : element, value}, {node.value(0)});
}

// ZerosLike, OnesLike.
Result<void> lower_fill_like(NodeContext& node) {
  const Layout layout = node.input(0).layout;
  const ElementType element = node.element(0);
  if (element == ElementType::kUnknown) return node.opaque();
  const ValueId shape = node.step(ShapeOf{}, {node.value(0, layout)}, "shape");
  return node.emit(Fill{element, node.node().op == "OnesLike" ? 1.0 : 0.0}, {shape}, layout);
}

Result<void> lower_random(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t data_type, node.data_type("dtype", 1));
  const ElementType element = element_type(data_type);
  if (element == ElementType::kUnknown) return node.opaque();
  return node.emit(Fill{element, 0.0}, {node.value(0)});
}

// The shape that two shapes broadcast to, where both are known.
Result<void> lower_broadcast_args(NodeContext& node) {
  const auto a = node.integers(0);
  const auto b = node.integers(1);
  if (!a || !b) return node.opaque();
  const IntList& longer = a->size() >= b->size() ? *a : *b;
  const IntList& shorter = a->size() >= b->size() ? *b : *a;
  IntList out = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) out[offset + i] = std::max(out[offset + i], shorter[i]);
  return node.output(0, node.int_tensor(std::move(out)));
}

}  // namespace joulecast::tensorflow
