// SPDX-License-Identifier: Apache-2.0
#include "fit/power_law_fit.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

BusyRow row(double compute, double memory, double gpu, double share, double weight = 1.0) {
  return {.physics = {.gpu = gpu, .compute = compute, .memory = memory}, .time = 2.0, .share = share, .weight = weight};
}

// Parts are busy for these shares of 2 s.
TEST(PowerLaw, ByHand) {
  const PowerLaw law{.compute = 0.5, .memory = 0.4, .gpu = 0.2};
  const Physics physics{.gpu = 1.0, .compute = 0.5, .memory = 1.0};
  EXPECT_DOUBLE_EQ(law.share(physics, 2.0), 0.5 * 0.25 + 0.4 * 0.5 + 0.2 * 0.5);
  EXPECT_DOUBLE_EQ(law.share(physics, 0.25), 1.0);  // all busy: 1.1, which is above the limit
  EXPECT_DOUBLE_EQ(PowerLaw{}.share(physics, 2.0), 0.0);
}

// Of convolutions those SMs count that compute.
TEST(PowerLaw, IdleSmsComputeNothing) {
  const PowerLaw law{.compute = 0.5, .memory = 0.0, .gpu = 0.0};
  EXPECT_DOUBLE_EQ(law.share({.compute = 2.0, .mean_compute = 0.5}, 2.0), 0.125);
}

// 1 / (1 + e^((0.39 - duty) / 0.025)) of the way from 0.45 to 1.
TEST(PowerLaw, AGpuWhoseKernelsFillLittleOfTheTimeSleeps) {
  const PowerLaw law{.compute = 0.0, .memory = 0.5, .gpu = 0.0};
  const auto share = [&](double filling) { return law.share({.memory = 1.0, .filling = filling}, 2.0); };
  EXPECT_NEAR(share(0.4), 0.25 * 0.45, 0.001);
  EXPECT_NEAR(share(0.78), 0.25 * 0.725, 1e-9);
  EXPECT_NEAR(share(1.2), 0.25, 0.001);
  EXPECT_DOUBLE_EQ(share(0.0), 0.25) << "not known to sleep";
}

TEST(PowerLawFit, FindsTheLawThatRowsFollow) {
  const PowerLaw wanted{.compute = 0.7, .memory = 0.25, .gpu = 0.1};
  std::vector<BusyRow> rows{row(2, 0.2, 2, 0), row(0.5, 1, 1, 0), row(0.2, 0.1, 0.3, 0), row(1, 2, 2, 0),
                            row(0, 1, 2, 0)};
  for (BusyRow& r : rows) r.share = wanted.share(r.physics, r.time);
  rows.push_back(row(1, 1, 1, 5.0, 0.0));  // of no weight
  const PowerLaw found = least_squares_law(rows);
  EXPECT_NEAR(found.compute, wanted.compute, 0.01);
  EXPECT_NEAR(found.memory, wanted.memory, 0.01);
  EXPECT_NEAR(found.gpu, wanted.gpu, 0.01);
}

TEST(PowerLawFit, NoPartDrawsLessThanNothing) {
  const PowerLaw found =
      least_squares_law({row(2, 0, 2, 0.3), row(0, 2, 2, 0.6), row(0, 0, 2, 0.6), row(2, 2, 2, 0.3)});
  EXPECT_GE(found.compute, 0.0);
  EXPECT_GE(found.memory, 0.0);
  EXPECT_GE(found.gpu, 0.0);
}

TEST(PowerLawFit, NoRowsGiveNoLaw) {
  const PowerLaw found = least_squares_law({});
  EXPECT_EQ(found.compute + found.memory + found.gpu, 0.0);
}

}  // namespace
}  // namespace joulecast
