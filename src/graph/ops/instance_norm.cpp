// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/norm.h"

namespace joulecast {

Result<void> infer(const InstanceNorm&, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 3));
  JC_RETURN_IF_ERROR(check_channel_vectors(context, 1, 2));
  return context.set(0, context.input(0).element, context.shape(0));
}

Cost cost(const InstanceNorm&, const CostContext& context) {
  const Shape& x = context.input(0).shape;
  return mean_variance_cost(context, static_cast<double>(x[0]) * static_cast<double>(x[1]));
}

}  // namespace joulecast
