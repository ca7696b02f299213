// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/operator_cases.h"

namespace joulecast {
namespace {

// x has 2 * 3 * 4 * 4 = 96 elements everywhere.
std::vector<OperatorCase> norm_cases() {
  const OneNodeInput x = f32({2, 3, 4, 4});
  const OneNodeInput v = weight({3});
  return {
      // Inference reads x and 4 vectors; running mean and variance are no trained parameters and take no gradient.
      {.name = "batch",
       .op = BatchNorm{},
       .inputs = {x, v, v, v, v},
       .shape = {2, 3, 4, 4},
       .flops = 192,
       .backward_flops = 96.0 * 13,
       .read = 4.0 * 108,
       .written = 4.0 * 96,
       .backward_read = 4.0 * (96 + 96 + 3 + 6),
       .backward_written = 4.0 * 102,
       .saved = 4.0 * 6,
       .parameter_count = 6},
      {.name = "batch_of_vectors", .op = BatchNorm{}, .inputs = {f32({8, 3}), v, v, v, v}, .shape = {8, 3}},
      // 24 rows of 4, a mean and a deviation each.
      {.name = "layer",
       .op = LayerNorm{},
       .inputs = {x, weight({4}), weight({4})},
       .shape = {2, 3, 4, 4},
       .flops = 96.0 * 8,
       .backward_flops = 96.0 * 13,
       .read = 4.0 * 104,
       .written = 4.0 * 96,
       .backward_read = 4.0 * (192 + 4 + 48),
       .backward_written = 4.0 * 104,
       .saved = 4.0 * 48,
       .parameter_count = 8},
      {.name = "layer_two_axes",
       .op = LayerNorm{.axes = 2},
       .inputs = {x, weight({4, 4})},
       .shape = {2, 3, 4, 4},
       .flops = 96.0 * 7,
       .saved = 4.0 * 12},
      {.name = "layer_no_parameters", .op = LayerNorm{}, .inputs = {x}, .shape = {2, 3, 4, 4}, .flops = 96.0 * 6},
      // 2 * 4 * 4 places, each normalised over 3 channels.
      {.name = "layer_channels_first",
       .op = LayerNorm{.channels_first = true},
       .inputs = {x, v, v},
       .shape = {2, 3, 4, 4},
       .saved = 4.0 * 64},
      {.name = "layer_half_keeps_float_statistics",
       .op = LayerNorm{},
       .inputs = {tensor(ElementType::kFloat16, {2, 4})},
       .shape = {2, 4},
       .saved = 16},
      {.name = "group",
       .op = GroupNorm{.groups = 3},
       .inputs = {x, v, v},
       .shape = {2, 3, 4, 4},
       .flops = 96.0 * 8,
       .saved = 4.0 * 2 * 6},
      {.name = "instance",
       .op = InstanceNorm{},
       .inputs = {x, v, v},
       .shape = {2, 3, 4, 4},
       .flops = 96.0 * 8,
       .saved = 4.0 * 2 * 6},
      {.name = "rms",
       .op = RmsNorm{},
       .inputs = {x, weight({4})},
       .shape = {2, 3, 4, 4},
       .flops = 96.0 * 4,
       .backward_flops = 96.0 * 9,
       .saved = 4.0 * 24,
       .parameter_count = 4},
  };
}
JC_OPERATOR_CASES(Norm, norm_cases());

TEST(LayerNorm, ReturnsStatisticsWhereAsked) {
  const auto out = run_one_node(LayerNorm{.axes = 2}, {f32({2, 3, 4})}, 3);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->shape(1), (Shape{2, 1, 1}));
  EXPECT_EQ(out->shape(2), (Shape{2, 1, 1}));
}

std::vector<BadCase> norm_bad() {
  const OneNodeInput x = f32({2, 6, 4, 4});
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  return {
      {"batch_rank", BatchNorm{}, {f32({3})}, "x has rank 1"},
      {"batch_mean", BatchNorm{}, {x, absent(), absent(), weight({5})}, "mean has shape 5, expected 6"},
      {"layer_axes", LayerNorm{.axes = 5}, {x}, "normalises 5 axes of an input of rank 4"},
      {"layer_no_axes", LayerNorm{.axes = 0}, {x}, "normalises 0 axes"},
      {"layer_negative_axes", LayerNorm{.axes = kLeast}, {x}, "normalises"},
      {"layer_scale", LayerNorm{}, {x, weight({5})}, "scale of shape 5 does not broadcast"},
      {"layer_channels", LayerNorm{.channels_first = true}, {f32({4})}, "x has rank 1"},
      {"group_division", GroupNorm{.groups = 4}, {x}, "6 channels do not divide into 4 groups"},
      {"group_zero", GroupNorm{.groups = 0}, {x}, "0 groups"},
      {"group_minus_one", GroupNorm{.groups = -1}, {x}, "-1 groups"},
      {"instance_rank", InstanceNorm{}, {f32({2, 6})}, "x has rank 2"},
      {"rms_axes", RmsNorm{.axes = -1}, {x}, "normalises -1 axes"},
      {"rms_absent", RmsNorm{}, {absent()}, "input 0 (x) is missing"},
  };
}
JC_BAD_CASES(Norm, norm_bad());

}  // namespace
}  // namespace joulecast
