// SPDX-License-Identifier: Apache-2.0
#include "predict/describe.h"

#include <gtest/gtest.h>

#include <set>

namespace joulecast {
namespace {

PointwiseWork pointwise(PointwiseKind kind, std::int64_t elements, std::int64_t forward, std::int64_t backward) {
  return {.kind = kind, .elements = elements, .forward_bytes = forward, .backward_bytes = backward};
}

TEST(Describe, SaysWhatPeopleKnowTheWorkBy) {
  EXPECT_EQ(describe(ConvWork{.batch = 32,
                              .in_channels = 64,
                              .out_channels = 128,
                              .in_height = 56,
                              .in_width = 56,
                              .out_height = 28,
                              .out_width = 28,
                              .kernel_height = 3,
                              .kernel_width = 3,
                              .stride = 2,
                              .padding = 1}),
            "conv 32x64x56x56 -> 128, 3x3 s2");
  EXPECT_EQ(describe(GemmWork{.rows = 32, .columns = 1000, .depth = 2048, .bias = 1}), "linear 32x2048 -> 1000");
  EXPECT_EQ(describe(GemmWork{.rows = 32, .columns = 4096, .depth = 1024, .bias = 1, .steps = 25}),
            "recurrent 25 x linear 32x1024 -> 4096");
  EXPECT_EQ(describe(GemmWork{.batch = 12, .rows = 128, .columns = 128, .depth = 64, .weight = false}),
            "matmul 12 x 128x64x128");
  EXPECT_EQ(describe(ReductionWork{.kind = ReductionKind::kSoftmax, .rows = 1536, .columns = 128}), "softmax 1536x128");
}

// 25,690,112 floats: read and written forward; the saved tensor and the gradient read and one written backward.
TEST(Describe, UsualTrafficBackwardIsLeftUnsaid) {
  EXPECT_EQ(describe(pointwise(PointwiseKind::kRelu, 25'690'112, 205'520'896, 308'281'344)), "relu 25.7M, 206MB");
  EXPECT_EQ(describe(pointwise(PointwiseKind::kRelu, 25'690'112, 205'520'896, 205'520'896)),
            "relu 25.7M, 206MB + 206MB back");
  EXPECT_EQ(describe(pointwise(PointwiseKind::kAdd, 1'000'000, 12'000'000, 0)), "add 1M, 12MB");
  EXPECT_EQ(describe(pointwise(PointwiseKind::kMul, 1'000'000, 12'000'000, 24'000'000)), "mul 1M, 12MB");
  EXPECT_EQ(describe(pointwise(PointwiseKind::kMul, 1'000'000, 12'000'000, 0)), "mul 1M, 12MB, no gradient");
}

TEST(Describe, CopiesOfDifferentTrafficReadDifferently) {
  EXPECT_EQ(describe(pointwise(PointwiseKind::kCopy, 786'432, 6'291'456, 6'291'456)), "copy 786k, 6.29MB");
  EXPECT_EQ(describe(pointwise(PointwiseKind::kCopy, 786'432, 3'145'728, 3'145'728)), "copy 786k, 3.15MB");
}

// Each of these differs from the first in one field that a network's operations can differ in.
TEST(Describe, DifferentConvolutionsReadDifferently) {
  const ConvWork base{.batch = 8,
                      .in_channels = 64,
                      .out_channels = 64,
                      .in_height = 56,
                      .in_width = 56,
                      .out_height = 56,
                      .out_width = 56,
                      .kernel_height = 3,
                      .kernel_width = 3,
                      .padding = 1};
  std::set<std::string> labels{describe(base)};
  std::size_t count = 1;
  const auto with = [&](auto change) {
    ConvWork other = base;
    change(other);
    labels.insert(describe(other));
    EXPECT_EQ(labels.size(), ++count) << describe(other);
  };
  with([](ConvWork& w) { w.groups = 64; });
  with([](ConvWork& w) { w.out_height = w.out_width = 52; });  // dilated
  with([](ConvWork& w) { w.padding = 0; });
  with([](ConvWork& w) { w.kernel_width = 1; });
  with([](ConvWork& w) { w.stride = 2; });
  with([](ConvWork& w) { w.bias = 1; });
  with([](ConvWork& w) { w.arithmetic = Arithmetic::kFp16; });
}

TEST(Describe, DifferentWorkOfOtherKindsReadsDifferently) {
  const std::set<std::string> labels{
      describe(GemmWork{.rows = 4}),
      describe(GemmWork{.rows = 4, .bias = 1}),
      describe(GemmWork{.rows = 4, .steps = 3}),
      describe(GemmWork{.rows = 4, .arithmetic = Arithmetic::kBf16}),
      describe(GemmWork{.rows = 4, .element_bytes = 2, .output_bytes = 4}),
      describe(GemmWork{.batch = 2, .rows = 4}),
      describe(GemmWork{.batch = 2, .rows = 4, .weight = false}),
      describe(ReductionWork{.kind = ReductionKind::kMaxPool, .in_elements = 400, .rows = 100, .columns = 4}),
      describe(ReductionWork{.kind = ReductionKind::kMaxPool, .in_elements = 100, .rows = 100, .columns = 4}),
      describe(ReductionWork{
          .kind = ReductionKind::kMaxPool, .in_elements = 400, .rows = 100, .columns = 4, .element_bytes = 2}),
      describe(ReductionWork{.kind = ReductionKind::kLayerNorm, .rows = 100, .columns = 4}),
      describe(ReductionWork{.kind = ReductionKind::kLayerNorm, .rows = 100, .columns = 4, .by_engine = true}),
      describe(AttentionWork{.heads = 8, .kv_heads = 8}),
      describe(AttentionWork{.heads = 8, .kv_heads = 2}),
      describe(AttentionWork{.heads = 8, .kv_heads = 8, .causal = false}),
      describe(AttentionWork{.heads = 8, .kv_heads = 8, .kv_bytes = 1}),
      describe(AttentionWork{.heads = 8, .kv_heads = 8, .element_bytes = 4, .kv_bytes = 4}),
      describe(AttentionWork{.heads = 8, .kv_heads = 8, .mask_bytes = 7}),
      describe(AttentionWork{.heads = 8, .kv_heads = 8, .window = 4}),
      describe(PointwiseWork{.elements = 10, .forward_bytes = 80}),
      describe(PointwiseWork{.elements = 10, .forward_bytes = 80, .placed = 10}),
      describe(PointwiseWork{.elements = 10, .forward_bytes = 80, .gated_rows = 2}),
      describe(PointwiseWork{.elements = 10, .forward_bytes = 80, .in_place = 1})};
  EXPECT_EQ(labels.size(), 23U);
}

}  // namespace
}  // namespace joulecast
