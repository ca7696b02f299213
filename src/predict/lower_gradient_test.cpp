// SPDX-License-Identifier: Apache-2.0
// What eager training makes of the gradients of views: wholes in zeros, copies and sums.
#include <gtest/gtest.h>

#include "joulecast/predict.h"
#include "predict/lower.h"

namespace joulecast {
namespace {

// As Swin's heads: three parts of one value, here of 3 x 8 x 4 numbers, 384 bytes, a part 128.
constexpr std::string_view kParts = R"(graph "parts" {
    input %x : f32[3, 8, 4]
    constant %i : i64 = 0
    constant %j : i64 = 1
    constant %k : i64 = 2
    %h = activation(%x) {kind = relu}
    %q = gather(%h, %i)
    %r = gather(%h, %j)
    %s = gather(%h, %k)
    output %q, %r, %s
  })";

// Backward bytes of all copies.
std::int64_t copied(std::string_view text, const PrepareOptions& options) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto load = prepare(*graph, {}, options);
  EXPECT_TRUE(load) << load.error().text();
  std::int64_t sum = 0;
  for (const LoweredOperation& operation : load->operations) {
    const auto* work = std::get_if<PointwiseWork>(&operation.work);
    if (work != nullptr && work->kind == PointwiseKind::kCopy) sum += operation.count * work->backward_bytes;
  }
  return sum;
}

TEST(LowerGradient, OfEachPartIsTheWholeAndTheyAddUp) {
  // Each part: 384 in zeros, 128 read and written; two of them added to what is there.
  EXPECT_EQ(copied(kParts, {.mode = Mode::kTraining, .precision = Precision::kFp32}), 3 * (384 + 256) + 2 * 3 * 384);
  EXPECT_EQ(copied(kParts, {.mode = Mode::kInference, .precision = Precision::kFp32}), 0);
}

TEST(LowerGradient, OfPartsIsFusedWhereARuntimeFuses) {
  EXPECT_EQ(
      copied(kParts, {.mode = Mode::kTraining, .precision = Precision::kFp32, .runtime = Runtime::kPytorchCompiled}),
      0);
}

TEST(LowerGradient, OfASplitIsWrittenOnce) {
  EXPECT_EQ(copied(R"(graph "split" {
    input %x : f32[6, 4]
    %h = activation(%x) {kind = relu}
    %a, %b = split(%h) {axis = 1}
    output %a, %b
  })",
                   {.mode = Mode::kTraining, .precision = Precision::kFp32}),
            2 * 96);
}

TEST(LowerGradient, OfTheNetworksInputNobodyWants) {
  EXPECT_EQ(copied(R"(graph "input" {
    input %x : f32[3, 8]
    constant %i : i64 = 0
    %q = gather(%x, %i)
    %h = activation(%q) {kind = relu}
    output %h
  })",
                   {.mode = Mode::kTraining, .precision = Precision::kFp32}),
            0);
}

}  // namespace
}  // namespace joulecast
