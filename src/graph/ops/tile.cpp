// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"
#include "graph/ops/known.h"

namespace joulecast {

Result<void> infer(const Tile&, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_ASSIGN_OR_RETURN(const auto repeats, context.ints(1, "repeats"));
  const Shape& x = context.shape(0);
  if (repeats.size() != x.size()) return invalid(fmt::format("{} repeats for rank {}", repeats.size(), x.size()));
  Shape shape = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(shape[i], repeats[i], &shape[i])) {
      return invalid(fmt::format("axis {} cannot be repeated {} times", i, repeats[i]));
    }
  }
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  follow_elements(context, 0, shape, [&](Position position) {
    for (std::size_t i = 0; i < x.size(); ++i) position[i] %= x[i];
    return position;
  });
  return {};
}

// Backward sums the repeated gradients: one addition an output element.
Cost cost(const Tile&, const CostContext& context) {
  Cost cost = copy_cost(context, context.input(0).bytes(), output_bytes(context));
  if (cost.backward_read > Bytes{}) cost.backward_flops = Flops{static_cast<double>(context.output().elements())};
  return cost;
}

}  // namespace joulecast
