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

Operations operations_of(const char* text, Mode mode) {
  const Graph graph = parse_graph(text).value();
  const TypeTable types = infer_types(graph, {.symbols = {{"N", 2}}, .shapes = {}, .batch = {}}).value();
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
  const Graph graph = parse_graph(kText).value();
  for (const std::int64_t batch : {1, 2}) {
    const TypeTable types = infer_types(graph, {.symbols = {{"N", batch}}, .shapes = {}, .batch = {}}).value();
    const Operations found = unique_operations(graph, types, Mode::kInference, Precision::kFp32);
    EXPECT_EQ(found.unique.size(), batch == 1 ? 1U : 2U) << batch;
  }
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
