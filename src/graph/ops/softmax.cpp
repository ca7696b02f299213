// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const Softmax& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  const TensorType& x = context.input(0);
  // PyTorch treats a scalar as a vector of one.
  JC_RETURN_IF_ERROR(normalize_axis(op.axis, x.shape.empty() ? 1 : x.shape.size()));
  const bool widened = op.in_float && is_floating(x.element) && bit_width(x.element) < 32;
  return context.set(0, widened ? ElementType::kFloat32 : x.element, x.shape);
}

// An element, forward: maximum, subtraction, exponential, sum, division (log: subtraction). Backward reads the output:
// product, sum, subtraction, product (log: exponential, sum, product, subtraction).
Cost cost(const Softmax&, const CostContext& context) {
  return elementwise_cost(context, {.forward_steps = 5.0, .backward_steps = 4.0, .saved_reads = 1.0});
}

}  // namespace joulecast
