// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const GridSample&, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 4, 5));
  const Shape& x = context.shape(0);
  JC_RETURN_IF_ERROR(require_rank(context, 1, "grid", x.size(), x.size()));
  const Shape& grid = context.shape(1);
  const auto spatial = static_cast<std::int64_t>(x.size()) - 2;
  if (grid[0] != x[0]) return invalid(fmt::format("grid {} and input {} differ in batch", text(grid), text(x)));
  if (grid.back() != spatial) {
    return invalid(fmt::format("grid {} has {} coordinates for {} spatial axes", text(grid), grid.back(), spatial));
  }
  Shape out{x[0], x[1]};
  for (std::size_t i = 1; i + 1 < grid.size(); ++i) out.push_back(grid[i]);
  return context.set(0, context.input(0).element, out);
}

// 2 flops (weight and add) for each of the 2 (linear) or 4 (cubic) to the power of the spatial axes elements that meet
// in an output; none for nearest. Backward does as much for the gradient of x and again for that of the grid.
Cost cost(const GridSample& op, const CostContext& context) {
  Cost cost;
  if (!context.has_output(0)) return cost;
  const TensorType& x = context.input(0);
  const TensorType& grid = context.input(1);
  const TensorType& out = context.output();
  const double base = op.kind == ResizeKind::kCubic ? 4.0 : 2.0;
  const double taps = op.kind == ResizeKind::kNearest ? 0.0 : std::pow(base, static_cast<double>(x.shape.size()) - 2.0);
  cost.forward_flops = Flops{2.0 * taps * static_cast<double>(out.elements())};
  cost.backward_flops = 2.0 * cost.forward_flops;
  cost.forward_read = x.bytes() + grid.bytes();
  cost.forward_written = out.bytes();
  cost.backward_read = out.bytes() + x.bytes() + grid.bytes();
  cost.backward_written = x.bytes() + grid.bytes();
  return cost;
}

}  // namespace joulecast
