// SPDX-License-Identifier: Apache-2.0
#include "fit/intervals.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace joulecast {
namespace {

constexpr Group kGroup = Group::kGemmTensor;

struct Judged {
  std::vector<Sample> samples;
  HeldOut held;

  // Rows of a GPU that come out `off` too long, or too short, when it is left out.
  void add(const char* gpu, double off, std::optional<double> power = {}) {
    for (int i = 0; i < 50; ++i) {
      Sample s;
      s.work = GemmWork{.arithmetic = Arithmetic::kBf16};
      s.gpu = *Catalogue::shipped().find(gpu);
      s.device = make_device(*s.gpu, {}).value();
      s.time = 1e-3;
      s.power = power;
      held.time.push_back(s.time * std::exp(i % 2 == 0 ? off : -off));
      held.power.push_back(power.value_or(0.0));
      samples.push_back(std::move(s));
    }
  }
};

// Two of one generation, and one of another.
Judged three() {
  Judged out;
  out.add("h100-sxm5-80gb", 0.1, 300.0);
  out.add("h200-sxm-141gb", 0.1, 300.0);
  out.add("a100-sxm4-80gb", 0.5);
  return out;
}

TEST(Intervals, AGpuWithoutRelativesGetsAFactorOfItsOwn) {
  const Judged rows = three();
  Numbers factors;
  add_unseen_factors(kGroup, rows.samples, rows.held, factors);
  EXPECT_NEAR(factors.at("operation/gemm-tensor/relative/time"), 0.1, 1e-9);
  EXPECT_NEAR(factors.at("operation/gemm-tensor/unseen-gpu/time"), 0.5, 1e-9);
  EXPECT_NEAR(factors.at("operation/gemm-tensor/unseen-gpu/energy"), 0.1, 1e-9) << "of those that have power";
  const HeldOutSpread by_sample = unseen_factors_of(kGroup, rows.samples, factors);
  EXPECT_NEAR(by_sample.time.front(), 0.1, 1e-9);
  EXPECT_NEAR(by_sample.time.back(), 0.5, 1e-9);
}

TEST(Intervals, WithoutRelativesThereIsOneFactor) {
  Judged rows;
  rows.add("h100-sxm5-80gb", 0.1);
  rows.add("a100-sxm4-80gb", 0.5);
  Numbers factors;
  add_unseen_factors(kGroup, rows.samples, rows.held, factors);
  EXPECT_FALSE(factors.contains("operation/gemm-tensor/relative/time"));
  EXPECT_NEAR(factors.at("operation/gemm-tensor/unseen-gpu/time"), 0.5, 1e-9);
}

TEST(Intervals, WhatACalibrationSaysStays) {
  const Judged rows = three();
  Numbers factors{{"operation/gemm-tensor/unseen-gpu/time", 0.3},
                  {"operation/gemm-tensor/unseen-gpu/power", 0.3},
                  {"operation/gemm-tensor/unseen-gpu/energy", 0.3},
                  {"operation/gemm-tensor/seen/time", 2.0}};
  const Numbers before = factors;
  add_unseen_factors(kGroup, rows.samples, rows.held, factors);
  EXPECT_EQ(factors, before);
  EXPECT_NEAR(unseen_factors_of(kGroup, rows.samples, factors).time.front(), 0.3, 1e-9);
  add_seen_factors(kGroup, rows.samples, rows.held, {}, factors);
  EXPECT_EQ(factors.at("operation/gemm-tensor/seen/time"), 2.0);
  EXPECT_NEAR(factors.at("operation/gemm-tensor/seen/energy"), 0.1, 1e-9);
}

// What a calibration does not say comes from the rows.
TEST(Intervals, ACalibrationMaySayOneFactorAlone) {
  const Judged rows = three();
  for (const char* given : {"unseen-gpu", "relative"}) {
    Numbers factors{{fmt::format("operation/gemm-tensor/{}/time", given), 0.3}};
    add_unseen_factors(kGroup, rows.samples, rows.held, factors);
    const HeldOutSpread by_sample = unseen_factors_of(kGroup, rows.samples, factors);
    EXPECT_NEAR(by_sample.time.front(), given == std::string("relative") ? 0.3 : 0.1, 1e-9);
    EXPECT_NEAR(by_sample.time.back(), given == std::string("relative") ? 0.5 : 0.3, 1e-9);
    EXPECT_NEAR(factors.at("operation/gemm-tensor/unseen-gpu/energy"), 0.1, 1e-9);
  }
}

TEST(Intervals, Fp4HasTheUnseenFactorsOfTensorProducts) {
  Numbers factors{{"operation/gemm-tensor/unseen-gpu/time", 0.3},
                  {"operation/gemm-tensor/relative/time", 0.2},
                  {"operation/gemm-tensor/unseen-gpu/power", 0.4},
                  {"operation/gemm-fp4/unseen-gpu/power", 0.6}};
  borrow_unseen_factors(Group::kGemmFp4, factors);
  EXPECT_EQ(factors.at("operation/gemm-fp4/unseen-gpu/time"), 0.3);
  EXPECT_EQ(factors.at("operation/gemm-fp4/relative/time"), 0.2);
  EXPECT_EQ(factors.at("operation/gemm-fp4/unseen-gpu/power"), 0.6) << "a calibration's own stays";
  EXPECT_FALSE(factors.contains("operation/gemm-fp4/relative/power"));
}

}  // namespace
}  // namespace joulecast
