// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/pooling.h"

#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> set_pooled(PoolKind kind, const Shape& shape, InferContext& context) {
  if (kind != PoolKind::kMax && context.output_count() > 1) return invalid("only max pooling has indices");
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  return context.set(1, ElementType::kInt64, shape);
}

Cost pooling_cost(PoolKind kind, double met, const CostContext& context) {
  Cost cost;
  const TensorType& x = context.input(0);
  const TensorType& out = context.output();
  const auto outputs = static_cast<double>(out.elements());
  cost.forward_flops = Flops{kind == PoolKind::kLp ? 2.0 * met : met};
  cost.forward_read = x.bytes();
  cost.forward_written = output_bytes(context);
  if (!is_floating(x.element)) return cost;
  cost.backward_written = x.bytes();
  cost.backward_flops = kind == PoolKind::kMax ? Flops{outputs} : cost.forward_flops;
  cost.backward_read = out.bytes();
  const Bytes places{8.0 * outputs};
  if (kind == PoolKind::kMax) cost.backward_read += places;
  if (kind == PoolKind::kMax && !context.has_output(1)) cost.saved = places;
  if (kind == PoolKind::kLp) cost.backward_read += x.bytes() + out.bytes();
  return cost;
}

}  // namespace joulecast
