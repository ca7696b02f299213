// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const StochasticDepth& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 1));
  if (!(op.probability >= 0.0 && op.probability <= 1.0)) {
    return invalid(fmt::format("probability is {}", op.probability));
  }
  return context.set(0, context.input(0).element, context.shape(0));
}

// Nothing in inference; forward in training is the estimator's to add. It keeps one number a row of axis 0, and
// backward multiplies the gradient with it.
Cost cost(const StochasticDepth& op, const CostContext& context) {
  Cost cost;
  if (op.probability == 0.0) return cost;
  const TensorType& x = context.input(0);
  cost.saved = Bytes{static_cast<double>(x.shape[0]) * bit_width(x.element) / 8.0};
  cost.backward_flops = Flops{static_cast<double>(x.elements())};
  cost.backward_read = x.bytes() + cost.saved;
  cost.backward_written = x.bytes();
  return cost;
}

}  // namespace joulecast
