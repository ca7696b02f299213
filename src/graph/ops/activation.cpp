// SPDX-License-Identifier: Apache-2.0
#include "graph/infer_context.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const Activation& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  Shape shape = context.shape(0);
  if (op.kind == ActivationKind::kGlu && !shape.empty()) shape.back() /= 2;
  return context.set(0, context.input(0).element, shape);
}

// ReLU saves its output, the smooth ones their input; either way one tensor is read back.
Cost cost(const Activation&, const CostContext& context) {
  return elementwise_cost(context, {});
}

}  // namespace joulecast
