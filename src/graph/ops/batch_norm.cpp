// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/norm.h"

namespace joulecast {

Result<void> infer(const BatchNorm&, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 2));
  JC_RETURN_IF_ERROR(check_channel_vectors(context, 1, 4));
  const TensorType& x = context.input(0);
  // ONNX's training form also returns statistics, each a vector of the channels.
  const Shape channels{x.shape[1]};
  for (std::size_t i = 1; i < context.output_count(); ++i) JC_RETURN_IF_ERROR(context.set(i, x.element, channels));
  return context.set(0, x.element, x.shape);
}

// In inference mean and variance fold into scale and shift: 2 flops an element, x read once. Training reads x once more
// for the statistics; the estimator adds that. Backward is that of training: 10 flops an element besides scale and
// shift. Running mean and variance are no trained parameters: they take no gradient, and count in bytes only.
Cost cost(const BatchNorm&, const CostContext& context) {
  Cost cost = norm_cost(context, {.backward_steps = 10.0, .groups = static_cast<double>(context.input(0).shape[1])});
  if (context.has_output(0)) cost.forward_flops = Flops{2.0 * static_cast<double>(context.input(0).elements())};
  for (std::size_t i = 3; i < 5; ++i) {
    if (context.is_parameter(i)) cost.parameter_count -= context.input(i).elements();
  }
  return cost;
}

}  // namespace joulecast
