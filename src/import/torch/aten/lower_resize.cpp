// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {

// To a size, or by factors: [batch, channels, spatial...].
Result<void> lower_upsample_of(Call& call, ResizeKind kind) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (rank < 3 || rank > 5) return unsupported(fmt::format("an input of {} axes", rank));
  Resize op{kind, {}};
  for (std::size_t axis = 2; axis < rank; ++axis) op.axes.push_back(static_cast<std::int64_t>(axis));
  if (call.has("output_size")) {
    JC_ASSIGN_OR_RETURN(const std::vector<Integer> size, call.integers("output_size"));
    return call.emit(std::move(op), {x, kNoValue, call.vector(size)});
  }
  JC_ASSIGN_OR_RETURN(std::vector<double> factors, call.reals("scale_factors"));
  return call.emit(std::move(op), {x, call.real_vector(std::move(factors))});
}

// 0 bilinear, 1 nearest, 2 bicubic.
Result<void> lower_grid_sample(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(const ValueId grid, call.tensor("grid"));
  JC_ASSIGN_OR_RETURN(const std::int64_t mode, call.number("interpolation_mode", 0));
  const ResizeKind kind = mode == 1 ? ResizeKind::kNearest : mode == 2 ? ResizeKind::kCubic : ResizeKind::kLinear;
  return call.emit(GridSample{kind}, {x, grid});
}

// Where grid_sample looks: every place of an output of `size`, [x, y, (z,) 1], times the transpose of its theta.
Result<void> lower_affine_grid(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId theta, call.tensor("theta"));
  JC_ASSIGN_OR_RETURN(std::vector<Integer> size, call.integers("size"));
  if (size.size() != 4 && size.size() != 5) return unsupported(fmt::format("an output of {} axes", size.size()));
  const auto spatial = static_cast<std::int64_t>(size.size()) - 2;
  size.erase(size.begin() + 1);  // the channels
  size.push_back({spatial + 1});
  const ValueId places = call.step(Fill{call.guess(theta).element, 1.0}, {call.vector(size)}, "places");
  const ValueId rows = call.step(Flatten{1, spatial}, {places}, "rows");
  const ValueId grid = call.step(MatMul{false, true}, {rows, theta}, "grid");
  size.back() = {spatial};
  return call.emit(Reshape{}, {grid, call.vector(size)});
}

}  // namespace joulecast::aten
