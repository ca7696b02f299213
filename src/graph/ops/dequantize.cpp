// SPDX-License-Identifier: Apache-2.0
#include "graph/infer_context.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const Dequantize& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_RETURN_IF_ERROR(context.require(1, "scale"));
  return context.set(0, op.to, context.shape(0));
}

// Subtract and multiply, 2 flops an element. No gradient flows to integers.
Cost cost(const Dequantize&, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  cost.forward_flops = Flops{2.0 * static_cast<double>(context.input(0).elements())};
  cost.forward_read = input_bytes(context);
  cost.forward_written = output_bytes(context);
  return cost;
}

}  // namespace joulecast
