// SPDX-License-Identifier: Apache-2.0
// Kernels that torch.compile makes of graphs in text form; bytes worked out by hand.
#include "predict/fuse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "joulecast/predict.h"

namespace joulecast {
namespace {

std::vector<LoweredOperation> compiled(std::string_view text, Mode mode = Mode::kInference) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto load = prepare(*graph, {}, {.mode = mode, .precision = {}, .runtime = Runtime::kPytorchCompiled});
  EXPECT_TRUE(load) << load.error().text();
  return load ? load->operations : std::vector<LoweredOperation>{};
}

// Bytes of every fused kernel, each as often as it runs.
std::vector<std::int64_t> fused(const std::vector<LoweredOperation>& operations) {
  std::vector<std::int64_t> out;
  for (const LoweredOperation& operation : operations) {
    const auto* work = std::get_if<PointwiseWork>(&operation.work);
    if (work == nullptr) continue;
    EXPECT_EQ(work->kind, PointwiseKind::kFused);
    out.insert(out.end(), static_cast<std::size_t>(operation.count), work->forward_bytes);
  }
  return out;
}

constexpr std::int64_t kImage = 2L * 64 * 8 * 8 * 4;  // bytes of [2, 64, 8, 8]
constexpr std::int64_t kVector = 64L * 4;             // of [64]

TEST(Fusion, ElementwiseWorkAfterAConvolutionIsOneKernel) {
  const auto operations = compiled(R"(graph "n" {
    input %x : f32[2, 64, 8, 8]
    parameter %w : f32[64, 64, 1, 1]
    parameter %b : f32[64]
    parameter %s : f32[64]
    %c = conv(%x, %w, %b)
    %n = batch_norm(%c, %s, %s, %s, %s)
    %r = activation(%n) {kind = relu}
    %y = binary(%r, %x) {kind = add}
    output %y
  })");
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_EQ(std::get<ConvWork>(operations[0].work).bias, 0);  // the kernel after it adds the bias
  // Reads the convolution's result, the statistics and the image, writes the sum.
  EXPECT_EQ(fused(operations), std::vector<std::int64_t>{3 * kImage + kVector});
}

// 1024 samples of a vocabulary of 50,257: the logits' shares are never written. Rows so long are read once for their
// sums; backward reads them again and writes their gradient.
TEST(Fusion, ALossPicksFromSharesThatNobodyWrites) {
  const auto operations = compiled(R"(graph "n" {
    input %x : f32[1024, 50257]
    input %t : i64[1024, 1]
    %s = softmax(%x) {axis = 1, log = true}
    %p = gather(%s, %t) {kind = elements, axis = 1}
    %y = reduce(%p) {kind = mean}
    output %y
  })");
  constexpr std::int64_t kLogits = 1024L * 50257 * 4, kPicked = 1024L * 4;
  EXPECT_EQ(fused(operations), (std::vector<std::int64_t>{kLogits, kPicked + 4}));
}

// Halves of 50,257 columns are filled up to 50,264, and so is the weight, in a copy; not where too few rows read it for
// that to pay, nor in FP32.
TEST(Fusion, LongProductsAreFilledUpToWholeVectors) {
  const auto columns = [](int rows, Precision precision, std::int64_t& copied) {
    const auto graph = parse_graph(fmt::format(R"(graph "n" {{
      input %x : f32[{}, 768]
      parameter %w : f32[50257, 768]
      %y = linear(%x, %w)
      output %y
    }})",
                                               rows));
    EXPECT_TRUE(graph) << graph.error().text();
    const auto load = prepare(*graph, {}, {.precision = precision, .runtime = Runtime::kPytorchCompiled});
    EXPECT_TRUE(load) << load.error().text();
    copied = 0;
    std::int64_t out = 0;
    for (const LoweredOperation& operation : load->operations) {
      if (const auto* gemm = std::get_if<GemmWork>(&operation.work)) out = gemm->columns;
      if (const auto* copy = std::get_if<PointwiseWork>(&operation.work)) copied += copy->forward_bytes;
    }
    return out;
  };
  std::int64_t copied = 0;
  EXPECT_EQ(columns(1024, Precision::kBf16, copied), 50264);
  EXPECT_EQ(copied, 2L * 2 * 50264 * 768);
  EXPECT_EQ(columns(511, Precision::kBf16, copied), 50257);
  EXPECT_EQ(copied, 0);
  EXPECT_EQ(columns(1024, Precision::kFp32, copied), 50257);
}

TEST(Fusion, WhatAConvolutionReadsIsWritten) {
  const auto operations = compiled(R"(graph "n" {
    input %x : f32[2, 64, 8, 8]
    parameter %w : f32[64, 64, 1, 1]
    %c = conv(%x, %w)
    %r = activation(%c) {kind = relu}
    %d = conv(%r, %w)
    %y = binary(%d, %r) {kind = add}
    output %y
  })");
  // ReLU: reads and writes. The sum comes after the second convolution: another kernel, which reads both.
  EXPECT_EQ(fused(operations), (std::vector<std::int64_t>{2 * kImage, 3 * kImage}));
}

// Two convolutions behind a ReLU each, of the same image: the compiler makes it once, PyTorch by itself twice.
TEST(Fusion, WhatIsEqualIsComputedOnce) {
  constexpr std::string_view kText = R"(graph "n" {
    input %x : f32[2, 64, 8, 8]
    parameter %w : f32[64, 64, 1, 1]
    parameter %v : f32[64, 64, 1, 1]
    %a = activation(%x) {kind = relu}
    %b = activation(%x) {kind = relu}
    %c = conv(%a, %w)
    %d = conv(%b, %v)
    output %c
    output %d
  })";
  EXPECT_EQ(fused(compiled(kText)), std::vector<std::int64_t>{2 * kImage});
  const auto eager = prepare(parse_graph(kText).value(), {}, {});
  ASSERT_TRUE(eager);
  const auto relu = std::find_if(eager->operations.begin(), eager->operations.end(), [](const LoweredOperation& one) {
    return std::holds_alternative<PointwiseWork>(one.work);
  });
  ASSERT_NE(relu, eager->operations.end());
  EXPECT_EQ(relu->count, 2);
}

TEST(Fusion, BothSidesOfASumJoin) {
  const auto operations = compiled(R"(graph "n" {
    input %x : f32[2, 64, 8, 8]
    parameter %w : f32[64, 64, 1, 1]
    parameter %v : f32[64, 64, 1, 1]
    %c = conv(%x, %w)
    %d = conv(%x, %v)
    %a = activation(%c) {kind = relu}
    %b = activation(%d) {kind = sigmoid}
    %y = binary(%a, %b) {kind = mul}
    output %y
  })");
  EXPECT_EQ(fused(operations), std::vector<std::int64_t>{3 * kImage});
}

// Squeeze and excitation: the mean joins the activation before it, its gate the product after it.
TEST(Fusion, AReductionEndsAKernel) {
  const auto operations = compiled(R"(graph "n" {
    input %x : f32[2, 64, 8, 8]
    parameter %w : f32[64, 64, 1, 1]
    %c = conv(%x, %w)
    %r = activation(%c) {kind = relu}
    %p = adaptive_pool(%r) {size = [1, 1]}
    %f = conv(%p, %w)
    %g = activation(%f) {kind = sigmoid}
    %y = binary(%r, %g) {kind = mul}
    output %y
  })");
  constexpr std::int64_t kMeans = 2 * kVector;
  EXPECT_EQ(fused(operations), (std::vector<std::int64_t>{2 * kImage + kMeans, 2 * kImage + kMeans}));
}

TEST(Fusion, NormsOfRowsAreAsGoodAsElementwiseWork) {
  const auto operations = compiled(R"(graph "n" {
    input %x : f32[16, 128]
    parameter %w : f32[128, 128]
    parameter %s : f32[128]
    %a = linear(%x, %w)
    %b = binary(%a, %x) {kind = add}
    %n = layer_norm(%b, %s, %s)
    %c = linear(%n, %w)
    %y = binary(%c, %b) {kind = add}
    output %y
  })");
  constexpr std::int64_t kRows = 16 * 128 * 4;
  // Sum and norm in one kernel: two tensors in, both results out, since the last sum reads the first one.
  EXPECT_EQ(fused(operations), (std::vector<std::int64_t>{4 * kRows + 128 * 4, 3 * kRows}));
}

TEST(Fusion, LongRowsAreReadTwice) {
  const auto operations = compiled(R"(graph "n" {
    input %x : f32[2, 64, 64, 64]
    parameter %s : f32[64]
    %y = group_norm(%x, %s, %s) {groups = 1}
    output %y
  })");
  constexpr std::int64_t kLarge = 2L * 64 * 64 * 64 * 4;
  const auto bytes = fused(operations);
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{kLarge + kVector, 2 * kLarge + kVector}));
}

TEST(Fusion, ViewsBetweenOurOwnKernelsCostNothing) {
  const auto operations = compiled(R"(graph "n" {
    input %x : f32[4, 16, 32]
    parameter %w : f32[64, 64]
    constant %s : i64[2] = [32, 64]
    %a = activation(%x) {kind = relu}
    %t = transpose(%a) {order = [1, 0, 2]}
    %r = reshape(%t, %s)
    %y = linear(%r, %w)
    output %y
  })");
  EXPECT_EQ(fused(operations), std::vector<std::int64_t>{2 * 4 * 16 * 32 * 4});
}

Layout layout_of(std::string_view text, Mode mode) {
  const Graph graph = parse_graph(text).value();
  return compiled_layout(graph, infer_types(graph, {}).value(), mode);
}

// Weighted by Inductor's figures: 0.823 < 1 for a dense convolution, 1.358 > 1 for groups of several channels.
TEST(CompiledLayout, IsChannelsLastWhereThatPays) {
  constexpr std::string_view kDense = R"(graph "n" {
    input %x : f32[2, 128, 8, 8]
    parameter %w : f32[128, 128, 3, 3]
    %y = conv(%x, %w)
    output %y
  })";
  constexpr std::string_view kGrouped = R"(graph "n" {
    input %x : f32[2, 128, 8, 8]
    parameter %w : f32[128, 4, 3, 3]
    %y = conv(%x, %w) {groups = 32}
    output %y
  })";
  constexpr std::string_view kNone = R"(graph "n" {
    input %x : f32[2, 128]
    parameter %w : f32[128, 128]
    %y = linear(%x, %w)
    output %y
  })";
  for (const Mode mode : {Mode::kInference, Mode::kTraining}) {
    EXPECT_EQ(layout_of(kDense, mode), Layout::kChannelsLast);
    EXPECT_EQ(layout_of(kGrouped, mode), Layout::kChannelsFirst);
    EXPECT_EQ(layout_of(kNone, mode), Layout::kChannelsFirst);
  }
}

}  // namespace
}  // namespace joulecast
