// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

// Exporters leave an unused input out or make it empty.
bool given(const InferContext& context, std::size_t i) {
  return context.has(i) && context.input(i).elements() > 0;
}

// The axes to resize, in the order of scales and sizes.
Result<InlineVector<std::size_t, kMaxRank>> resized_axes(const Resize& op, std::size_t rank, std::size_t entries) {
  const std::size_t wanted = op.axes.empty() ? rank : op.axes.size();
  if (entries != wanted || wanted > rank) {
    return invalid(fmt::format("{} scales or sizes for {} axes of an input of rank {}", entries, wanted, rank));
  }
  InlineVector<std::size_t, kMaxRank> out;
  for (std::size_t i = 0; i < wanted; ++i) {
    if (op.axes.empty()) {
      out.push_back(i);
      continue;
    }
    JC_ASSIGN_OR_RETURN(const std::size_t axis, normalize_axis(op.axes[i], rank));
    out.push_back(axis);
  }
  return out;
}

// floor(in * scale), in the precision of the scales: ONNX's shape inference and ONNX Runtime multiply in float32, where
// 3 times 5/3 is 5 and not 4.9999999.
Result<std::int64_t> scaled(std::int64_t in, double scale, ElementType element) {
  if (!(scale > 0.0)) return invalid(fmt::format("a scale is {}", scale));
  const double out = element == ElementType::kFloat64
                         ? static_cast<double>(in) * scale
                         : static_cast<double>(static_cast<float>(in) * static_cast<float>(scale));
  if (!(out <= static_cast<double>(kMaxElements))) {
    return invalid(fmt::format("an extent of {} scaled by {} is too large", in, scale));
  }
  return static_cast<std::int64_t>(std::floor(out));
}

Result<Shape> by_sizes(const Resize& op, const InferContext& context) {
  JC_ASSIGN_OR_RETURN(const auto sizes, context.ints(2, "sizes"));
  Shape out = context.shape(0);
  JC_ASSIGN_OR_RETURN(const auto axes, resized_axes(op, out.size(), sizes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) out[axes[i]] = sizes[i];
  return out;
}

Result<Shape> by_scales(const Resize& op, const InferContext& context) {
  const Contents* scales = context.known(1);
  if (scales == nullptr) return unsupported("input 1 (scales) depends on data, so the shape does too");
  Shape out = context.shape(0);
  JC_ASSIGN_OR_RETURN(const auto axes, resized_axes(op, out.size(), scales->reals.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    JC_ASSIGN_OR_RETURN(const std::int64_t extent,
                        scaled(context.shape(0)[axes[i]], scales->reals[i], context.input(1).element));
    out[axes[i]] = extent;
  }
  return out;
}

// How many input elements meet in one output element; nothing to compute where the nearest is copied.
double taps(ResizeKind kind, std::size_t axes) {
  switch (kind) {
    case ResizeKind::kNearest:
      return 0.0;
    case ResizeKind::kLinear:
      return std::pow(2.0, static_cast<double>(axes));
    case ResizeKind::kCubic:
      return std::pow(4.0, static_cast<double>(axes));
  }
  return 0.0;
}

}  // namespace

Result<void> infer(const Resize& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 1));
  if (!given(context, 1) && !given(context, 2)) return invalid("neither scales nor sizes are given");
  JC_ASSIGN_OR_RETURN(const Shape out, given(context, 2) ? by_sizes(op, context) : by_scales(op, context));
  return context.set(0, context.input(0).element, out);
}

// 2 flops (weight and add) for every input element that an output element mixes: 2 an axis that changes for linear,
// 4 for cubic; none for nearest. Backward spreads the gradient the same way.
Cost cost(const Resize& op, const CostContext& context) {
  Cost cost;
  if (!context.has_output(0)) return cost;
  const TensorType& x = context.input(0);
  const TensorType& out = context.output();
  std::size_t changed = 0;
  for (std::size_t i = 0; i < x.shape.size(); ++i) changed += x.shape[i] != out.shape[i] ? 1 : 0;
  cost.forward_flops = Flops{2.0 * taps(op.kind, changed) * static_cast<double>(out.elements())};
  cost.forward_read = x.bytes();
  cost.forward_written = out.bytes();
  if (!is_floating(x.element)) return cost;
  cost.backward_flops = cost.forward_flops;
  cost.backward_read = out.bytes();
  cost.backward_written = x.bytes();
  return cost;
}

}  // namespace joulecast
