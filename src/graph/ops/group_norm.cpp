// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/norm.h"

namespace joulecast {

Result<void> infer(const GroupNorm& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 2));
  const TensorType& x = context.input(0);
  if (op.groups < 1 || x.shape[1] % op.groups != 0) {
    return invalid(fmt::format("{} channels do not divide into {} groups", x.shape[1], op.groups));
  }
  JC_RETURN_IF_ERROR(check_channel_vectors(context, 1, 2));
  return context.set(0, x.element, x.shape);
}

Cost cost(const GroupNorm& op, const CostContext& context) {
  return mean_variance_cost(context, static_cast<double>(context.input(0).shape[0]) * static_cast<double>(op.groups));
}

}  // namespace joulecast
