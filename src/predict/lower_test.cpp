// SPDX-License-Identifier: Apache-2.0
// What a runtime makes of graphs in text form.
#include "predict/lower.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "joulecast/predict.h"
#include "predict/lower_attention.h"
#include "predict/physics.h"

namespace joulecast {
namespace {

std::vector<LoweredOperation> lowered(std::string_view text, Mode mode = Mode::kInference,
                                      Precision precision = Precision::kTf32) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto load = prepare(*graph, {}, {.mode = mode, .precision = precision});
  EXPECT_TRUE(load) << load.error().text();
  return load ? load->operations : std::vector<LoweredOperation>{};
}

template <typename W>
const W* only(const std::vector<LoweredOperation>& operations) {
  return operations.size() == 1 ? std::get_if<W>(&operations[0].work) : nullptr;
}

// Slices of rows joined again, as rotary embeddings do; whole rows, other axes and whoever fuses them are plain copies.
TEST(Lower, PartsOfRowsAreJoinedElementByElement) {
  const auto placed = [](std::string_view from, int axis, Runtime runtime, int row = 16) {
    const auto graph = parse_graph(fmt::format(R"(graph "r" {{
      input %x : f32[4, 8, {}]
      constant %a : i64[1] = [0]
      constant %b : i64[1] = [{}]
      constant %axis : i64[1] = [{}]
      %part = slice(%x, %a, %b, %axis)
      %y = concat({}, {}) {{axis = {}}}
      output %y
    }})",
                                               row, row / 2, axis < 0 ? 2 : axis, from, from, axis));
    EXPECT_TRUE(graph) << graph.error().text();
    const auto load =
        prepare(*graph, {}, {.mode = Mode::kInference, .precision = Precision::kTf32, .runtime = runtime});
    const auto* work = load ? only<PointwiseWork>(load->operations) : nullptr;
    EXPECT_NE(work, nullptr);
    return work == nullptr ? -1 : work->placed;
  };
  EXPECT_EQ(placed("%part", 2, Runtime::kPytorchEager), 4 * 8 * 16);
  EXPECT_EQ(placed("%part", -1, Runtime::kCudaGraph), 4 * 8 * 16);
  EXPECT_EQ(placed("%part", 2, Runtime::kPytorchEager, 256), 0);
  EXPECT_EQ(placed("%x", 2, Runtime::kPytorchEager), 0);
  EXPECT_EQ(placed("%part", 1, Runtime::kPytorchEager), 0);
  EXPECT_EQ(placed("%part", 2, Runtime::kTensorflow), 0);
}

// Forward and backward bytes of kernels, in their order; a softmax's are of one pass over it.
std::vector<std::pair<std::int64_t, std::int64_t>> bytes_of(const std::vector<LoweredOperation>& operations) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (const LoweredOperation& operation : operations) {
    if (const auto* work = std::get_if<PointwiseWork>(&operation.work))
      out.insert(out.end(), static_cast<std::size_t>(operation.count), {work->forward_bytes, work->backward_bytes});
    if (const auto* work = std::get_if<ReductionWork>(&operation.work))
      out.emplace_back(work->in_elements * work->element_bytes, 0);
  }
  return out;
}

// 32 numbers. FP16 goes straight into the softmax in FP32 and what comes out is cast back; BF16 is copied before.
TEST(Lower, ASoftmaxAskedForInFloatIsSoOfHalves) {
  constexpr std::string_view kText = R"(graph "s" {
    input %x : f32[4, 8]
    %y = softmax(%x) {axis = -1, in_float = true}
    output %y
  })";
  using Bytes = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(bytes_of(lowered(kText, Mode::kInference, Precision::kFp32)), (Bytes{{128, 0}}));
  EXPECT_EQ(bytes_of(lowered(kText, Mode::kInference, Precision::kFp16)), (Bytes{{128, 0}, {192, 0}}));
  EXPECT_EQ(bytes_of(lowered(kText, Mode::kInference, Precision::kBf16)),
            (Bytes{{192, 0}, {192, 0}, {128, 0}}));  // equal ones count together
}

// What the graph has in FP16 comes out in FP32, and nothing casts it back.
TEST(Lower, TheResultOfASoftmaxInFloatIsFloat) {
  const auto operations = lowered(R"(graph "s" {
    input %x : f16[4, 8]
    %y = softmax(%x) {axis = -1, in_float = true}
    %z = activation(%y) {kind = relu}
    output %z
  })");
  using Bytes = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(bytes_of(operations), (Bytes{{128, 0}, {256, 0}}));
}

// 32 numbers in FP32 and a mask of 8 bytes, scalars of 4: a choice reads and writes them, masked_fill copies them
// first. Their gradients go the same way, where somebody wants them.
TEST(Lower, MaskedFillCopiesWhatItFills) {
  const auto bytes = [](std::string_view filled, std::string_view of, Mode mode) {
    return bytes_of(lowered(fmt::format(R"(graph "m" {{
      input %x : f32[4, 8]
      input %c : bool[8]
      parameter %w : f32[8, 8]
      constant %v : f32 = 1.0
      %h = linear(%x, %w)
      %y = where(%c, %v, {}) {{filled = {}}}
      output %y, %h
    }})",
                                        of, filled),
                            mode));
  };
  constexpr std::int64_t kAll = 128, kRead = kAll + 8 + 4;
  using Bytes = std::pair<std::int64_t, std::int64_t>;
  const auto chosen = bytes("false", "%h", Mode::kTraining);
  EXPECT_EQ(chosen, (std::vector<Bytes>{{kRead + kAll, (kAll + 8) + (kAll + 4)}}));
  const auto filled = bytes("true", "%h", Mode::kTraining);
  EXPECT_EQ(filled, (std::vector<Bytes>{{kRead + kAll, (kAll + 8) + (kAll + 4)}, {2 * kAll, 2 * kAll}}));
  const auto unwanted = bytes("true", "%x", Mode::kTraining);
  EXPECT_EQ(unwanted, (std::vector<Bytes>{{kRead + kAll, 0}, {2 * kAll, 0}}));
}

// The pool of a graph has windows of so many numbers.
std::int64_t window_of(std::string_view input, std::string_view kernel) {
  const auto operations = lowered(fmt::format(
      "graph \"n\" {{\ninput %x : f32[{}]\n%y = pool(%x) {{kind = average, kernel = [{}], same_padding = true}}\n"
      "output %y\n}}",
      input, kernel));
  const auto* pool = only<ReductionWork>(operations);
  EXPECT_NE(pool, nullptr);
  return pool != nullptr ? pool->window : 0;
}

TEST(Lower, WindowsReachNoFurtherThanTheImage) {
  EXPECT_EQ(window_of("2, 8, 16", "5"), 5);
  EXPECT_EQ(window_of("2, 8, 16, 12", "3, 2"), 6);
  EXPECT_EQ(window_of("2, 8, 4, 16, 12", "2, 3, 2"), 12);
  EXPECT_EQ(window_of("2, 8, 4, 6", "1000, 5"), 20);
  EXPECT_EQ(window_of("2, 8, 4, 4, 4", "1073741824, 1073741824, 1073741824"), 64);
}

TEST(Lower, ViewsCostNothing) {
  EXPECT_TRUE(lowered(R"(graph "v" {
    input %x : f32[2, 3, 4, 5]
    constant %s : i64[2] = [2, 60]
    %a = transpose(%x) {order = [0, 2, 3, 1]}
    %r = reshape(%x, %s)
    %f = flatten(%x)
    output %a, %r, %f
  })")
                  .empty());
}

TEST(Lower, SmoothEnlargingGoesOverImagesAndChannelsInTurn) {
  const auto in_turn = [](std::string_view kind, Runtime runtime) {
    const auto graph = parse_graph(fmt::format(R"(graph "r" {{
      input %x : f32[4, 8, 7, 7]
      constant %s : f32[2] = [2.0, 2.0]
      %y = resize(%x, %s) {{kind = {}, axes = [2, 3]}}
      output %y
    }})",
                                               kind));
    EXPECT_TRUE(graph) << graph.error().text();
    const auto load =
        prepare(*graph, {}, {.mode = Mode::kInference, .precision = Precision::kTf32, .runtime = runtime});
    const auto* work = load ? only<PointwiseWork>(load->operations) : nullptr;
    EXPECT_NE(work, nullptr);
    return work == nullptr ? -1 : work->in_turn;
  };
  EXPECT_EQ(in_turn("linear", Runtime::kPytorchEager), 32);
  EXPECT_EQ(in_turn("cubic", Runtime::kCudaGraph), 32);
  EXPECT_EQ(in_turn("nearest", Runtime::kPytorchEager), 0);
  EXPECT_EQ(in_turn("linear", Runtime::kTensorflow), 0);
}

// All tokens but the first as an image: its channels lie side by side, and another kernel enlarges it.
TEST(Lower, TokensAreEnlargedAsTheyLie) {
  const auto found = lowered(R"(graph "t" {
    input %x : f32[4, 50, 32]
    constant %one : i64[1] = [1]
    constant %end : i64[1] = [50]
    constant %image : i64[4] = [4, 32, 7, 7]
    constant %twice : f32[2] = [2.0, 2.0]
    %p = slice(%x, %one, %end, %one)
    %t = transpose(%p) {order = [0, 2, 1]}
    %i = reshape(%t, %image)
    %y = resize(%i, %twice) {kind = linear, axes = [2, 3]}
    output %y
  })");
  ASSERT_NE(only<PointwiseWork>(found), nullptr);
  EXPECT_EQ(only<PointwiseWork>(found)->in_turn, 0);
}

TEST(Lower, OneFixedIndexIsAViewAndSeveralAreACopy) {
  EXPECT_TRUE(lowered(R"(graph "v" {
    input %x : f32[3, 8]
    constant %i : i64 = 1
    %y = gather(%x, %i)
    output %y
  })")
                  .empty());
  const auto operations = lowered(R"(graph "v" {
    input %x : f32[3, 8]
    constant %i : i64[2] = [1, 0]
    %y = gather(%x, %i)
    output %y
  })");
  EXPECT_NE(only<PointwiseWork>(operations), nullptr);
}

TEST(Lower, ReshapingAStridedTensorCopiesIt) {
  const auto operations = lowered(R"(graph "v" {
    input %x : f32[2, 3, 4]
    constant %s : i64[1] = [24]
    %a = transpose(%x) {order = [2, 0, 1]}
    %r = reshape(%a, %s)
    output %r
  })");
  const auto* copy = only<PointwiseWork>(operations);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->kind, PointwiseKind::kCopy);
  EXPECT_EQ(copy->elements, 24);
  EXPECT_EQ(copy->forward_bytes, 2 * 24 * 4);
}

// A layer norm between permutations, as ConvNeXt has it: what follows lies channels-last, and stays so.
constexpr std::string_view kPermuted = R"(graph "p" {
    input %x : f32[2, 32, 8, 8]
    parameter %s : f32[32]
    parameter %w : f32[32, 32, 3, 3]
    %n = layer_norm(%x, %s, %s) {channels_first = true}
    %a = activation(%n) {kind = gelu}
    %y = conv(%a, %w)
    %z = conv(%y, %w)
    output %z
  })";

TEST(Lower, ConvolutionsTakeTheOrderTheirInputHas) {
  const auto operations = lowered(kPermuted);
  ASSERT_EQ(operations.size(), 5U);  // the copy that the norm needs comes first
  EXPECT_EQ(std::get<PointwiseWork>(operations[0].work).kind, PointwiseKind::kCopy);
  EXPECT_TRUE(std::get<ConvWork>(operations[3].work).channels_last);
  EXPECT_TRUE(std::get<ConvWork>(operations[4].work).channels_last);
}

TEST(Lower, BatchNormKnowsHowItsImagesLie) {
  const auto found = [&](Layout layout) {
    const auto load = prepare(parse_graph(R"(graph "b" {
      input %x : f32[2, 32, 8, 8]
      parameter %w : f32[32, 32, 3, 3]
      parameter %s : f32[32]
      %y = conv(%x, %w)
      %z = batch_norm(%y, %s, %s, %s, %s)
      output %z
    })")
                                  .value(),
                              {}, {.precision = {}, .layout = layout})
                          .value();
    return std::get<ReductionWork>(load.operations.at(1).work).channels_last;
  };
  EXPECT_FALSE(found(Layout::kChannelsFirst));
  EXPECT_TRUE(found(Layout::kChannelsLast));
}

TEST(Lower, WeightsThatLieChannelsLastDecideForTheConvolution) {
  constexpr std::string_view kConv = R"(graph "c" {
    input %x : f32[2, 32, 8, 8]
    parameter %w : f32[32, 32, 3, 3]
    %y = conv(%x, %w)
    output %y
  })";
  const auto found = [&](Layout layout) {
    const auto load = prepare(parse_graph(kConv).value(), {}, {.precision = {}, .layout = layout}).value();
    return std::get<ConvWork>(load.operations.at(0).work).channels_last;
  };
  EXPECT_FALSE(found(Layout::kChannelsFirst));
  EXPECT_TRUE(found(Layout::kChannelsLast));
}

// One product for all steps, then the recurrence and the projection of 7 steps.
TEST(Lower, ProjectionsAreAProductOfEveryStep) {
  const auto operations = lowered(R"(graph "v" {
    input %x : f32[7, 2, 3]
    parameter %w : f32[1, 20, 3]
    parameter %r : f32[1, 20, 4]
    parameter %p : f32[1, 4, 5]
    input %h : f32[1, 2, 4]
    input %c : f32[1, 2, 5]
    %y = rnn(%x, %w, %r, _, _, %h, %c, %p) {hidden = 5}
    output %y
  })");
  ASSERT_EQ(operations.size(), 3U);
  const auto* recurrence = std::get_if<GemmWork>(&operations[1].work);
  const auto* projection = std::get_if<GemmWork>(&operations[2].work);
  ASSERT_TRUE(recurrence != nullptr && projection != nullptr);
  EXPECT_EQ(std::tuple(recurrence->rows, recurrence->columns, recurrence->depth), std::tuple(2, 20, 4));
  EXPECT_EQ(std::tuple(projection->rows, projection->columns, projection->depth), std::tuple(2, 4, 5));
  EXPECT_EQ(std::tuple(recurrence->steps, projection->steps), std::tuple(7, 7));
  EXPECT_EQ(std::tuple(operations[0].calls, operations[1].calls), std::tuple(1, 0)) << "all within one call";
}

// Classifiers of sequences read the last state alone, of several outputs the second or third.
TEST(Lower, RecurrentLayersRunWhicheverStateIsRead) {
  const auto operations = [](std::string_view results, std::string_view read) {
    return lowered(fmt::format(R"(graph "r" {{
      input %x : f32[7, 2, 3]
      parameter %w : f32[1, 20, 3]
      parameter %r : f32[1, 20, 5]
      {} = rnn(%x, %w, %r) {{hidden = 5}}
      output {}
    }})",
                               results, read));
  };
  const auto all = operations("%y, %h, %c", "%y");
  EXPECT_EQ(all.size(), 2U);
  EXPECT_EQ(operations("_, %h, _", "%h"), all);
  EXPECT_EQ(operations("_, _, %c", "%c"), all);
}

TEST(Lower, RecurrentLayersOfNoStepsAreNothing) {
  EXPECT_TRUE(lowered(R"(graph "r" {
    input %x : f32[0, 2, 3]
    parameter %w : f32[1, 20, 3]
    parameter %r : f32[1, 20, 5]
    _, %h = rnn(%x, %w, %r) {hidden = 5}
    output %h
  })")
                  .empty());
}

// PyTorch lets cuDNN use TF32, in recurrent layers as in convolutions.
TEST(Lower, RecurrentLayersTakeTf32WhereConvolutionsDo) {
  constexpr std::string_view kLayer = R"(graph "r" {
    input %x : f32[7, 2, 3]
    parameter %w : f32[2, 15, 3]
    parameter %r : f32[2, 15, 5]
    %y = rnn(%x, %w, %r) {kind = gru, hidden = 5, directions = 2}
    output %y
  })";
  for (const auto& [precision, arithmetic] :
       {std::pair(Precision::kTf32, Arithmetic::kTf32), std::pair(Precision::kFp32, Arithmetic::kFp32)}) {
    const auto operations = lowered(kLayer, Mode::kInference, precision);
    ASSERT_EQ(operations.size(), 2U);
    for (const LoweredOperation& operation : operations) {
      EXPECT_EQ(arithmetic_of(operation.work), arithmetic);
      EXPECT_EQ(operation.count, 2) << "directions";
    }
  }
}

TEST(Lower, OfTopKPlacesAloneArePlaces) {
  const auto operations = lowered(R"(graph "k" {
    input %x : f32[4, 100]
    constant %k : i64[1] = [5]
    _, %i = top_k(%x, %k)
    output %i
  })");
  const auto* work = only<PointwiseWork>(operations);
  ASSERT_NE(work, nullptr);
  EXPECT_EQ(work->elements, 20);
}

TEST(Lower, CastsKeepTheOrder) {
  const auto operations = lowered(R"(graph "c" {
    input %x : f32[2, 3, 4]
    constant %s : i64[1] = [24]
    %a = transpose(%x) {order = [2, 0, 1]}
    %c = cast(%a) {to = f16}
    %r = reshape(%c, %s)
    output %r
  })");
  ASSERT_EQ(operations.size(), 2U);  // the cast, and the copy that the reshape needs
  EXPECT_EQ(std::get<PointwiseWork>(operations[1].work).forward_bytes, 2 * 24 * 2);
}

TEST(Lower, WhatFusedAttentionLeavesIsJoinedWithoutACopy) {
  const auto operations = lowered(R"(graph "a" {
    input %q : f32[2, 8, 16, 64]
    constant %s : i64[3] = [2, 16, 512]
    %y = attention(%q, %q, %q)
    %t = transpose(%y) {order = [0, 2, 1, 3]}
    %r = reshape(%t, %s)
    output %r
  })",
                                  Mode::kInference, Precision::kFp16);
  EXPECT_NE(only<AttentionWork>(operations), nullptr);
}

TEST(Lower, AttentionOverFewerKeysThanQueriesCostsThoseKeys) {
  const auto operations = lowered(R"(graph "a" {
    input %q : f32[2, 8, 256, 64]
    input %k : f32[2, 8, 4, 64]
    %y = attention(%q, %k, %k)
    output %y
  })",
                                  Mode::kInference, Precision::kFp16);
  const auto* work = only<AttentionWork>(operations);
  ASSERT_NE(work, nullptr);
  EXPECT_EQ(work->past + work->queries, 4);
}

constexpr std::string_view kAttention = R"(graph "a" {
    input %q : f32[2, 8, 16, 64]
    input %k : f32[2, 8, 32, 64]
    input %v : f32[2, 8, 32, 64]
    %y = attention(%q, %k, %v)
    output %y
  })";

TEST(Lower, FusedAttentionKeepsItsWindow) {
  std::string text(kAttention);
  text.replace(text.find("(%q, %k, %v)"), 12, "(%q, %k, %v) {causal = true, window = 7}");
  const auto operations = lowered(text, Mode::kInference, Precision::kFp16);
  const auto* work = only<AttentionWork>(operations);
  ASSERT_NE(work, nullptr);
  EXPECT_EQ(work->window, 7);
}

std::vector<LoweredOperation> attention_lowered(const PrepareOptions& options) {
  return prepare(parse_graph(kAttention).value(), {}, options).value().operations;
}

TEST(Lower, AttentionIsFusedInHalvesAndInFp32) {
  const auto half = attention_lowered({.precision = Precision::kFp16});
  const auto* fused = only<AttentionWork>(half);
  ASSERT_NE(fused, nullptr);
  EXPECT_EQ(fused->queries, 16);
  EXPECT_EQ(fused->past, 16);
  EXPECT_EQ(fused->element_bytes, 2);
  EXPECT_FALSE(fused->causal);
  EXPECT_EQ(fused->mask_bytes, 0);
  const auto full = attention_lowered({.precision = Precision::kTf32});
  const auto* fp32 = only<AttentionWork>(full);
  ASSERT_NE(fp32, nullptr);
  EXPECT_EQ(fp32->element_bytes, 4);
  EXPECT_EQ(fp32->kv_bytes, 4);
  EXPECT_EQ(fp32->arithmetic, Arithmetic::kFp32);
}

TEST(Lower, FusedAttentionReadsItsMask) {
  std::string text(kAttention);
  text.replace(text.find("%v)"), 3, "%v, %m)");
  text.replace(text.find("%y ="), 4, "input %m : f32[8, 16, 32]\n%y =");
  const auto half = prepare(parse_graph(text).value(), {}, {.precision = Precision::kBf16}).value().operations;
  const auto* fused = only<AttentionWork>(half);
  ASSERT_NE(fused, nullptr);
  EXPECT_EQ(fused->mask_bytes, 2 * 8 * 16 * 32);
  // One for each image, expanded to all heads.
  text.replace(text.find("f32[8, 16, 32]"), 14, "f32[2, 8, 16, 32]");
  const auto expanded = prepare(parse_graph(text).value(), {}, {.precision = Precision::kBf16}).value().operations;
  EXPECT_EQ(only<AttentionWork>(expanded)->mask_bytes, 2 * 8 * 16 * 32);
}

TEST(Lower, FusedAttentionKeepsTheWidthOfItsValues) {
  std::string text(kAttention);
  text.replace(text.find("%v : f32[2, 8, 32, 64]"), 22, "%v : f32[2, 8, 32, 96]");
  const auto operations = prepare(parse_graph(text).value(), {}, {.precision = Precision::kBf16}).value().operations;
  EXPECT_EQ(only<AttentionWork>(operations)->value_head, 96);
  EXPECT_EQ(only<AttentionWork>(attention_lowered({.precision = Precision::kBf16}))->value_head, 0);
}

// Before PyTorch 2.0, in TensorFlow and in FP64.
TEST(Lower, AttentionThatNobodyFusesRunsAsProducts) {
  const auto apart = attention_lowered({.precision = {}, .attention = AttentionKernels::kProducts});
  ASSERT_EQ(apart.size(), 4U);  // scaling, product, softmax, product
  const auto& scores = std::get<GemmWork>(apart[1].work);
  EXPECT_EQ(scores.batch, 16);
  EXPECT_EQ(scores.rows, 16);
  EXPECT_EQ(scores.columns, 32);
  EXPECT_EQ(scores.depth, 64);
  EXPECT_EQ(scores.arithmetic, Arithmetic::kFp32);
  EXPECT_EQ(std::get<ReductionWork>(apart[2].work).columns, 32);
  EXPECT_EQ(std::get<GemmWork>(apart[3].work).columns, 64);
  EXPECT_EQ(only<AttentionWork>(attention_lowered({.precision = {}, .runtime = Runtime::kTensorflow})), nullptr);
  EXPECT_EQ(only<AttentionWork>(attention_lowered({.precision = Precision::kFp64})), nullptr);
}

// The names of what it becomes, in order.
std::vector<std::string> parts_of_attention(const std::string& attributes, const PrepareOptions& options) {
  std::string text(kAttention);
  text.replace(text.find("%v)"), 3, "%v) {" + attributes + "}");
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto load = prepare(*graph, {}, options);
  EXPECT_TRUE(load) << load.error().text();
  std::vector<std::string> out;
  for (const LoweredOperation& operation : load->operations) {
    const auto* copy = std::get_if<PointwiseWork>(&operation.work);
    const auto* softmax = std::get_if<ReductionWork>(&operation.work);
    if (copy != nullptr) {
      const bool fused = copy->kind == PointwiseKind::kFused;
      out.emplace_back(fused ? "one kernel" : copy->kind == PointwiseKind::kCopy ? "cast" : "scale");
    }
    if (softmax != nullptr) out.push_back(fmt::format("softmax of {} bytes", softmax->element_bytes));
    if (std::holds_alternative<GemmWork>(operation.work)) out.emplace_back("product");
    if (std::holds_alternative<AttentionWork>(operation.work)) out.emplace_back("fused");
  }
  return out;
}

using Parts = std::vector<std::string>;

TEST(Lower, AttentionByHandRunsPartByPart) {
  const Parts apart{"scale", "product", "softmax of 2 bytes", "product"};
  EXPECT_EQ(parts_of_attention("by_hand = true", {.precision = Precision::kBf16}), apart);
  EXPECT_EQ(parts_of_attention("by_hand = false", {.precision = Precision::kBf16}), Parts{"fused"});
  EXPECT_EQ(parts_of_attention("by_hand = true", {.precision = Precision::kBf16, .runtime = Runtime::kPytorchCompiled}),
            (Parts{"product", "one kernel", "product"}));
  EXPECT_EQ(
      parts_of_attention("by_hand = false", {.precision = Precision::kBf16, .attention = AttentionKernels::kProducts}),
      apart);
}

// PyTorch has no fused kernel on other than four axes: 2.5 began to run what it does there in FP32, and looks for rows
// that are masked as a whole (compared, reduced, chosen).
// Each different kernel and how often it runs.
Parts kernels_on_five_axes(const PrepareOptions& options, std::string_view mask) {
  std::string text = R"(graph "a" {
    input %q : f32[2, 8, 3, 16, 64]
    input %k : f32[2, 8, 3, 16, 64]
    input %v : f32[2, 8, 3, 16, 64]
    input %m : f32[3, 16, 16]
    %y = attention(%q, %k, %v)
    output %y
  })";
  text.replace(text.find("%v)"), 3, mask);
  const auto load = prepare(parse_graph(text).value(), {}, options).value();
  Parts out;
  for (const LoweredOperation& one : load.operations) {
    std::string kernel;
    if (const auto* gemm = std::get_if<GemmWork>(&one.work)) {
      kernel = fmt::format("{} products {}x{}x{}, {} bytes each", gemm->batch, gemm->rows, gemm->columns, gemm->depth,
                           gemm->element_bytes);
    } else if (const auto* work = std::get_if<PointwiseWork>(&one.work)) {
      kernel = fmt::format("{} bytes", work->forward_bytes);
    } else if (const auto* rows = std::get_if<ReductionWork>(&one.work)) {
      kernel = fmt::format("{} rows of {}, {} bytes each", rows->rows, rows->columns, rows->element_bytes);
    }
    out.push_back(fmt::format("{} x {}", one.count, kernel));
  }
  return out;
}

TEST(Lower, AttentionOnFiveAxesFallsBackToProducts) {
  constexpr std::int64_t kOperand = 2 * 8 * 3 * 16 * 64, kScores = 2 * 8 * 3 * 16 * 16, kMask = 3 * 16 * 16;
  const auto moved = [](int count, std::int64_t bytes) { return fmt::format("{} x {} bytes", count, bytes); };
  PrepareOptions options{.precision = Precision::kBf16, .attention = AttentionKernels::kFused};
  EXPECT_EQ(kernels_on_five_axes(options, "%v)"),
            (Parts{moved(2, 4 * kOperand), "1 x 48 products 16x16x64, 2 bytes each", "1 x 768 rows of 16, 2 bytes each",
                   "1 x 48 products 16x64x16, 2 bytes each"}));
  options.attention = AttentionKernels::kFusedOrFp32;
  EXPECT_EQ(kernels_on_five_axes(options, "%v, %m)"),
            (Parts{moved(4, 6 * kOperand), moved(2, 8 * kOperand), "1 x 48 products 16x16x64, 4 bytes each",
                   moved(1, 8 * kScores + 2 * kMask), "1 x 768 rows of 16, 4 bytes each", moved(1, 5 * kScores),
                   "1 x 768 rows of 16, 1 bytes each", moved(1, 8 * kScores), "1 x 48 products 16x64x16, 4 bytes each",
                   moved(1, 6 * kScores)}));
  options.runtime = Runtime::kPytorchCompiled;
  EXPECT_EQ(kernels_on_five_axes(options, "%v)"),
            (Parts{moved(4, 6 * kOperand), "1 x 48 products 16x16x64, 4 bytes each", moved(1, 8 * kScores),
                   "1 x 48 products 16x64x16, 4 bytes each"}));
  // In FP32 nothing is cast.
  options = {.precision = Precision::kFp32};
  EXPECT_EQ(kernels_on_five_axes(options, "%v)"),
            (Parts{moved(2, 8 * kOperand), "1 x 48 products 16x16x64, 4 bytes each", "1 x 768 rows of 16, 4 bytes each",
                   moved(1, 5 * kScores), "1 x 768 rows of 16, 1 bytes each", moved(1, 8 * kScores),
                   "1 x 48 products 16x64x16, 4 bytes each"}));
}

TEST(Lower, APytorchSaysWhatAttentionItHas) {
  EXPECT_EQ(attention_of("pytorch 1.13"), AttentionKernels::kProducts);
  EXPECT_EQ(attention_of("pytorch 2.0.1+cu118"), AttentionKernels::kFused);
  EXPECT_EQ(attention_of("pytorch 2.4, cuda 12.4"), AttentionKernels::kFused);
  for (const char* late : {"pytorch 2.5", "pytorch 2.13.0 (C++), 1 thread", "pytorch 3.0", "pytorch 2", "pytorch",
                           "pytorch x.1", "pytorch 2.x", "tensorflow 2.4", ""})
    EXPECT_EQ(attention_of(late), AttentionKernels::kFusedOrFp32) << late;
}

// The inputs' casts are three copies of one size or two; the softmax reads halves and leaves FP32, which is cast back.
TEST(Lower, AutocastTakesTheSoftmaxOfAttentionByHandInFullPrecision) {
  const Parts found = parts_of_attention("by_hand = true", {.precision = Precision::kAmp});
  EXPECT_EQ(found, (Parts{"cast", "cast", "scale", "product", "softmax of 4 bytes", "cast", "product"}));
}

// The same of halves that a model takes it of in FP32; BF16 is copied for it.
TEST(Lower, TheSoftmaxOfAttentionByHandMayBeInFloat) {
  EXPECT_EQ(parts_of_attention("by_hand = true, in_float = true", {.precision = Precision::kFp16}),
            (Parts{"scale", "product", "softmax of 4 bytes", "cast", "product"}));
  EXPECT_EQ(parts_of_attention("by_hand = true, in_float = true", {.precision = Precision::kBf16}),
            (Parts{"scale", "product", "cast", "softmax of 4 bytes", "product"}));  // a cast each way, which are equal
  EXPECT_EQ(parts_of_attention("by_hand = true, in_float = true", {.precision = Precision::kFp32}),
            (Parts{"scale", "product", "softmax of 4 bytes", "product"}));
}

constexpr std::string_view kEagerAttention = R"(graph "a" {
    input %q : f32[2, 8, 16, 64]
    parameter %k : f32[2, 8, 32, 64]
    parameter %v : f32[2, 8, 32, 64]
    %y = attention(%q, %k, %v) {causal = true, by_hand = true, scales = 1, masks = 1, dropout = 0.1}
    output %y
  })";

TEST(Lower, WhatAModelDoesToItsScoresRunsInFullPrecision) {
  constexpr std::int64_t kScores = 2 * 8 * 16 * 32;
  const auto inference = lowered(kEagerAttention);
  ASSERT_EQ(inference.size(), 5U);  // product, scale, mask, softmax, product
  const auto& scale = std::get<PointwiseWork>(inference[1].work);
  EXPECT_EQ(scale.kind, PointwiseKind::kMulScalar);
  EXPECT_EQ(scale.elements, kScores);
  const auto& mask = std::get<PointwiseWork>(inference[2].work);
  EXPECT_EQ(mask.kind, PointwiseKind::kAdd);
  EXPECT_EQ(mask.backward_bytes, 0);
  const auto training = lowered(kEagerAttention, Mode::kTraining);
  ASSERT_EQ(training.size(), 6U);
  EXPECT_EQ(std::get<PointwiseWork>(training[1].work).backward_bytes, 8 * kScores);
  EXPECT_EQ(std::get<PointwiseWork>(training[2].work).backward_bytes, 0);
  EXPECT_EQ(std::get<PointwiseWork>(training[4].work).kind, PointwiseKind::kDropout);
  EXPECT_EQ(std::get<PointwiseWork>(training[4].work).elements, kScores);
}

// A mask filled in has a kernel each way, which reads and writes the scores and reads the mask's 16 x 32 bytes.
TEST(Lower, MasksFilledInHaveAGradient) {
  constexpr std::int64_t kScores = 2 * 8 * 16 * 32;
  const auto training = lowered(R"(graph "a" {
    input %q : f32[2, 8, 16, 64]
    parameter %k : f32[2, 8, 32, 64]
    parameter %v : f32[2, 8, 32, 64]
    input %m : bool[1, 1, 16, 32]
    %y = attention(%q, %k, %v, %m) {by_hand = true, scales = 1, fills = 1}
    output %y
  })",
                                Mode::kTraining);
  ASSERT_EQ(training.size(), 5U);  // product, scale, choice, softmax, product
  const auto& fill = std::get<PointwiseWork>(training[2].work);
  EXPECT_EQ(fill.forward_bytes, 8 * kScores + 16 * 32);
  EXPECT_EQ(fill.backward_bytes, 8 * kScores + 16 * 32);
}

// "same" is what the sizes ask for: of 3x3 a place on either side, with a stride of 2 on 56 places none before them.
TEST(Lower, SamePaddingIsPaddingOfTheSameSize) {
  const auto convolution = [](std::string_view attributes) {
    return lowered(
        fmt::format("graph \"s\" {{\ninput %x : f32[2, 64, 56, 56]\nparameter %w : f32[64, 64, 3, 3]\n"
                    "%y = conv(%x, %w) {{{}}}\noutput %y\n}}",
                    attributes));
  };
  EXPECT_EQ(convolution("stride = [1, 1], same_padding = true"),
            convolution("stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]"));
  EXPECT_EQ(convolution("stride = [1, 1], dilation = [2, 2], same_padding = true"),
            convolution("stride = [1, 1], dilation = [2, 2], padding_begin = [2, 2], padding_end = [2, 2]"));
  EXPECT_EQ(convolution("stride = [2, 2], same_padding = true"),
            convolution("stride = [2, 2], padding_begin = [0, 0], padding_end = [1, 1]"));
}

// What is computed of the halves of a tensor has no gaps: the layer behind it copies nothing.
TEST(Lower, GatedHalvesAreContiguous) {
  const auto operations = lowered(R"(graph "g" {
    input %x : f32[8, 16, 256]
    parameter %w : f32[64, 128]
    %a, %b = split(%x) {axis = -1, sizes = [128, 128]}
    %g = activation(%a) {kind = silu}
    %p = binary(%g, %b) {kind = mul}
    %y = linear(%p, %w)
    output %y
  })");
  ASSERT_EQ(operations.size(), 3U);  // silu, product, layer
  EXPECT_TRUE(std::holds_alternative<GemmWork>(operations[2].work));
}

// A part that is turned keeps the order of its axes in what is computed of it: the layer behind copies it.
TEST(Lower, TurnedPartsStayTurned) {
  const auto operations = lowered(R"(graph "g" {
    input %x : f32[8, 128, 256]
    parameter %w : f32[64, 128]
    %a, %b = split(%x) {axis = -1, sizes = [128, 128]}
    %t = transpose(%a) {order = [0, 2, 1]}
    %g = activation(%t) {kind = gelu}
    %y = linear(%g, %w)
    output %y, %b
  })");
  ASSERT_EQ(operations.size(), 3U);  // gelu, copy, layer
  EXPECT_TRUE(operations[1].copied_input);
}

// Products of a batch take a factor whose matrices are transposed; those of four axes are put into one batch first.
TEST(Lower, ProductsOfABatchTakeTransposedFactors) {
  const auto kernels = [](std::string_view batch, std::string_view order) {
    return lowered(fmt::format("graph \"t\" {{\ninput %a : f32[{0}, 32, 64]\ninput %b : f32[{0}, 32, 64]\n"
                               "%t = transpose(%b) {{order = [{1}]}}\n%y = matmul(%a, %t)\noutput %y\n}}",
                               batch, order))
        .size();
  };
  EXPECT_EQ(kernels("8", "0, 2, 1"), 1U);
  EXPECT_EQ(kernels("2, 8", "0, 1, 3, 2"), 2U);
}

// torch.roll goes axis by axis, a compiled network at once; torch.flip is no view.
TEST(Lower, RollsAndFlipsMoveTheirTensor) {
  const auto roll = [](Runtime runtime) {
    const auto load = prepare(parse_graph(R"(graph "r" {
      input %x : f32[8, 56, 56, 96]
      %y = roll(%x) {axes = [1, 2], shifts = [-3, -3]}
      output %y
    })")
                                  .value(),
                              {}, {.precision = {}, .runtime = runtime})
                          .value();
    return load.operations.at(0);
  };
  constexpr std::int64_t kBytes = 2 * 8 * 56 * 56 * 96 * 4;
  EXPECT_EQ(std::get<PointwiseWork>(roll(Runtime::kPytorchEager).work).forward_bytes, kBytes);
  EXPECT_EQ(roll(Runtime::kPytorchEager).count, 2);
  EXPECT_EQ(roll(Runtime::kPytorchCompiled).count, 1);
  const auto sliced = [](std::string_view from, std::string_view to, std::string_view step) {
    return lowered(
        fmt::format("graph \"f\" {{\ninput %x : f32[8, 16]\nconstant %s : i64[1] = [{}]\n"
                    "constant %e : i64[1] = [{}]\nconstant %a : i64[1] = [1]\nconstant %n : i64[1] = [{}]\n"
                    "%y = slice(%x, %s, %e, %a, %n)\noutput %y\n}}",
                    from, to, step));
  };
  EXPECT_TRUE(sliced("0", "8", "1").empty());
  EXPECT_EQ(only<PointwiseWork>(sliced("-1", "-9223372036854775808", "-1"))->forward_bytes, 2 * 8 * 16 * 4);
}

// Cast, square, mean, epsilon, root, product, cast and scale, where the model writes it out.
TEST(Lower, RmsNormByHandRunsKernelByKernel) {
  const auto norm = [](std::string_view by_hand, const PrepareOptions& options) {
    const auto text = fmt::format(
        "graph \"n\" {{\ninput %x : f32[8, 128, 512]\nparameter %w : f32[512]\n"
        "%y = rms_norm(%x, %w) {{by_hand = {}}}\noutput %y\n}}",
        by_hand);
    return prepare(parse_graph(text).value(), {}, options).value().operations;
  };
  const auto bytes = [](const std::vector<LoweredOperation>& operations) {
    std::int64_t out = 0;
    for (const LoweredOperation& one : operations) {
      if (const auto* work = std::get_if<PointwiseWork>(&one.work)) out += one.count * work->forward_bytes;
    }
    return out;
  };
  constexpr std::int64_t kAll = 8 * 128 * 512, kRows = 8 * 128;
  const auto halves = norm("true", {.precision = Precision::kBf16});
  EXPECT_EQ(bytes(halves), kAll * (6 + 8 + 8 + 6 + 4) + kRows * (8 + 8));
  EXPECT_EQ(bytes(norm("true", {.precision = Precision::kFp32})), kAll * (8 + 8 + 8) + kRows * (8 + 8));
  EXPECT_EQ(norm("true", {.precision = Precision::kBf16, .runtime = Runtime::kPytorchCompiled}).size(), 1U);
  EXPECT_NE(only<ReductionWork>(norm("false", {.precision = Precision::kBf16})), nullptr);
}

TEST(Lower, ACubeIsAMultiplication) {
  const std::string start = "graph \"c\" {\ninput %x : f32[4, 8]\nconstant %n : f32 = ";
  const std::string end = "\n%y = binary(%x, %n) {kind = pow}\noutput %y\n}";
  EXPECT_EQ(only<PointwiseWork>(lowered(start + "3.0" + end))->kind, PointwiseKind::kMulScalar);
  EXPECT_EQ(only<PointwiseWork>(lowered(start + "2.5" + end))->kind, PointwiseKind::kPowScalar);
}

constexpr std::string_view kRelu = R"(graph "r" {
    input %x : f32[2, 3]
    %y = activation(%x) {kind = relu}
    %z = dropout(%y) {probability = 0.5}
    output %z
  })";

TEST(Lower, ReluIsInPlaceAndDropoutAbsentInInference) {
  const auto inference = lowered(kRelu);
  ASSERT_NE(only<PointwiseWork>(inference), nullptr);
  EXPECT_EQ(only<PointwiseWork>(inference)->in_place, 1);
  const auto training = lowered(kRelu, Mode::kTraining);
  ASSERT_EQ(training.size(), 2U);
  EXPECT_EQ(std::get<PointwiseWork>(training[0].work).in_place, 0);
  const auto& dropout = std::get<PointwiseWork>(training[1].work);
  EXPECT_EQ(dropout.kind, PointwiseKind::kDropout);
  EXPECT_EQ(dropout.forward_bytes, 24 + 24 + 6);  // reads, writes, and keeps a mask
}

TEST(Lower, InferenceHasNoWayBack) {
  constexpr std::string_view kLayer = R"(graph "l" {
    input %x : f32[8, 64]
    parameter %w : f32[64, 64]
    %a = linear(%x, %w)
    %y = activation(%a) {kind = gelu}
    output %y
  })";
  EXPECT_EQ(std::get<PointwiseWork>(lowered(kLayer)[1].work).backward_bytes, 0);
  EXPECT_GT(std::get<PointwiseWork>(lowered(kLayer, Mode::kTraining)[1].work).backward_bytes, 0);
}

// A stem of halves: what the benchmark adds up to has two bytes an element.
TEST(Lower, GradientsAreAsWideAsTheirValues) {
  const auto width = [](std::string_view type) {
    return std::get<PointwiseWork>(
               lowered(fmt::format("graph \"s\" {{\ninput %x : {0}[8, 64]\nparameter %w : {0}[64, 64]\n%a = linear(%x, "
                                   "%w)\n%y = activation(%a) {{kind = gelu}}\noutput %y\n}}",
                                   type),
                       Mode::kTraining)
                   .back()
                   .work)
        .element_bytes;
  };
  EXPECT_EQ(width("f32"), 4);
  EXPECT_EQ(width("f16"), 2);
}

TEST(Lower, AnAxisCountedFromBehindIsTheSame) {
  const auto copies = [](int axis) {
    return lowered(fmt::format(R"(graph "s" {{
      input %x : f32[8, 4]
      constant %to : i64[2] = [2, 8]
      %a, %b = split(%x) {{axis = {}, sizes = [4, 4]}}
      %y = reshape(%a, %to)
      output %y
      output %b
    }})",
                               axis))
        .size();
  };
  EXPECT_EQ(copies(0), 0U);
  EXPECT_EQ(copies(-2), 0U);
}

TEST(Lower, DroppedDepthIsAProductOfItsTensor) {
  const auto depth = [](std::string_view probability, Mode mode) {
    const std::string text =
        "graph \"d\" {\n input %x : f32[2, 3]\n %z = stochastic_depth(%x) {probability = " + std::string(probability) +
        "}\n output %z\n}";
    return *only<PointwiseWork>(lowered(text, mode));
  };
  const PointwiseWork drops = depth("0.5", Mode::kTraining);
  EXPECT_TRUE(drops.active);
  EXPECT_EQ(drops.forward_bytes, 48);
  for (const PointwiseWork& idle : {depth("0.5", Mode::kInference), depth("0.0", Mode::kTraining)}) {
    EXPECT_FALSE(idle.active);
    EXPECT_EQ(idle.forward_bytes, 0);
  }
}

constexpr std::string_view kTwoConvs = R"(graph "c" {
    input %x : f32[4, 8, 10, 12]
    parameter %w : f32[8, 8, 3, 3]
    parameter %b : f32[8]
    %y = conv(%x, %w, %b) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
    %z = conv(%y, %w, %b) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
    output %z
  })";

// Brought to zero mean, or cast, the network's input has a gradient no more than before.
TEST(Lower, AFirstLayerMayReadWhatWasMadeOfTheInput) {
  const auto training = lowered(R"(graph "c" {
    input %x : f32[4, 8, 10, 12]
    parameter %w : f32[8, 8, 3, 3]
    constant %half : f32 = 0.5
    %c = binary(%x, %half) {kind = sub}
    %y = conv(%c, %w) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
    %z = conv(%y, %w) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
    output %z
  })",
                                Mode::kTraining);
  ASSERT_EQ(training.size(), 3U);
  EXPECT_FALSE(training[0].no_input_gradient) << "no layer";
  EXPECT_TRUE(training[1].no_input_gradient);
  EXPECT_FALSE(training[2].no_input_gradient);
}

TEST(Lower, OnlyTheFirstLayerNeedsNoInputGradient) {
  const auto training = lowered(kTwoConvs, Mode::kTraining);
  ASSERT_EQ(training.size(), 2U);  // equal work, but one of them without the input's gradient
  EXPECT_TRUE(training[0].no_input_gradient);
  EXPECT_FALSE(training[1].no_input_gradient);
  const auto inference = lowered(kTwoConvs);
  ASSERT_EQ(inference.size(), 1U);  // merged
  EXPECT_EQ(inference[0].count, 2);
  EXPECT_EQ(inference[0].calls, 2);
}

// More kinds of work than the table of places begins with, each twice, in order of first appearance.
TEST(Lower, EqualWorkIsOneEntryHoweverManyThereAre) {
  std::string text = R"(graph "many" {
    input %x : f32[1, 4]
)";
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (int i = 1; i <= 500; ++i) {
      text += fmt::format("    input %x{0}_{1} : f32[{1}, 4]\n    %y{0}_{1} = activation(%x{0}_{1}) {{kind = relu}}\n",
                          repeat, i);
    }
  }
  const auto operations = lowered(text + "    output %y0_1\n  }");
  ASSERT_EQ(operations.size(), 500U);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    EXPECT_EQ(std::get<PointwiseWork>(operations[i].work).elements, static_cast<std::int64_t>(4 * (i + 1)));
    EXPECT_EQ(operations[i].count, 2);
  }
}

TEST(Lower, ConvolutionSaysItsShapesAndArithmetic) {
  const auto operations = lowered(kTwoConvs);
  const auto* conv = only<ConvWork>(operations);
  ASSERT_NE(conv, nullptr);
  const ConvWork wanted{.batch = 4,
                        .in_channels = 8,
                        .out_channels = 8,
                        .in_height = 10,
                        .in_width = 12,
                        .out_height = 10,
                        .out_width = 12,
                        .kernel_height = 3,
                        .kernel_width = 3,
                        .padding = 1,
                        .bias = 1,
                        .arithmetic = Arithmetic::kTf32};
  EXPECT_EQ(*conv, wanted);
  EXPECT_EQ(only<ConvWork>(lowered(kTwoConvs, Mode::kInference, Precision::kFp32))->arithmetic, Arithmetic::kFp32);
  EXPECT_EQ(only<ConvWork>(lowered(kTwoConvs, Mode::kInference, Precision::kFp16))->element_bytes, 2);
}

TEST(Lower, LinearIsFp32ByDefaultAndTf32OnRequest) {
  constexpr std::string_view kLinear = R"(graph "l" {
    input %x : f32[4, 7, 32]
    parameter %w : f32[16, 32]
    %y = linear(%x, %w)
    output %y
  })";
  const auto operations = lowered(kLinear);
  const auto* gemm = only<GemmWork>(operations);
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->rows, 28);
  EXPECT_EQ(gemm->columns, 16);
  EXPECT_EQ(gemm->depth, 32);
  EXPECT_EQ(gemm->arithmetic, Arithmetic::kFp32);
  EXPECT_EQ(only<GemmWork>(lowered(kLinear, Mode::kInference, Precision::kTf32All))->arithmetic, Arithmetic::kTf32);
}

}  // namespace
}  // namespace joulecast
