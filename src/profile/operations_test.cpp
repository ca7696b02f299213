// SPDX-License-Identifier: Apache-2.0
#include "profile/operations.h"

#include <gtest/gtest.h>

#include "dataset/operation_text.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast::profile {
namespace {

constexpr const char* kNet = R"(graph "net" {
input %x : f32[N, 3, 8, 8]
parameter %w : f32[4, 3, 3, 3]
parameter %v : f32[4, 4, 3, 3]
parameter %u : f32[4, 4, 3, 3]
%a = conv(%x, %w, _) {padding_begin = [1, 1], padding_end = [1, 1]}
%b = activation(%a)
%c = conv(%b, %v, _) {padding_begin = [1, 1], padding_end = [1, 1]}
%d = activation(%c)
%e = conv(%d, %u, _) {padding_begin = [1, 1], padding_end = [1, 1]}
%f = flatten(%e)
%g = dropout(%f)
output %g
}
)";

Operations operations_of(const char* text, Mode mode, std::int64_t batch = 2) {
  const Graph graph = parse_graph(text).value();
  const TypeTable types = infer_types(graph, {.symbols = {{"N", batch}}, .shapes = {}, .batch = {}}).value();
  return unique_operations(graph, types, mode, Precision::kFp32);
}

TEST(Operations, EqualOnesAreOneAndAreCounted) {
  const Operations found = operations_of(kNet, Mode::kInference);
  ASSERT_EQ(found.unique.size(), 3U);
  EXPECT_EQ(found.unique[0].text.operands, "f32[2, 3, 8, 8]; w f32[4, 3, 3, 3]; _");
  EXPECT_EQ(found.unique[1].text.op, "activation");
  EXPECT_EQ(found.unique[1].count, 2);
  EXPECT_EQ(found.unique[2].count, 2);
}

TEST(Operations, TrainingHasDropoutAndSparesTheGradientOfTheNetworksInput) {
  const Operations found = operations_of(kNet, Mode::kTraining);
  ASSERT_EQ(found.unique.size(), 4U);
  EXPECT_FALSE(found.unique[0].input_gradient);
  EXPECT_TRUE(found.unique[1].input_gradient);
  EXPECT_EQ(found.unique[3].text.op, "dropout");
}

TEST(Operations, WhatReadsAViewOfTheInputNeedsNoGradientEither) {
  const Operations found = operations_of(R"(graph "net" {
input %x : f32[N, 3, 8, 8]
parameter %w : f32[5, 192]
%a = flatten(%x)
%b = linear(%a, %w, _)
output %b
}
)",
                                         Mode::kTraining);
  ASSERT_EQ(found.unique.size(), 1U);
  EXPECT_FALSE(found.unique[0].input_gradient);
}

// A channel shuffle: torch's view, transpose, reshape copies once.
TEST(Operations, CopiesThatViewsForceAreTranspositions) {
  const Operations found = operations_of(R"(graph "net" {
input %x : f32[N, 6, 4, 4]
constant %s : i64[5] = [2, 3, 2, 4, 4]
constant %t : i64[4] = [2, 6, 4, 4]
%a = activation(%x)
%b = reshape(%a, %s)
%c = transpose(%b) {order = [0, 2, 1, 3, 4]}
%d = activation(%c)
%e = reshape(%d, %t)
output %e
}
)",
                                         Mode::kInference);
  ASSERT_EQ(found.unique.size(), 3U);
  EXPECT_EQ(found.unique[2].text.op, "transpose");
  EXPECT_EQ(found.unique[2].text.operands, "f32[2, 3, 2, 4, 4]");
  EXPECT_EQ(found.unique[2].text.attributes, "order = [0, 2, 1, 3, 4], contiguous = true");
  EXPECT_EQ(found.unique[2].count, 1);
  EXPECT_TRUE(parse_operation(found.unique[2].text));
}

std::vector<std::string> copies_of(const char* text) {
  std::vector<std::string> out;
  for (const UniqueOperation& one : operations_of(text, Mode::kInference).unique) {
    const OperationText& op = one.text;
    if (op.op == "transpose" || op.op == "pad" || op.op == "tile")
      out.push_back(op.op + ": " + op.operands + " " + op.attributes);
    EXPECT_TRUE(parse_operation(op)) << op.op << ": " << op.operands;
  }
  return out;
}

// Half of the channels for a layer norm, as gated networks do: rows that lie apart.
TEST(Operations, CopiesThatPartsForceArePadsOfNegativeWidth) {
  const auto found = copies_of(R"(graph "net" {
input %x : f32[N, 7, 8]
parameter %w : f32[4]
%a, %b = split(%x) {axis = 2}
%c = layer_norm(%b, %w, %w)
%d = binary(%a, %c) {kind = mul}
output %d
}
)");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], "pad: f32[2, 7, 8]; c i64[6] = [0, 0, 0, 0, 0, -4] ");
}

// The first place of one sequence lies in one piece, that of two does not.
TEST(Operations, PartsThatLieInOnePieceAreNotCopied) {
  constexpr const char* kText = R"(graph "net" {
input %x : f32[N, 7, 8]
parameter %w : f32[8]
constant %from : i64[1] = [0]
constant %to : i64[1] = [1]
constant %axis : i64[1] = [1]
%a = slice(%x, %from, %to, %axis)
%c = layer_norm(%a, %w, %w)
output %c
}
)";
  EXPECT_EQ(operations_of(kText, Mode::kInference, 1).unique.size(), 1U);
  EXPECT_EQ(operations_of(kText, Mode::kInference, 2).unique.size(), 2U);
}

// Keys of one head for three that ask, made one axis as for a product.
TEST(Operations, CopiesThatRepeatedAxesForceAreTiles) {
  const auto found = copies_of(R"(graph "net" {
input %x : f32[N, 2, 1, 5, 4]
constant %s : i64[5] = [2, 2, 3, 5, 4]
constant %t : i64[4] = [2, 6, 5, 4]
%a = expand(%x, %s)
%b = reshape(%a, %t)
output %b
}
)");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], "tile: f32[2, 2, 1, 5, 4]; c i64[5] = [1, 1, 3, 1, 1] ");
}

// Query, key and value of one layer: [batch, places, 3, heads, size] -> 3 x [batch, heads, places, size].
TEST(Operations, PartsOfWhatIsTransposedAreTransposed) {
  const auto found = copies_of(R"(graph "net" {
input %x : f32[N, 5, 48]
constant %s : i64[5] = [2, 5, 3, 4, 4]
constant %h : i64[3] = [8, 5, 4]
constant %i : i64[] = [0]
%a = reshape(%x, %s)
%b = transpose(%a) {order = [2, 0, 3, 1, 4]}
%q = gather(%b, %i)
%c = reshape(%q, %h)
output %c
}
)");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], "transpose: f32[2, 5, 4, 4] order = [0, 2, 1, 3], contiguous = true");
}

TEST(Operations, FusedAttentionTakesRowsAsTheyLie) {
  EXPECT_TRUE(copies_of(R"(graph "net" {
input %x : f32[N, 5, 4, 8]
%a = transpose(%x) {order = [0, 2, 1, 3]}
%b = attention(%a, %a, %a)
output %b
}
)")
                  .empty());
}

// Its products are those of any matrices.
TEST(Operations, AttentionByHandCopiesWhatIsTurned) {
  EXPECT_EQ(copies_of(R"(graph "net" {
input %x : f32[N, 5, 4, 8]
%a = transpose(%x) {order = [0, 2, 1, 3]}
%b = attention(%a, %a, %a) {by_hand = true}
output %b
}
)")
                .size(),
            1U);
}

TEST(Operations, AxesOfOneElementMoveWithoutACopy) {
  constexpr const char* kText = R"(graph "net" {
input %x : f32[N, 5, 8]
parameter %w : f32[8]
parameter %b : f32[8]
%a = transpose(%x) {order = [1, 0, 2]}
%c = layer_norm(%a, %w, %b)
output %c
}
)";
  EXPECT_EQ(operations_of(kText, Mode::kInference, 1).unique.size(), 1U);
  EXPECT_EQ(operations_of(kText, Mode::kInference, 2).unique.size(), 2U);
}

// Turned twice, a value may be what it was; in the order of channels last, convolutions take it as it is.
TEST(Operations, WhatNeedsNoCopyHasNone) {
  const Operations found = operations_of(R"(graph "net" {
input %x : f32[N, 8, 4, 4]
parameter %w : f32[4, 8]
parameter %v : f32[4, 4, 1, 1]
%a = transpose(%x) {order = [0, 2, 3, 1]}
%b = transpose(%a) {order = [0, 3, 1, 2]}
%c = transpose(%b) {order = [0, 2, 3, 1]}
%d = linear(%c, %w, _)
%e = transpose(%d) {order = [0, 3, 1, 2]}
%f = conv(%e, %v, _)
output %f
}
)",
                                         Mode::kInference);
  ASSERT_EQ(found.unique.size(), 3U);
  EXPECT_EQ(found.unique[0].text.attributes, "order = [0, 2, 3, 1], contiguous = true");
  EXPECT_EQ(found.unique[0].text.operands, "f32[2, 8, 4, 4]");
  EXPECT_EQ(found.unique[1].text.op, "linear");
  EXPECT_EQ(found.unique[2].text.op, "conv");
}

TEST(Operations, WhatNoRunnerKnowsIsNamed) {
  const Operations found = operations_of(R"(graph "net" {
input %x : f32[N, 3]
%a = opaque(%x) {name = "Foo", output_types = [f32[2, 3]]}
output %a
}
)",
                                         Mode::kInference);
  EXPECT_TRUE(found.unique.empty());
  EXPECT_EQ(found.left_out, std::vector<std::string>{"Foo"});
}

TEST(Operations, OfARealNetworkCanBeReadAgain) {
  const Graph graph = simplify(import_model(JOULECAST_SOURCE_DIR "/examples/resnet50.onnx").value());
  const TypeTable types = infer_types(graph, {.symbols = {}, .shapes = {}, .batch = 4}).value();
  std::int64_t convolutions = 0;
  for (const UniqueOperation& one : unique_operations(graph, types, Mode::kTraining, Precision::kFp32).unique) {
    EXPECT_TRUE(parse_operation(one.text)) << one.text.op << " " << one.text.operands;
    if (one.text.op == "conv") convolutions += one.count;
  }
  EXPECT_EQ(convolutions, 53);
}

}  // namespace
}  // namespace joulecast::profile
