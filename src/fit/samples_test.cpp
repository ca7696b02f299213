// SPDX-License-Identifier: Apache-2.0
#include "fit/samples.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>

#include "dataset/table.h"

namespace joulecast {
namespace {

Sample sample(const std::string& mode, const std::string& time_s) {
  std::optional<Sample> out;
  TableSink sink;
  sink.operation = [&](const MeasuredOperation& row) { out = sample_of(row, Catalogue::shipped()).value(); };
  const std::string text = "name,gpu,mode,precision,runtime,operator,operands,time_s\nx,a30," + mode +
                           ",fp32,pytorch-eager,linear,\"f32[32, 1024]; w f32[512, 1024]; _\"," + time_s + "\n";
  EXPECT_TRUE(parse_table(text, "rows.csv", sink));
  return out.value();
}

// The laws are of training that adds to its gradients: of the input (32 x 1024) and of the weight (512 x 1024) both are
// read and one is written, four bytes each. evaluate and predict take the law's share of that off again, whatever the
// time.
TEST(Samples, OnesOwnTrainingIsMadeComparable) {
  const Sample training = sample("training", "0.001");
  const double accumulated = 3.0 * 4 * (32 * 1024 + 512 * 1024) / (0.9 * training.device.bandwidth);
  std::array<float, kMaxFeatures> features{};
  const double bound = physics_of(training.work, training.device, training.situation, features).bound;
  EXPECT_NEAR(training.time * (1.0 - accumulated / bound), 0.001, 1e-9);
  EXPECT_NEAR(sample("training", "0.002").time, 2.0 * training.time, 1e-9);
  EXPECT_DOUBLE_EQ(sample("inference", "0.001").time, 0.001);
}

// Of one row in these columns, with further ones.
Result<Sample> learnt(const std::string& gpu, const std::string& precision, const std::string& operands,
                      const std::string& columns, const std::string& values) {
  std::optional<Result<Sample>> out;
  TableSink sink;
  sink.operation = [&](const MeasuredOperation& row) { out = sample_of(row, Catalogue::shipped()); };
  const std::string text = "name,gpu,mode,precision,runtime,operator,operands,time_s,power_w,power_scope" + columns +
                           "\nx," + gpu + ",inference," + precision + ",pytorch-eager,linear,\"" + operands +
                           "\",0.001,60,gpu" + values + "\n";
  const auto table = parse_table(text, "rows.csv", sink);
  EXPECT_TRUE(table) << table.error().text();
  return out.value();
}

// Predictions do the same: what a GPU has no units for runs in FP32.
TEST(Samples, WhatAGpuLacksUnitsForRunsInFp32) {
  for (const auto& [gpu, precision, type] : {std::tuple{"p100-pcie-16gb", "fp16", "f16"}, {"t4", "tf32", "f32"}}) {
    const auto found = learnt(gpu, precision, fmt::format("{0}[256, 1024]; w {0}[512, 1024]; _", type), "", "");
    ASSERT_TRUE(found) << gpu << found.error().text();
    EXPECT_EQ(arithmetic_of(found->work), Arithmetic::kFp32) << gpu;
  }
}

TEST(Samples, OnesOwnRowsAreHeardOnTheirCautions) {
  const auto why = [](const std::string& columns, const std::string& values) {
    const auto found = learnt("t4", "fp32", "f32[256, 1024]; w f32[512, 1024]; _", columns, values);
    return found ? std::string(found->power ? "learnt" : "time alone") : found.error().text();
  };
  EXPECT_EQ(why("", ""), "learnt");
  EXPECT_EQ(why(",cautions", ",throttled"), "throttled: the chip was too hot and held its clocks down");
  EXPECT_TRUE(why(",cautions", ",time-unsteady").starts_with("time-unsteady: "));
  EXPECT_EQ(why(",cautions", ",low-power-state"), "low-power state");
  EXPECT_EQ(why(",cautions", ",power-unsteady"), "time alone");
  EXPECT_EQ(why(",is_primary", ",0"), "a better run stands for it");
}

// The RTX 2080 Ti was measured in inference's own state by a later run alone, which the table does not call its
// primary.
TEST(Samples, TheOnlyRunInAStateCountsInFull) {
  const auto weight = [](const std::string& gpu, const std::string& state) {
    const auto table = parse_table(
        "gpu,mode,op_type,op_repr,input_shape,time_s,time_std_s,energy_j,energy_std_j,power_w,power_std_w,module_state,"
        "primary,anomaly,generation\n" +
            gpu + ",inference,ReLU,ReLU(),32x8,2e-5,,,,,,\"" + state + "\",0,,2025-02-17-train\n",
        "operations.csv");
    return sample_of(table.value().operations.at(0), Catalogue::shipped()).value().weight;
  };
  EXPECT_EQ(weight("rtx2080ti", "eval+inference_mode"), 1.0);
  EXPECT_EQ(weight("rtx2080ti", "train-mode-module,autograd-on"), 0.1);
  EXPECT_EQ(weight("a30", "eval+inference_mode"), 0.1);
}

// Rows of one table and stratum, kept and with a flag, after thinning.
struct Thinned {
  std::size_t kept, for_modules, for_any_gpu;
  bool operator==(const Thinned&) const = default;
};
Thinned thinned(const std::string& table, int rows, std::optional<std::size_t> limit = {}) {
  SampleSet set;
  std::vector<Sample>& samples = set.groups[static_cast<std::size_t>(Group::kPointwise)];
  for (int i = 0; i < rows; ++i) {
    Sample one;
    one.work = PointwiseWork{};
    one.table = table;
    one.key = std::to_string(i);
    one.stratum = "a stratum";
    samples.push_back(one);
  }
  thin_out(set, limit);
  Thinned out{samples.size(), 0, 0};
  for (const Sample& s : samples) {
    out.for_modules += s.for_modules ? 1U : 0U;
    out.for_any_gpu += s.for_any_gpu ? 1U : 0U;
  }
  EXPECT_EQ(set.sources[table].used, out.kept);
  EXPECT_EQ(set.sources[table].used + set.sources[table].not_needed, static_cast<std::size_t>(rows));
  return out;
}

// All loops are for models of GPUs that were measured in loops; modules and other GPUs gain by some, and drown in more.
TEST(Samples, LoopsAreThinnedOutForOtherModelsOnly) {
  EXPECT_EQ(thinned("neusight_vec", 1300), (Thinned{1300, 200, 200}));
  EXPECT_EQ(thinned("neusight_gemm", 1300), (Thinned{1300, 1000, 1000}));
  EXPECT_EQ(thinned("neusight_conv", 2000), (Thinned{2000, 1500, 500}));
  EXPECT_EQ(thinned("neusight_vec", 1300, 100), (Thinned{100, 100, 100}));
  EXPECT_EQ(thinned("aic_gemm_bf16", 40000), (Thinned{36000, 36000, 9000}));
}

}  // namespace
}  // namespace joulecast
