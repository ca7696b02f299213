// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

// Known contents are not followed: the operator does not keep whether it runs forward or backward.
Result<void> infer(const Cumulate& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  const TensorType& x = context.input(0);
  JC_RETURN_IF_ERROR(normalize_axis(op.axis, std::max<std::size_t>(x.shape.size(), 1)));
  return context.set(0, x.element, x.shape);
}

// One addition an element. Backward is the same sum from the other end over the output's gradient alone.
Cost cost(const Cumulate&, const CostContext& context) {
  return elementwise_cost(context, {.forward_steps = 1.0, .backward_steps = 1.0, .saved_reads = 0.0});
}

}  // namespace joulecast
