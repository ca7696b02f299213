// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/operator_cases.h"

namespace joulecast {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

std::vector<OperatorCase> pool_cases() {
  return {
      // ResNet's: (112 + 2 - 3) / 2 + 1 = 56. 64 * 56 * 56 = 200704 outputs, 9 comparisons each, 8 bytes kept each.
      {.name = "max",
       .op = Pool{.kernel = {3, 3}, .stride = {2, 2}, .padding_begin = {1, 1}, .padding_end = {1, 1}},
       .inputs = {f32({1, 64, 112, 112})},
       .shape = {1, 64, 56, 56},
       .flops = 9.0 * 200704,
       .backward_flops = 200704,
       .read = 4.0 * 64 * 112 * 112,
       .written = 4.0 * 200704,
       .backward_read = 12.0 * 200704,
       .backward_written = 4.0 * 64 * 112 * 112,
       .saved = 8.0 * 200704},
      {.name = "average",
       .op = Pool{.kind = PoolKind::kAverage, .kernel = {2, 2}, .stride = {2, 2}},
       .inputs = {f32({1, 1, 5, 4})},
       .shape = {1, 1, 2, 2},
       .flops = 16,
       .backward_flops = 16,
       .backward_read = 16,
       .backward_written = 80,
       .saved = 0},
      {.name = "lp",
       .op = Pool{.kind = PoolKind::kLp, .kernel = {2}, .stride = {2}},
       .inputs = {f32({1, 1, 4})},
       .shape = {1, 1, 2},
       .flops = 8,
       .backward_read = 4.0 * (2 + 2 + 4)},
      // Ceil mode: (5 - 2 + 1) / 2 + 1 = 3; the last window starts at 4, inside.
      {.name = "ceil",
       .op = Pool{.kernel = {2}, .stride = {2}, .ceil_mode = true},
       .inputs = {f32({1, 1, 5})},
       .shape = {1, 1, 3}},
      // (4 + 2 - 2 + 1) / 2 + 1 = 3; the last window starts at 4, that is 3 of the input: kept.
      {.name = "ceil_last_starts_inside",
       .op = Pool{.kernel = {2}, .stride = {2}, .padding_begin = {1}, .padding_end = {1}, .ceil_mode = true},
       .inputs = {f32({1, 1, 4})},
       .shape = {1, 1, 3}},
      // (3 + 2 - 2 + 1) / 2 + 1 = 3; the last would start at 4, past input and left padding (3 + 1): dropped.
      {.name = "ceil_last_starts_outside",
       .op = Pool{.kernel = {2}, .stride = {2}, .padding_begin = {1}, .padding_end = {1}, .ceil_mode = true},
       .inputs = {f32({1, 1, 3})},
       .shape = {1, 1, 2}},
      // A window larger than the input passes with ceil mode: (2 - 3 + 1) / 2 + 1 = 1.
      {.name = "ceil_window_overhangs",
       .op = Pool{.kernel = {3}, .stride = {2}, .ceil_mode = true},
       .inputs = {f32({1, 1, 2})},
       .shape = {1, 1, 1}},
      {.name = "dilated",  // reaches over 2 * 2 + 1 = 5
       .op = Pool{.kernel = {3}, .stride = {1}, .dilation = {2}},
       .inputs = {f32({1, 1, 7})},
       .shape = {1, 1, 3}},
      {.name = "same",
       .op = Pool{.kernel = {3, 3}, .stride = {2, 2}, .same_padding = true},
       .inputs = {f32({1, 1, 7, 8})},
       .shape = {1, 1, 4, 4}},
      {.name = "three_axes_stride_1",
       .op = Pool{.kernel = {2, 2, 2}},
       .inputs = {f32({1, 1, 3, 3, 3})},
       .shape = {1, 1, 2, 2, 2}},
  };
}
JC_OPERATOR_CASES(Pool, pool_cases());

TEST(Pool, IndicesThatAreAnOutputAreNotSavedTwice) {
  const auto out = run_one_node(Pool{.kernel = {2}, .stride = {2}}, {f32({1, 1, 4})}, 2);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->shape(1), (Shape{1, 1, 2}));
  EXPECT_EQ(out->element(1), ElementType::kInt64);
  EXPECT_EQ(out->cost.saved, Bytes{0});
  EXPECT_EQ(out->cost.forward_written, Bytes{8 + 16});
}

std::vector<BadCase> pool_bad() {
  const OneNodeInput x = f32({1, 1, 8});
  return {
      {"rank", Pool{.kernel = {2}}, {f32({1, 8})}, "x has rank 2, expected 3 to 5"},
      {"absent", Pool{.kernel = {2}}, {absent()}, "input 0 (x) is missing"},
      {"kernel_entries", Pool{.kernel = {2, 2}}, {x}, "kernel has 2 entries for 1 spatial axes"},
      {"no_kernel", Pool{}, {x}, "kernel has 0 entries"},
      {"zero_kernel", Pool{.kernel = {0}}, {x}, "must be from 1"},
      {"zero_stride", Pool{.kernel = {2}, .stride = {0}}, {x}, "must be from 1"},
      {"same_zero_stride", Pool{.kernel = {2}, .stride = {0}, .same_padding = true}, {x}, "must be from 1"},
      {"negative_dilation", Pool{.kernel = {2}, .dilation = {-1}}, {x}, "must be from 1"},
      {"huge_kernel", Pool{.kernel = {kHuge}, .dilation = {kHuge}}, {x}, "must be from 1"},
      {"huge_padding", Pool{.kernel = {2}, .padding_begin = {kHuge}, .padding_end = {kHuge}}, {x}, "padding"},
      {"negative_padding", Pool{.kernel = {2}, .padding_begin = {-1}}, {x}, "padding of spatial axis 0"},
      {"too_large", Pool{.kernel = {9}}, {x}, "kernel reaches over 9 elements of spatial axis 0, the input has 8"},
      {"empty", Pool{.kernel = {1}, .stride = {2}, .ceil_mode = true}, {f32({1, 1, 0})}, "nothing is left"},
      {"average_indices", Pool{.kind = PoolKind::kAverage, .kernel = {2}}, {x}, "only max pooling", 2},
      {"adaptive_entries", AdaptivePool{.size = {1, 1}}, {x}, "size has 2 entries"},
      {"adaptive_zero", AdaptivePool{.size = {0}}, {x}, "size has an extent of 0"},
      {"adaptive_huge", AdaptivePool{.size = {kHuge}}, {x}, "not a possible tensor"},
      {"adaptive_rank", AdaptivePool{.size = {1}}, {f32({8})}, "x has rank 1"},
  };
}
JC_BAD_CASES(Pool, pool_bad());

std::vector<OperatorCase> adaptive_cases() {
  return {
      {.name = "global",
       .op = AdaptivePool{.size = {1, 1}},
       .inputs = {f32({2, 3, 7, 7})},
       .shape = {2, 3, 1, 1},
       .flops = 2.0 * 3 * 49,
       .read = 4.0 * 294,
       .written = 24,
       .backward_read = 24,
       .backward_written = 4.0 * 294,
       .saved = 0},
      // 5 -> 3: windows 0-2, 1-4, 3-5 (ends excluded) hold 2 + 3 + 2 = 7 = 5 + 3 - 1.
      {.name = "overlapping",
       .op = AdaptivePool{.size = {3}},
       .inputs = {f32({1, 1, 5})},
       .shape = {1, 1, 3},
       .flops = 7},
      // 2 -> 6: every window is one element.
      {.name = "enlarging",
       .op = AdaptivePool{.size = {6}},
       .inputs = {f32({1, 1, 2})},
       .shape = {1, 1, 6},
       .flops = 6},
      {.name = "max",
       .op = AdaptivePool{.kind = PoolKind::kMax, .size = {2}},
       .inputs = {f32({1, 1, 4})},
       .shape = {1, 1, 2},
       .flops = 4,
       .backward_read = 8 + 16,
       .saved = 16},
  };
}
JC_OPERATOR_CASES(AdaptivePool, adaptive_cases());

// The closed form against the windows themselves.
TEST(AdaptivePool, CountsEveryElementOfEveryWindow) {
  for (std::int64_t in = 1; in <= 12; ++in) {
    for (std::int64_t out = 1; out <= 14; ++out) {
      std::int64_t met = 0;
      for (std::int64_t i = 0; i < out; ++i) met += ((i + 1) * in + out - 1) / out - i * in / out;
      const auto got = run_one_node(AdaptivePool{.size = {out}}, {f32({1, 1, in})});
      ASSERT_TRUE(got);
      EXPECT_EQ(got->cost.forward_flops, Flops{static_cast<double>(met)}) << in << " to " << out;
    }
  }
}

}  // namespace
}  // namespace joulecast
