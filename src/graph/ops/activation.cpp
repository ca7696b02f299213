// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

// Exporters clip sizes and paddings that they compute in floating point.
std::optional<double> clipped(ActivationKind kind, double x, const Contents* low, const Contents* high) {
  if (kind == ActivationKind::kRelu) return std::max(x, 0.0);
  if (kind != ActivationKind::kClip) return std::nullopt;
  if (low != nullptr && low->reals.size() == 1) x = std::max(x, low->reals[0]);
  if (high != nullptr && high->reals.size() == 1) x = std::min(x, high->reals[0]);
  return x;
}

void follow(const Activation& op, InferContext& context) {
  const Contents* x = context.known(0);
  if (x == nullptr || x->reals.empty() || x->reals.size() > kMaxKnownElements) return;
  const Contents* low = context.known(1);
  const Contents* high = context.known(2);
  if ((context.has(1) && low == nullptr) || (context.has(2) && high == nullptr)) return;
  Contents out;
  for (const double value : x->reals) {
    const auto result = clipped(op.kind, value, low, high);
    if (!result) return;
    out.reals.push_back(*result);
  }
  context.set_known(0, std::move(out));
}

}  // namespace

Result<void> infer(const Activation& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  Shape shape = context.shape(0);
  if (op.kind == ActivationKind::kGlu && !shape.empty()) shape.back() /= 2;
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  follow(op, context);
  return {};
}

// ReLU saves its output, the smooth ones their input; either way one tensor is read back. Quick GELU, of which models
// write a product, saves its gate besides.
Cost cost(const Activation& op, const CostContext& context) {
  Cost cost = elementwise_cost(context, {});
  if (op.kind == ActivationKind::kQuickGelu && context.has_output(0)) cost.saved += context.output().bytes();
  return cost;
}

}  // namespace joulecast
