// SPDX-License-Identifier: Apache-2.0
#include "fit/benches.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace joulecast {
namespace {

// Products in FP32: `modules` of them as modules, `loops` in bare loops.
std::vector<Sample> products(int modules, int loops) {
  std::vector<Sample> out(static_cast<std::size_t>(modules + loops));
  for (Sample& s : out) {
    s.work = GemmWork{.rows = 64, .columns = 64, .depth = 64, .arithmetic = Arithmetic::kFp32};
    s.gpu = *Catalogue::shipped().find("t4");
    s.device = make_device(*s.gpu, {}).value();
    s.situation.host = modules-- > 0 ? Host::kModern : Host::kBare;
  }
  return out;
}

bool named(const std::vector<Sample>& samples, const std::string& key) {
  const std::vector<std::string> keys = measured_keys(samples);
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

TEST(Benches, ModelsOfModulesAnswerWhereEnoughOfThemWereMeasured) {
  const std::vector<Sample> both = products(20, 1000);
  EXPECT_EQ(answering_benches(both), std::vector<Bench>(both.size(), Bench::kModules));
  EXPECT_TRUE(named(both, "arithmetic/gemm-simt/fp32/t4"));
  EXPECT_FALSE(named(both, "arithmetic-loops/gemm-simt/fp32/t4"));
  EXPECT_TRUE(named(both, "generation/gemm-simt/7")) << "the T4's compute capability is 7.5";
}

TEST(Benches, ModelsOfLoopsAnswerWhereTooFewModulesWereMeasured) {
  const std::vector<Sample> both = products(19, 20);
  EXPECT_EQ(answering_benches(both), std::vector<Bench>(both.size(), Bench::kLoops));
  EXPECT_TRUE(named(both, "arithmetic-loops/gemm-simt/fp32/t4"));
  EXPECT_TRUE(named(both, "seen-loops/gemm-simt/t4"));
  EXPECT_FALSE(named(both, "arithmetic/gemm-simt/fp32/t4"));
}

TEST(Benches, EachGpuHasItsOwn) {
  std::vector<Sample> samples = products(0, 30);
  for (Sample& s : products(30, 0)) {
    s.gpu = *Catalogue::shipped().find("a30");
    samples.push_back(std::move(s));
  }
  const std::vector<Bench> found = answering_benches(samples);
  EXPECT_EQ(std::count(found.begin(), found.begin() + 30, Bench::kLoops), 30);
  EXPECT_EQ(std::count(found.begin() + 30, found.end(), Bench::kModules), 30);
}

TEST(Benches, WithoutACapabilityThereIsNoGeneration) {
  std::vector<Sample> samples = products(20, 0);
  for (Sample& s : samples) s.device.capability = 0.0;
  EXPECT_EQ(measured_keys(samples).size(), 2U) << "seen and arithmetic";
}

TEST(Benches, AFewRowsTellNothing) {
  EXPECT_TRUE(measured_keys(products(19, 0)).empty());
  EXPECT_TRUE(measured_keys(products(0, 19)).empty());
  EXPECT_TRUE(measured_keys(products(19, 19)).empty()) << "neither of them";
}

}  // namespace
}  // namespace joulecast
