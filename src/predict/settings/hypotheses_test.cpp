// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/hypotheses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace joulecast::settings {
namespace {

double sum(const Weights& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

// One hypothesis at two settings.
Curves two_settings() {
  return {.points = 2, .log_time = {0.0F, 0.1F}, .log_power = {0.0F, -0.5F}};
}

TEST(Hypotheses, GridHasAllCombinationsLowShareFastest) {
  const auto& grid = hypothesis_grid();
  ASSERT_EQ(grid.size(), 12U * 39U * 15U);
  EXPECT_EQ(grid[1].low_share, 0.03);
  EXPECT_EQ(grid[1].dynamic, 0.003);
  EXPECT_DOUBLE_EQ(grid[15].dynamic, 0.015);
  EXPECT_EQ(grid.back().sensitivity, 11U);
  EXPECT_EQ(grid.back().low_share, 0.9);
  EXPECT_NEAR(grid.back().dynamic, 1.35, 1e-12);
}

TEST(Hypotheses, CurvesAreTheLawsOutcomes) {
  const SettingLaw law{GpuConstants()};
  const std::vector<Hypothesis> rows{{.sensitivity = 6, .low_share = 0.1, .dynamic = 0.7},
                                     {.sensitivity = 6, .low_share = 0.3, .dynamic = 0.7},
                                     {.sensitivity = 2, .low_share = 0.1, .dynamic = 0.2}};
  const std::vector<OperatingPoint> points{{.limit = 0.5}, {.clock = 0.6}, {}};
  const Curves curves = curves_of(law, rows, points);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t p = 0; p < points.size(); ++p) {
      const Outcome out = law.outcome(rows[r], points[p]);
      EXPECT_NEAR(curves.time_of(r)[p], std::log(out.time), 1e-6);
      EXPECT_NEAR(curves.power_of(r)[p], std::log(out.power), 1e-6);
    }
  }
}

TEST(Hypotheses, LevelOfTimeIsFree) {
  const std::vector<Known> known{{.point = 0, .log_time = 5.0}, {.point = 1, .log_time = 5.1}};
  EXPECT_NEAR(misfits(two_settings(), known)[0], 0.0, 1e-9);
}

// The mean level takes half of the 0.04: two deviations of one sigma.
TEST(Hypotheses, TimesAreHeldAgainstTheirSigma) {
  const std::vector<Known> known{{.point = 0, .log_time = 5.0}, {.point = 1, .log_time = 5.14}};
  EXPECT_NEAR(misfits(two_settings(), known)[0], 1.0, 1e-5);
}

TEST(Hypotheses, PowersHaveALevelAndOutliersGrowLinearly) {
  const std::vector<Known> one_sigma{{.point = 0, .log_power = 0.03}};
  EXPECT_NEAR(misfits(two_settings(), one_sigma)[0], 0.5, 1e-6);
  const std::vector<Known> ten_sigma{{.point = 0, .log_power = -0.3}};
  EXPECT_NEAR(misfits(two_settings(), ten_sigma)[0], 2.5 * (10.0 - 1.25), 1e-6);
}

TEST(Hypotheses, PosteriorWeighsPriorAndMisfit) {
  const Weights even = posterior(std::vector<double>{0.5, 0.5}, std::vector<double>{0.0, std::log(3.0)});
  EXPECT_NEAR(even[0], 0.75, 1e-12);
  const Weights biased = posterior(std::vector<double>{0.1, 0.9}, std::vector<double>{7.0, 7.0});
  EXPECT_NEAR(biased[1], 0.9, 1e-12);
}

TEST(Hypotheses, SmoothingSpreadsOverNeighboursAndKeepsTheSum) {
  Weights inside(kGridSize, 0.0);
  const std::size_t middle = (5 * kDynamicSteps + 20) * kLowShares.size() + 7;
  inside[middle] = 1.0;
  const Weights spread = smoothed(inside, 1);
  EXPECT_DOUBLE_EQ(spread[middle], 0.125);
  EXPECT_DOUBLE_EQ(spread[middle + 1], 0.0625);
  EXPECT_DOUBLE_EQ(spread[middle + kLowShares.size()], 0.0625);
  EXPECT_NEAR(sum(spread), 1.0, 1e-12);
  Weights corner(kGridSize, 0.0);
  corner[0] = 1.0;
  EXPECT_DOUBLE_EQ(smoothed(corner, 1)[0], 0.75 * 0.75 * 0.75);
  EXPECT_NEAR(sum(smoothed(corner, 1)), 1.0, 1e-12);
  // Twice along each axis: 6/16 stay in the middle, 10/16 at an end that takes what would fall outside.
  EXPECT_DOUBLE_EQ(smoothed(inside, 2)[middle], 0.375 * 0.375 * 0.375);
  EXPECT_DOUBLE_EQ(smoothed(corner, 2)[0], 0.625 * 0.625 * 0.625);
}

TEST(Hypotheses, PriorHasAFlatShare) {
  const std::vector<std::uint32_t> seen{0};
  const Weights prior = grid_prior(seen, 0.3);
  EXPECT_NEAR(prior.back(), 0.3 / static_cast<double>(kGridSize), 1e-15);
  // Of eight passes an end keeps (C(16, 8) + C(16, 7)) / 2^16 along each axis.
  const double kept = 24310.0 / 65536.0;
  EXPECT_NEAR(prior[0], 0.7 * kept * kept * kept + 0.3 / static_cast<double>(kGridSize), 1e-12);
  EXPECT_NEAR(grid_prior({}, 0.3)[17], 1.0 / static_cast<double>(kGridSize), 1e-15);
}

TEST(Hypotheses, EqualStepsOfTheRunningSum) {
  EXPECT_EQ(at_equal_steps(std::vector<double>{1.0, 0.5, 0.5, 0.0}, 4), (std::vector<std::uint32_t>{0, 0, 1, 2}));
}

TEST(Hypotheses, RepresentativesFollowTheRunningSum) {
  Weights weights(kGridSize, 0.0);
  weights[0] = 0.5;
  weights[1] = 0.25;
  weights[2] = 0.25;
  EXPECT_EQ(representatives(weights, 4), (std::vector<std::uint32_t>{0, 0, 1, 2}));
}

// The second demand's low shares come back from the highest, the second sensitivity's demands likewise.
TEST(Hypotheses, RepresentativesWalkTheGridForthAndBack) {
  const auto lows = static_cast<std::uint32_t>(kLowShares.size());
  const auto next = static_cast<std::uint32_t>(kDynamicSteps * kLowShares.size());
  Weights weights(kGridSize, 0.0);
  const std::vector<std::uint32_t> walked{lows - 1, 2 * lows - 1, lows, next - 1, 2 * next - 1, next};
  for (const std::uint32_t row : walked) weights[row] = 1.0;
  EXPECT_EQ(representatives(weights, walked.size()), walked);
  const std::vector<Hypothesis>& grid = hypothesis_grid();
  const Weights even(kGridSize, 1.0);
  const auto all = representatives(even, kGridSize);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Hypothesis& a = grid[all[i - 1]];
    const Hypothesis& b = grid[all[i]];
    const int changes = (a.sensitivity != b.sensitivity ? 1 : 0) + (a.dynamic != b.dynamic ? 1 : 0) +
                        (a.low_share != b.low_share ? 1 : 0);
    ASSERT_EQ(changes, 1) << i;
  }
}

}  // namespace
}  // namespace joulecast::settings
