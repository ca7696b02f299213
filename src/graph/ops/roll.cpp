// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const Roll& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  const TensorType& x = context.input(0);
  // Without axes the flattened tensor is shifted, by one number (torch.roll).
  const bool flat = op.axes.empty() && op.shifts.size() == 1;
  if (!flat && op.axes.size() != op.shifts.size()) {
    return invalid(fmt::format("{} shifts for {} axes", op.shifts.size(), op.axes.size()));
  }
  for (const std::int64_t axis : op.axes) JC_RETURN_IF_ERROR(normalize_axis(axis, x.shape.size()));
  return context.set(0, x.element, x.shape);
}

// Moves every element and computes nothing, in both directions.
Cost cost(const Roll&, const CostContext& context) {
  return elementwise_cost(context, {.forward_steps = 0.0, .backward_steps = 0.0, .saved_reads = 0.0});
}

}  // namespace joulecast
