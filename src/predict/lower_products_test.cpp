// SPDX-License-Identifier: Apache-2.0
// What PyTorch makes of convolutions, products and attention whose operands lie or look otherwise than usual.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/saturating.h"
#include "joulecast/predict.h"
#include "predict/lower.h"

namespace joulecast {
namespace {

std::vector<LoweredOperation> lowered(std::string_view text, const PrepareOptions& options = {}) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto load = prepare(*graph, {}, options);
  EXPECT_TRUE(load) << load.error().text();
  return load ? load->operations : std::vector<LoweredOperation>{};
}

// The first work of its kind.
template <typename W>
W first(const std::vector<LoweredOperation>& operations) {
  for (const LoweredOperation& operation : operations) {
    if (const auto* work = std::get_if<W>(&operation.work)) return *work;
  }
  ADD_FAILURE() << "no such work";
  return W{};
}

struct Kernels {
  std::int64_t count = 0, forward = 0, backward = 0;  // executions, bytes
  bool operator==(const Kernels&) const = default;
};
void PrintTo(const Kernels& k, std::ostream* out) {
  *out << k.count << " kernels, " << k.forward << " and " << k.backward << " bytes";
}

Kernels of(PointwiseKind kind, const std::vector<LoweredOperation>& operations) {
  Kernels sum;
  for (const LoweredOperation& operation : operations) {
    const auto* work = std::get_if<PointwiseWork>(&operation.work);
    if (work == nullptr || work->kind != kind) continue;
    sum.count += operation.count;
    sum.forward = saturating_sum(sum.forward, saturating_product(operation.count, work->forward_bytes));
    sum.backward = saturating_sum(sum.backward, saturating_product(operation.count, work->backward_bytes));
  }
  return sum;
}
Kernels copies(const std::vector<LoweredOperation>& operations) {
  return of(PointwiseKind::kCopy, operations);
}

// [batch, time, channels], turned for a convolution of one axis and back for a layer: 4096 bytes each. PyTorch copies
// both, and the convolution runs channels-first whatever the model's layout.
TEST(LowerProducts, ConvolutionsOfOneAxisAreNeverChannelsLast) {
  constexpr std::string_view kText = R"(graph "t" {
    input %x : f32[2, 16, 32]
    parameter %w : f32[32, 32, 3]
    parameter %v : f32[32, 32]
    %t = transpose(%x) {order = [0, 2, 1]}
    %c = conv(%t, %w) {padding_begin = [1], padding_end = [1]}
    %u = transpose(%c) {order = [0, 2, 1]}
    %y = linear(%u, %v)
    output %y
  })";
  for (const Layout layout : {Layout::kChannelsFirst, Layout::kChannelsLast}) {
    const auto operations = lowered(kText, {.precision = {}, .layout = layout});
    EXPECT_FALSE(first<ConvWork>(operations).channels_last);
    EXPECT_EQ(copies(operations), (Kernels{2, 4 * 4096, 0}));
  }
  // A compiled kernel writes in the order that the convolution wants; the layer's copy stays.
  EXPECT_EQ(copies(lowered(kText, {.precision = {}, .runtime = Runtime::kPytorchCompiled})).count, 1);
}

// A group norm answers channels-first, and a model whose weights lie channels-last copies that back; images of one
// place lie both ways, and what enters the network the caller has turned.
TEST(LowerProducts, ChannelsLastCopiesWhatComesChannelsFirst) {
  const auto of_size = [](int size, Layout layout, Runtime runtime = Runtime::kPytorchEager) {
    return copies(lowered(fmt::format(R"(graph "g" {{
      input %x : f32[2, 32, {0}, {0}]
      parameter %w : f32[32, 32, 1, 1]
      parameter %s : f32[32]
      parameter %b : f32[32]
      %a = conv(%x, %w)
      %n = group_norm(%a, %s, %b) {{groups = 8}}
      %y = conv(%n, %w)
      output %y
    }})",
                                      size),
                          {.precision = {}, .runtime = runtime, .layout = layout}));
  };
  constexpr std::int64_t kImage = 2 * 32 * 16 * 4;
  EXPECT_EQ(of_size(4, Layout::kChannelsLast), (Kernels{2, 4 * kImage, 0}));
  EXPECT_EQ(of_size(4, Layout::kChannelsFirst), (Kernels{}));
  EXPECT_EQ(of_size(1, Layout::kChannelsLast).count, 1);
  EXPECT_EQ(of_size(4, Layout::kChannelsLast, Runtime::kPytorchCompiled).count, 0);
}

// Of so many places of the input one begins a window: both strides count, and the larger one is "the" stride.
TEST(LowerProducts, StridesOfAllAxesCount) {
  const auto conv = [](std::string_view input, std::string_view weight, std::string_view stride) {
    return first<ConvWork>(
        lowered(fmt::format("graph \"s\" {{\ninput %x : f32[{}]\nparameter %w : f32[{}]\n"
                            "%y = conv(%x, %w) {{stride = [{}]}}\noutput %y\n}}",
                            input, weight, stride)));
  };
  const ConvWork high = conv("2, 8, 16, 16", "8, 8, 2, 1", "2, 1"), wide = conv("2, 8, 16, 16", "8, 8, 1, 2", "1, 2");
  EXPECT_EQ(high.stride, 2);
  EXPECT_EQ(wide.stride, 2);
  EXPECT_EQ(places_of_stride(high), 2.0);
  EXPECT_EQ(places_of_stride(wide), 2.0);
  EXPECT_EQ(places_of_stride(conv("2, 8, 16, 16", "8, 8, 2, 2", "2, 2")), 4.0);
  EXPECT_EQ(places_of_stride(conv("2, 8, 64", "8, 8, 16", "8")), 8.0);
  EXPECT_EQ(places_of_stride(conv("2, 8, 4, 16, 16", "8, 8, 1, 2, 2", "1, 2, 2")), 4.0);
}

// at::matmul: what has a batch times one matrix, or one vector, is one product.
TEST(LowerProducts, ABatchTimesOneMatrixIsOneProduct) {
  const auto product = [](std::string_view a, std::string_view b) {
    return first<GemmWork>(
        lowered(fmt::format("graph \"m\" {{\ninput %a : f32[{}]\ninput %b : f32[{}]\n"
                            "%c = activation(%b) {{kind = relu}}\n%y = matmul(%a, %c)\noutput %y\n}}",
                            a, b)));
  };
  const auto is = [](const GemmWork& work, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    EXPECT_EQ(work.batch, batch);
    EXPECT_EQ(work.rows, rows);
    EXPECT_EQ(work.columns, columns);
  };
  is(product("4, 5, 16", "16, 8"), 1, 20, 8);
  is(product("4, 5, 16", "16"), 1, 20, 1);
  is(product("5, 16", "16"), 1, 5, 1);
  is(product("16", "16"), 1, 1, 1);
  is(product("4, 5, 16", "4, 16, 8"), 4, 5, 8);
  is(product("5, 16", "4, 16, 8"), 4, 5, 8);
}

// Whether a network of q, k, v and whatever masks them runs as one kernel.
bool is_fused(int key_heads, std::string_view element, std::string_view mask, int head = 32, int value = 32) {
  const auto operations = lowered(fmt::format(
      "graph \"a\" {{\ninput %q : {0}[2, 8, 16, {3}]\ninput %k : {0}[2, {1}, 16, {3}]\n"
      "input %v : {0}[2, {1}, 16, {4}]\ninput %m : {0}[16, 16]\n%y = attention(%q, %k, %v{2})\noutput %y\n}}",
      element, key_heads, mask, head, value));
  return operations.size() == 1 && std::holds_alternative<AttentionWork>(operations[0].work);
}

// Grouped queries are FlashAttention's alone, which takes halves without a mask.
TEST(LowerProducts, FewerHeadsOfKeysFallBackWithoutFlashAttention) {
  EXPECT_TRUE(is_fused(2, "bf16", ""));
  EXPECT_FALSE(is_fused(2, "f32", ""));
  EXPECT_FALSE(is_fused(2, "bf16", ", %m"));
  EXPECT_TRUE(is_fused(8, "f32", ""));
  EXPECT_TRUE(is_fused(8, "bf16", ", %m"));
  EXPECT_TRUE(is_fused(2, "bf16", "", 256, 256));
  EXPECT_FALSE(is_fused(2, "bf16", "", 264, 264));
  EXPECT_FALSE(is_fused(2, "bf16", "", 32, 16));
  EXPECT_TRUE(is_fused(8, "bf16", "", 32, 16));
}

// Keys and values are written out once for each head of the queries: 2 x 2 x 16 x 32 numbers become four times as many.
TEST(LowerProducts, WhoFallsBackRepeatsTheKeys) {
  const auto text = [](int heads) {
    return fmt::format(
        "graph \"a\" {{\ninput %q : f32[2, 8, 16, 32]\ninput %k : f32[2, {0}, 16, 32]\n"
        "input %v : f32[2, {0}, 16, 32]\ninput %m : f32[16, 16]\n%y = attention(%q, %k, %v, %m)\n"
        "output %y\n}}",
        heads);
  };
  const auto operations = lowered(text(2));
  constexpr std::int64_t kKeys = 2 * 2 * 16 * 32 * 4;
  EXPECT_EQ(copies(operations), (Kernels{2, 2 * 5 * kKeys, 0}));
  const GemmWork scores = first<GemmWork>(operations);
  EXPECT_EQ(scores.batch, 16);
}

// Heads of a size that only a hostile file has.
TEST(LowerProducts, RepeatedKeysBeyondCountingAreTheMost) {
  const auto operations = lowered(R"(graph "h" {
    input %q : f32[1, 65536, 1, 8388608]
    input %k : f32[1, 1, 16777216, 8388608]
    input %v : f32[1, 1, 16777216, 8388608]
    %y = attention(%q, %k, %v)
    output %y
  })");
  for (const LoweredOperation& operation : operations) {
    if (const auto* work = std::get_if<PointwiseWork>(&operation.work)) {
      EXPECT_GE(work->elements, 0);
      EXPECT_GE(work->forward_bytes, 0);
    }
  }
  EXPECT_EQ(copies(operations).count, 2);
}

// Booleans are turned round and become numbers of the query's type, 2 or 4 bytes each.
TEST(LowerProducts, AMaskOfBooleansIsConverted) {
  constexpr std::string_view kText = R"(graph "a" {
    input %q : f32[2, 8, 16, 32]
    input %k : f32[2, 8, 16, 32]
    input %v : f32[2, 8, 16, 32]
    input %m : bool[16, 16]
    %y = attention(%q, %k, %v, %m)
    output %y
  })";
  const auto eager = lowered(kText), compiled = lowered(kText, {.precision = {}, .runtime = Runtime::kPytorchCompiled});
  EXPECT_EQ(first<AttentionWork>(eager).mask_bytes, 16 * 16 * 4);
  EXPECT_EQ(of(PointwiseKind::kOther, eager), (Kernels{2, 16 * 16 * (2 + 5), 0}));
  EXPECT_EQ(of(PointwiseKind::kOther, compiled), (Kernels{1, 16 * 16 * 5, 0}));
}

// 2 x 4 numbers seen 16 times over are read once, whoever reads them; what repeats nothing lies as before.
TEST(LowerProducts, WhatIsExpandedIsReadOnce) {
  const auto expanded = [](std::string_view from, std::string_view then) {
    return lowered(fmt::format(R"(graph "e" {{
      input %x : f32[{}]
      input %a : f32[2, 16, 4]
      constant %shape : i64[3] = [2, 16, 4]
      constant %flat : i64[2] = [32, 4]
      %e = expand(%x, %shape)
      {}
      output %y
    }})",
                               from, then));
  };
  constexpr std::int64_t kAll = 2 * 16 * 4 * 4, kOnce = 2 * 4 * 4;
  constexpr std::string_view kSum = "%y = binary(%a, %e) {kind = add}", kFlat = "%y = reshape(%e, %flat)";
  EXPECT_EQ(of(PointwiseKind::kAdd, expanded("2, 1, 4", kSum)).forward, 2 * kAll + kOnce);
  EXPECT_EQ(of(PointwiseKind::kAdd, expanded("2, 16, 4", kSum)).forward, 3 * kAll);
  EXPECT_EQ(copies(expanded("2, 1, 4", kFlat)).forward, kAll + kOnce);
  EXPECT_EQ(copies(expanded("2, 16, 4", kFlat)).count, 0);
}

// x sigmoid(1.702 x) has three kernels where nobody fuses them, and on the way back five: of both factors, of the gate,
// of the scale, and the sum of both ways to x.
TEST(LowerProducts, QuickGeluIsThreeKernels) {
  constexpr std::string_view kText = R"(graph "q" {
    input %x : f32[32, 32]
    parameter %w : f32[32, 32]
    %h = linear(%x, %w)
    %y = activation(%h) {kind = quick_gelu}
    output %y
  })";
  const auto training = lowered(kText, {.mode = Mode::kTraining, .precision = {}});
  EXPECT_EQ(of(PointwiseKind::kMulScalar, training), (Kernels{1, 2 * 4096, 2 * 4096}));
  EXPECT_EQ(of(PointwiseKind::kSigmoid, training), (Kernels{1, 2 * 4096, 3 * 4096}));
  EXPECT_EQ(of(PointwiseKind::kMul, training), (Kernels{1, 3 * 4096, 6 * 4096}));
  EXPECT_EQ(of(PointwiseKind::kAdd, training), (Kernels{1, 3 * 4096, 0}));
  EXPECT_EQ(of(PointwiseKind::kAdd, lowered(kText)).count, 0);
  EXPECT_EQ(lowered(kText, {.precision = {}, .runtime = Runtime::kTensorflow}).size(), 2U);
}

// The gradient of a mean is written once, that of a sum is the result's, and a maximum's looks for its places.
TEST(LowerProducts, GradientsOfReductions) {
  const auto gradient = [](std::string_view kind, Mode mode = Mode::kTraining,
                           Runtime runtime = Runtime::kPytorchEager) {
    const std::string text = fmt::format(
        "graph \"r\" {{\ninput %x : f32[8, 64]\nconstant %axes : i64[1] = [1]\n"
        "%y = reduce(%x, %axes) {{kind = {}}}\noutput %y\n}}",
        kind);
    return first<ReductionWork>(lowered(text, {.mode = mode, .precision = {}, .runtime = runtime})).gradient;
  };
  EXPECT_EQ(gradient("mean"), ReductionGradient::kOneKernel);
  EXPECT_EQ(gradient("sum"), ReductionGradient::kView);
  EXPECT_EQ(gradient("max"), ReductionGradient::kTwoKernels);
  EXPECT_EQ(gradient("sum", Mode::kTraining, Runtime::kTensorflow), ReductionGradient::kOneKernel)
      << "it writes it out";
  EXPECT_EQ(gradient("mean", Mode::kInference), gradient("sum", Mode::kInference)) << "nothing to tell apart";
}

}  // namespace
}  // namespace joulecast
