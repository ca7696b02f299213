// SPDX-License-Identifier: Apache-2.0
#include "predict/nvfp4.h"

#include <gtest/gtest.h>

#include "joulecast/predict.h"
#include "predict/lower.h"
#include "predict/parsed_graph.h"

namespace joulecast {
namespace {

// `%e` is looked up and multiplied by, `%w` and `%v` are multiplied by alone, `%s` is no layer's.
constexpr std::string_view kNet = R"(graph "n" {
    input %x : i64[2, 64]
    parameter %e : f32[256, 128]
    parameter %w : f32[128, 128]
    parameter %v : f32[128, 128]
    parameter %s : f32[128]
    %a = embedding(%e, %x)
    %n = layer_norm(%a, %s, %s) {axes = 1}
    %b = linear(%n, %w)
    %c = matmul(%b, %v)
    %d = linear(%c, %e)
    output %d
  })";

Result<Workload> prepared(std::string_view text, Mode mode = Mode::kInference) {
  return prepare(parsed(text), {}, {.mode = mode, .precision = Precision::kNvfp4});
}

TEST(Nvfp4, OnlyWhatLayersAloneReadIsQuantised) {
  const auto load = prepared(kNet);
  ASSERT_TRUE(load) << load.error().text();
  int fp4 = 0;
  for (const LoweredOperation& operation : load->operations) {
    const auto* product = std::get_if<GemmWork>(&operation.work);
    if (product == nullptr) continue;
    const bool last = product->columns == 256;
    EXPECT_EQ(product->arithmetic, last ? Arithmetic::kBf16 : Arithmetic::kFp4);
    EXPECT_EQ(product->element_bytes, 2);
    EXPECT_EQ(product->output_bytes, 2);
    fp4 += last ? 0 : static_cast<int>(operation.count);
  }
  EXPECT_EQ(fp4, 2);
}

TEST(Nvfp4, WeightsTakeHalfAByteAndAScale) {
  const auto load = prepared(kNet);
  ASSERT_TRUE(load) << load.error().text();
  constexpr double kElsewhere = 2 * (256 * 128 + 128), kQuantised = (0.5 + 1.0 / 16) * 2 * 128 * 128;
  EXPECT_EQ(load->total.parameters, Bytes{kElsewhere + kQuantised});
  EXPECT_EQ(load->memory.parameters, Bytes{kElsewhere + kQuantised + 256});  // the allocator rounds 256 bytes up to 512
}

// Whoever writes FP4 into the graph gets its kernels in inference alone.
TEST(Nvfp4, WeightsOfTheGraphItselfHaveNoGradientsInFp4) {
  const Graph graph = parsed(R"(graph "n" {
    input %x : bf16[64, 128]
    parameter %w : f4[128, 128]
    %y = linear(%x, %w)
    output %y
  })");
  const auto arithmetic = [&](Mode mode) {
    const auto load = prepare(graph, {}, {.mode = mode, .precision = Precision::kBf16});
    EXPECT_TRUE(load) << load.error().text();
    return std::get<GemmWork>(load->operations.at(0).work).arithmetic;
  };
  EXPECT_EQ(arithmetic(Mode::kInference), Arithmetic::kFp4);
  EXPECT_EQ(arithmetic(Mode::kTraining), Arithmetic::kBf16);
}

TEST(Nvfp4, TrainingIsRefused) {
  const auto load = prepared(kNet, Mode::kTraining);
  ASSERT_FALSE(load);
  EXPECT_NE(load.error().text().find("nothing is known of training in FP4"), std::string::npos) << load.error().text();
}

}  // namespace
}  // namespace joulecast
