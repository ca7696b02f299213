// SPDX-License-Identifier: Apache-2.0
// Gathering, sorting, reducing.
#include <fmt/format.h>

#include <algorithm>

#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

bool is_table(const Tensor& tensor) {
  return tensor.is_source() && tensor.source->kind == ValueKind::kParameter && tensor.view.size() == 2 &&
         is_floating(tensor.source->type.element);
}

}  // namespace

// x, indices, axis (Gather: 0). Rows of a table of weights are an embedding.
Result<void> lower_gather(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t batch_axes, node.attribute("batch_dims", std::int64_t{0}));
  const auto axis = node.input_count() > 2 ? node.integer(2) : std::optional<std::int64_t>(0);
  if (!axis || batch_axes != 0) return node.opaque();
  if (is_table(node.input(0)) && (*axis == 0 || *axis == -2)) {
    return node.emit(Embedding{}, {node.value(0), node.value(1)});
  }
  return node.emit(Gather{GatherKind::kSlices, *axis, 0}, {node.value(0), node.value(1)});
}

Result<void> lower_gather_nd(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t batch_axes, node.attribute("batch_dims", std::int64_t{0}));
  return node.emit(Gather{GatherKind::kNd, 0, batch_axes}, {node.value(0), node.value(1)});
}

// A variable and indices.
Result<void> lower_resource_gather(NodeContext& node) {
  Tensor table = node.input(0);
  if (table.kind == Tensor::Kind::kHandle) table.kind = Tensor::Kind::kSource;
  if (!table.is_source()) return node.opaque();
  const ValueId id = node.canvas().plain(table);
  if (is_table(table)) return node.emit(Embedding{}, {id, node.value(1)});
  return node.emit(Gather{}, {id, node.value(1)});
}

// indices, depth, on, off.
Result<void> lower_one_hot(NodeContext& node) {
  OneHot op;
  JC_ASSIGN_OR_RETURN(op.axis, node.attribute("axis", std::int64_t{-1}));
  if (const ElementType element = node.element(2); element != ElementType::kUnknown) op.element = element;
  op.depth = node.integer(1);
  return node.emit(op, {node.value(0), op.depth ? kNoValue : node.value(1)});
}

// x, k; along the last axis.
Result<void> lower_top_k(NodeContext& node) {
  TopK op;
  op.k = node.integer(1);
  return node.emit(op, {node.value(0), op.k ? kNoValue : node.value(1)}, {}, 2);
}

Result<void> lower_cumulate(NodeContext& node) {
  const auto axis = axis_of(node.integer(1).value_or(0), node.rank(0));
  const Layout layout = axis ? node.input(0).layout : Layout{};
  const std::size_t held = axis ? layout.in_value(*axis) : 0;
  return node.emit(Cumulate{static_cast<std::int64_t>(held)}, {node.value(0, layout)}, layout);
}

namespace {

Result<void> emit_reduce(NodeContext& node, Reduce op, const std::vector<std::size_t>& axes) {
  Layout layout = node.input(0).layout;
  // Counted from the end, the last axes are known for that where the rank is not.
  const auto from_end = layout.plain() ? static_cast<std::int64_t>(node.rank(0).value_or(0)) : 0;
  for (const std::size_t axis : axes) op.axes.push_back(static_cast<std::int64_t>(layout.in_value(axis)) - from_end);
  std::sort(op.axes.begin(), op.axes.end());
  const ValueId x = node.value(0, layout);
  if (!op.keep_axes) {
    for (std::size_t i = axes.size(); i-- > 0;) layout = layout.without(axes[i]);
  }
  return node.emit(std::move(op), {x}, layout);
}

}  // namespace

// x, axes: no axes reduce nothing.
Result<void> lower_reduce_of(NodeContext& node, ReduceKind kind) {
  Reduce op;
  op.kind = kind;
  JC_ASSIGN_OR_RETURN(op.keep_axes, node.flag("keep_dims", false));
  const auto listed = node.integers(1);
  const auto rank = node.rank(0);
  op.noop_with_empty_axes = true;
  if (!listed) return node.emit(op, {node.value(0), node.value(1)});
  if (listed->empty()) return node.output(0, node.input(0));
  std::vector<std::size_t> axes;
  for (const std::int64_t one : *listed) {
    const auto axis = axis_of(one, rank);
    if (rank && !axis) return invalid(fmt::format("axis {} is outside the tensor", one));
    if (axis) axes.push_back(*axis);
  }
  op.noop_with_empty_axes = false;
  if (!rank) {
    op.axes = *listed;
    return node.emit(std::move(op), {node.value(0)});
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return emit_reduce(node, std::move(op), axes);
}

// x, axis.
Result<void> lower_arg_of(NodeContext& node, ReduceKind kind) {
  const auto axis = axis_of(node.integer(1).value_or(0), node.rank(0));
  if (!axis) return node.opaque();
  Reduce op;
  op.kind = kind;
  op.keep_axes = false;
  return emit_reduce(node, std::move(op), {*axis});
}

// MatrixBandPart: of a causal mask the triangle; a band costs the same.
Result<void> lower_triangle(NodeContext& node) {
  return node.emit(Triangle{}, {node.value(0)});
}

}  // namespace joulecast::tensorflow
