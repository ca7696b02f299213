// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/norm.h"

namespace joulecast {

Result<void> infer(const RmsNorm& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 1));
  const TensorType& x = context.input(0);
  if (op.axes < 1 || op.axes > static_cast<std::int64_t>(x.shape.size())) {
    return invalid(fmt::format("normalises {} axes of an input of rank {}", op.axes, x.shape.size()));
  }
  JC_RETURN_IF_ERROR(expect_broadcast(context, 1, "scale", x.shape));
  return context.set(0, x.element, x.shape);
}

// Forward, an element: square, add, multiply by 1/root. Backward: 7 for (g - normalised * mean(g * normalised)) / root.
Cost cost(const RmsNorm& op, const CostContext& context) {
  const Shape& x = context.input(0).shape;
  double rows = 1.0;
  for (std::size_t i = 0; i + static_cast<std::size_t>(op.axes) < x.size(); ++i) rows *= static_cast<double>(x[i]);
  return norm_cost(context, {.forward_steps = 3.0, .backward_steps = 7.0, .groups = rows, .statistics_per_group = 1.0});
}

}  // namespace joulecast
