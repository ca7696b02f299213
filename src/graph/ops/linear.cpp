// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const Linear& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 1));
  JC_RETURN_IF_ERROR(require_rank(context, 1, "weight", 2, 2));
  const Shape& x = context.shape(0);
  const Shape& weight = context.shape(1);
  const std::int64_t in = weight[op.weight_in_out ? 0 : 1];
  if (x.back() != in) {
    return invalid(fmt::format("input has {} features, weight {} wants {}", x.back(), text(weight), in));
  }
  Shape out = x;
  out.back() = weight[op.weight_in_out ? 1 : 0];
  JC_RETURN_IF_ERROR(expect_broadcast(context, 2, "bias", out));
  return context.set(0, context.input(0).element, out);
}

// 2 flops for every input feature of an output element; the bias counts nothing (as in torch.utils.flop_counter).
// Backward is two products of the same size, gradient of the input and of the weight, each reading the output's.
Cost cost(const Linear&, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  if (!context.has_output(0)) return cost;
  const TensorType& x = context.input(0);
  const TensorType& weight = context.input(1);
  const TensorType& out = context.output();
  cost.forward_flops = Flops{2.0 * static_cast<double>(out.elements()) * static_cast<double>(x.shape.back())};
  cost.backward_flops = 2.0 * cost.forward_flops;
  cost.forward_read = input_bytes(context);
  cost.forward_written = out.bytes();
  cost.backward_read = 2.0 * out.bytes() + x.bytes() + weight.bytes();
  cost.backward_written = input_bytes(context);
  return cost;
}

}  // namespace joulecast
