// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const Dropout& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  if (!(op.probability >= 0.0 && op.probability <= 1.0)) {
    return invalid(fmt::format("probability is {}", op.probability));
  }
  const TensorType& x = context.input(0);
  JC_RETURN_IF_ERROR(context.set(0, x.element, x.shape));
  if (const Contents* contents = context.known(0)) context.set_known(0, Contents{*contents});
  return context.set(1, ElementType::kBool, x.shape);
}

// Nothing in inference; forward in training is the estimator's to add. It keeps a mask of one byte an element, which
// backward multiplies the gradient with. PyTorch skips dropout of probability 0 in training too.
Cost cost(const Dropout& op, const CostContext& context) {
  Cost cost;
  if (op.probability == 0.0 || !is_floating(context.input(0).element)) return cost;
  const TensorType& x = context.input(0);
  const auto elements = static_cast<double>(x.elements());
  const Bytes mask{elements};
  if (!context.has_output(1)) cost.saved = mask;
  cost.backward_flops = Flops{2.0 * elements};  // times the mask, times 1 / (1 - probability)
  cost.backward_read = x.bytes() + mask;
  cost.backward_written = x.bytes();
  return cost;
}

}  // namespace joulecast
