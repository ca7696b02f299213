// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const Triangle&, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 2));
  return context.set(0, context.input(0).element, context.shape(0));
}

// One flop an element: kept or zero. Backward does the same to the gradient. A second input, the diagonal, is a host
// number and takes no gradient.
Cost cost(const Triangle&, const CostContext& context) {
  return elementwise_cost(context, {.forward_steps = 1.0, .backward_steps = 1.0, .saved_reads = 0.0});
}

}  // namespace joulecast
