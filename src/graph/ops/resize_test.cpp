// SPDX-License-Identifier: Apache-2.0
// Resize and grid_sample.
#include "graph/ops/operator_cases.h"

namespace joulecast {
namespace {

std::vector<OperatorCase> resize_cases() {
  const OneNodeInput x = f32({1, 2, 4, 6});
  return {
      {.name = "nearest_by_scales",
       .op = Resize{},
       .inputs = {x, known_reals({1, 1, 2, 2})},
       .shape = {1, 2, 8, 12},
       .flops = 0,
       .read = 4.0 * 48,
       .written = 4.0 * 192,
       .backward_read = 4.0 * 192,
       .backward_written = 4.0 * 48},
      // Two axes change: 4 elements mix, 2 flops each, 192 outputs.
      {.name = "linear_by_sizes",
       .op = Resize{.kind = ResizeKind::kLinear},
       .inputs = {x, absent(), known({1, 2, 8, 12})},
       .shape = {1, 2, 8, 12},
       .flops = 8.0 * 192,
       .backward_flops = 8.0 * 192},
      {.name = "cubic",
       .op = Resize{.kind = ResizeKind::kCubic},
       .inputs = {x, known_reals({1, 1, 2, 2})},
       .shape = {1, 2, 8, 12},
       .flops = 32.0 * 192},
      {.name = "empty_scales",
       .op = Resize{},
       .inputs = {x, known_reals({}), known({1, 2, 3, 3})},
       .shape = {1, 2, 3, 3}},
      {.name = "some_axes",
       .op = Resize{.axes = {2, -1}},
       .inputs = {x, known_reals({0.5, 0.5})},
       .shape = {1, 2, 2, 3}},
      {.name = "rounds_down", .op = Resize{}, .inputs = {x, known_reals({1, 1, 0.9, 0.9})}, .shape = {1, 2, 3, 5}},
      // As doubles 3 * (5/3 rounded to a float) is 4.9999999; in float32, as ONNX has it, 5.
      {.name = "float32_scales",
       .op = Resize{},
       .inputs = {f32({3}), known_reals({static_cast<double>(5.0F / 3.0F)})},
       .shape = {5}},
  };
}
JC_OPERATOR_CASES(Resize, resize_cases());

std::vector<BadCase> resize_bad() {
  const OneNodeInput x = f32({1, 2, 4, 6});
  return {
      {"neither", Resize{}, {x}, "neither scales nor sizes"},
      {"both_empty", Resize{}, {x, known_reals({}), known({})}, "neither scales nor sizes"},
      {"scalar", Resize{}, {f32({}), known_reals({1})}, "x has rank 0"},
      {"entries", Resize{}, {x, known_reals({2, 2})}, "2 scales or sizes for 4 axes"},
      {"axes_entries", Resize{.axes = {1}}, {x, known_reals({2, 2})}, "2 scales or sizes for 1 axes"},
      {"axis", Resize{.axes = {4}}, {x, known_reals({2})}, "axis 4 is outside"},
      {"many_axes", Resize{.axes = IntList(99, 0)}, {x, known_reals(std::vector<double>(99, 1.0))}, "for 99 axes"},
      {"zero_scale", Resize{}, {x, known_reals({1, 1, 0, 1})}, "a scale is 0"},
      {"nan_scale", Resize{}, {x, known_reals({1, 1, std::numeric_limits<double>::quiet_NaN(), 1})}, "a scale is nan"},
      {"huge_scale", Resize{}, {x, known_reals({1, 1, 1e300, 1})}, "too large"},
      {"negative_size", Resize{}, {x, absent(), known({1, 2, -3, 3})}, "not a possible tensor"},
      {"data_dependent", Resize{}, {x, absent(), i64({4})}, "depends on data"},
      {"unknown_scales", Resize{}, {x, f32({4})}, "depends on data"},
  };
}
JC_BAD_CASES(Resize, resize_bad());

std::vector<OperatorCase> grid_sample_cases() {
  return {
      {.name = "linear",
       .op = GridSample{},
       .inputs = {f32({2, 3, 8, 8}), f32({2, 4, 5, 2})},
       .shape = {2, 3, 4, 5},
       .flops = 8.0 * 120,
       .backward_flops = 16.0 * 120,
       .read = 4.0 * (384 + 80),
       .written = 480,
       .backward_read = 4.0 * (120 + 384 + 80),
       .backward_written = 4.0 * (384 + 80)},
      {.name = "volume",
       .op = GridSample{},
       .inputs = {f32({1, 3, 8, 8, 8}), f32({1, 2, 2, 2, 3})},
       .shape = {1, 3, 2, 2, 2},
       .flops = 16.0 * 24},
      {.name = "nearest",
       .op = GridSample{.kind = ResizeKind::kNearest},
       .inputs = {f32({2, 3, 8, 8}), f32({2, 4, 5, 2})},
       .shape = {2, 3, 4, 5},
       .flops = 0},
  };
}
JC_OPERATOR_CASES(GridSample, grid_sample_cases());

std::vector<BadCase> grid_sample_bad() {
  return {
      {"rank", GridSample{}, {f32({2, 3, 8}), f32({2, 4, 1})}, "x has rank 3"},
      {"grid_rank", GridSample{}, {f32({2, 3, 8, 8}), f32({2, 4, 2})}, "grid has rank 3, expected 4"},
      {"no_grid", GridSample{}, {f32({2, 3, 8, 8})}, "input 1 (grid) is missing"},
      {"batch", GridSample{}, {f32({2, 3, 8, 8}), f32({1, 4, 5, 2})}, "differ in batch"},
      {"coordinates", GridSample{}, {f32({2, 3, 8, 8}), f32({2, 4, 5, 3})}, "3 coordinates for 2 spatial axes"},
  };
}
JC_BAD_CASES(GridSample, grid_sample_bad());

}  // namespace
}  // namespace joulecast
