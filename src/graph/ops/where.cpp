// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

void follow(InferContext& context, const Shape& shape) {
  const Contents* condition = context.known(0);
  const Contents* a = context.known(1);
  const Contents* b = context.known(2);
  if (condition == nullptr || a == nullptr || b == nullptr || condition->ints.empty()) return;
  const auto elements = checked_elements(shape);
  if (!elements || *elements > static_cast<std::int64_t>(kMaxKnownElements)) return;
  const bool integers = !a->ints.empty() && !b->ints.empty();
  if (!integers && (a->reals.empty() || b->reals.empty())) return;
  Contents out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(*elements); ++i) {
    const bool first = condition->ints[broadcast_index(i, shape, context.shape(0))] != 0;
    const Contents& from = first ? *a : *b;
    const std::size_t at = broadcast_index(i, shape, context.shape(first ? 1 : 2));
    if (integers) {
      out.ints.push_back(from.ints[at]);
    } else {
      out.reals.push_back(from.reals[at]);
    }
  }
  context.set_known(0, std::move(out));
}

}  // namespace

Result<void> infer(const Where&, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "condition"));
  JC_RETURN_IF_ERROR(context.require(1, "a"));
  JC_RETURN_IF_ERROR(context.require(2, "b"));
  JC_ASSIGN_OR_RETURN(const Shape values, broadcast(context.shape(1), context.shape(2)));
  JC_ASSIGN_OR_RETURN(const Shape shape, broadcast(context.shape(0), values));
  JC_RETURN_IF_ERROR(context.set(0, promoted(context.input(1), context.input(2)), shape));
  follow(context, shape);
  return {};
}

// One flop an element: the choice. Backward chooses twice, reading the condition again.
Cost cost(const Where&, const CostContext& context) {
  Cost cost = elementwise_cost(context, {.forward_steps = 1.0, .backward_steps = 2.0, .saved_reads = 0.0});
  if (cost.backward_read > Bytes{}) cost.backward_read += context.input(0).bytes();
  return cost;
}

}  // namespace joulecast
