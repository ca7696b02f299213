// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {

// Outputs after the first are running statistics (and, before operator set 14, saved ones): of the shape of the mean
// and variance, and nothing to compute in inference.
Result<void> lower_batch_norm(NodeContext& node) {
  JC_RETURN_IF_ERROR(node.number("epsilon", 1e-5));
  for (std::size_t i = 1; i < node.output_count(); ++i) {
    JC_RETURN_IF_ERROR(node.alias(i, node.input(i % 2 == 1 ? 3 : 4)));
  }
  return node.emit(BatchNorm{}, {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)});
}

namespace {

// How many trailing axes an axis counted from the front or the back stands for: the scale spans them.
std::optional<std::int64_t> trailing_axes(const NodeContext& node, std::int64_t axis) {
  if (axis < 0) return -axis;
  if (const auto rank = node.guess(0).rank) return static_cast<std::int64_t>(*rank) - axis;
  if (const TensorType* scale = node.type(1)) return static_cast<std::int64_t>(scale->shape.size());
  return std::nullopt;
}

Result<std::optional<std::int64_t>> read_axes(const NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis", -1));
  if (axis < -static_cast<std::int64_t>(kMaxRank) || axis >= static_cast<std::int64_t>(kMaxRank)) {
    return node.wrong_attribute("axis", fmt::format("{} is outside any tensor", axis));
  }
  const auto axes = trailing_axes(node, axis);
  if (axes && *axes < 1) return node.wrong_attribute("axis", fmt::format("{} is outside the input", axis));
  return axes;
}

}  // namespace

// Mean and inverse deviation, where somebody reads them, have no counterpart.
Result<void> lower_layer_norm(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const auto axes, read_axes(node));
  if (!axes || node.any_used_after(0)) return node.opaque();
  return node.emit(LayerNorm{*axes, false}, {node.input(0), node.input(1), node.input(2)});
}

Result<void> lower_rms_norm(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const auto axes, read_axes(node));
  if (!axes || node.any_used_after(0)) return node.opaque();
  return node.emit(RmsNorm{*axes}, {node.input(0), node.input(1)});
}

Result<void> lower_group_norm(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t groups, node.integer("num_groups"));
  if (node.opset() >= 21) {
    return node.emit(GroupNorm{groups}, {node.input(0), node.input(1), node.input(2)});
  }
  // One scale and shift a group and not a channel: PyTorch has no such thing, and it hardly changes the work.
  node.note("GroupNormalization of operator sets 18 to 20: its scale and shift, one a group, are left out");
  return node.emit(GroupNorm{groups}, {node.input(0)});
}

Result<void> lower_instance_norm(NodeContext& node) {
  return node.emit(InstanceNorm{}, {node.input(0), node.input(1), node.input(2)});
}

// (x - mean) / sqrt(mean of squares - mean squared), over axes that no norm of ours has (ONNX's function body).
Result<void> lower_mean_variance_norm(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const auto given, node.integers("axes"));
  const IntList axes = given.value_or(IntList{0, 2, 3});
  const ValueId x = node.input(0);
  const ValueId mean = node.step(Reduce{ReduceKind::kMean, axes, true, false}, {x}, "mean");
  const ValueId centred = node.step(Binary{BinaryKind::kSub}, {x, mean}, "centred");
  const ValueId square = node.step(Unary{UnaryKind::kSquare}, {centred}, "square");
  const ValueId variance = node.step(Reduce{ReduceKind::kMean, axes, true, false}, {square}, "variance");
  const ValueId deviation = node.step(Unary{UnaryKind::kSqrt}, {variance}, "deviation");
  return node.emit(Binary{BinaryKind::kDiv}, {centred, deviation});
}

Result<void> lower_lp_norm(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis", -1));
  JC_ASSIGN_OR_RETURN(const std::int64_t p, node.integer("p", 2));
  const Reduce reduce{p == 1 ? ReduceKind::kL1 : ReduceKind::kL2, {axis}, true, false};
  const ValueId length = node.step(reduce, {node.input(0)}, "length");
  return node.emit(Binary{BinaryKind::kDiv}, {node.input(0), length});
}

}  // namespace joulecast::onnx
