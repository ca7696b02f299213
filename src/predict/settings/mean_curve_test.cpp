// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/mean_curve.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::settings {
namespace {

const std::vector<OperatingPoint> kLimits{{.limit = 0.4}, {.limit = 0.5}, {.limit = 0.75}, {.limit = 1.0}};

MeanCurve zero() {
  return {std::vector<double>(kLimits.size(), 0.0), std::vector<double>(kLimits.size(), 0.0)};
}

TEST(MeanCurve, WeighsLogarithms) {
  const Curves curves{.points = 1, .log_time = {1.0F, 2.0F}, .log_power = {-1.0F, -3.0F}};
  const MeanCurve mean = mean_curve(curves, {0.75, 0.25});
  EXPECT_NEAR(mean.log_time[0], 1.25, 1e-6);
  EXPECT_NEAR(mean.log_power[0], -1.5, 1e-6);
}

TEST(MeanCurve, OneKnownSettingShiftsAll) {
  const MeanCurve moved = through_known(zero(), kLimits, std::vector<Known>{{.point = 3, .log_power = 0.1}});
  EXPECT_DOUBLE_EQ(moved.log_power[0], 0.1);
  EXPECT_DOUBLE_EQ(moved.log_time[0], 0.0);
}

TEST(MeanCurve, TwoKnownSettingsAreJoinedByALine) {
  const std::vector<Known> known{{.point = 3, .log_time = 0.0}, {.point = 1, .log_time = 0.1}};
  const MeanCurve moved = through_known(zero(), kLimits, known);
  EXPECT_DOUBLE_EQ(moved.log_time[0], 0.1);  // beyond the last one as at it
  EXPECT_DOUBLE_EQ(moved.log_time[2], 0.05);
  EXPECT_DOUBLE_EQ(moved.log_time[3], 0.0);
}

// Numbers of numpy: mean + k(x, X) (k(X, X) + noise^2 I)^-1 (d - mean) with k = 0.04^2 exp(-((a - b) / 0.18)^2 / 2).
TEST(MeanCurve, ThreeKnownSettingsGiveASmoothResidual) {
  const std::vector<Known> known{{.point = 1, .log_time = 0.02, .log_power = 0.02},
                                 {.point = 2, .log_time = -0.01, .log_power = -0.01},
                                 {.point = 3, .log_time = 0.0, .log_power = 0.0}};
  const MeanCurve moved = through_known(zero(), kLimits, known);
  EXPECT_NEAR(moved.log_time[0], 0.02026642, 1e-7);
  EXPECT_NEAR(moved.log_time[1], 0.01851648, 1e-7);
  EXPECT_NEAR(moved.log_time[3], -0.0002832, 1e-7);
  EXPECT_NEAR(moved.log_power[1], 0.01701937, 1e-7);
}

TEST(MeanCurve, DistanceIsToTheNearestKnownSetting) {
  const MeanCurve curve{{0.3, 0.1, 0.0}, {-0.5, -0.2, 0.0}};
  const std::vector<std::size_t> last{2};
  const std::vector<std::size_t> both{1, 2};
  EXPECT_NEAR(distance(curve, 0, last), 0.8, 1e-12);
  EXPECT_NEAR(distance(curve, 0, both), 0.5, 1e-12);
  EXPECT_NEAR(distance(curve, 1, both), 0.05, 1e-12);
}

// Energies at two settings: hypothesis 0 (90 %) loses 0 and 6 %, hypothesis 1 (10 %) 50 % and 0. Means are 5 % and
// 5.4 %, root mean squares 15.8 % and 5.7 %.
TEST(MeanCurve, RecommendationAvoidsTheCliff) {
  const auto log_of = [](double x) { return static_cast<float>(std::log(x)); };
  const Curves curves{
      .points = 2, .log_time = {0.0F, 0.0F, 0.0F, 0.0F}, .log_power = {0.0F, log_of(1.06), log_of(1.5), 0.0F}};
  const std::vector<std::size_t> both{0, 1};
  EXPECT_EQ(recommended(curves, {0.9, 0.1}, Objective::kEnergy, both), 1U);
  EXPECT_EQ(recommended(curves, {0.999, 0.001}, Objective::kEnergy, both), 0U);
}

TEST(MeanCurve, HypothesesMoveAsTheirMeanDid) {
  const Curves curves{.points = 2, .log_time = {0.5F, 0.0F, 1.0F, 0.0F}, .log_power = {-1.0F, 0.0F, -2.0F, 0.0F}};
  const Curves found = moved(curves, {{0.75, 0.0}, {-1.5, 0.0}}, {{1.0, 0.0}, {-1.25, 0.125}});
  EXPECT_EQ(found.log_time, (std::vector<float>{0.75F, 0.0F, 1.25F, 0.0F}));
  EXPECT_EQ(found.log_power, (std::vector<float>{-0.75F, 0.125F, -1.75F, 0.125F}));
}

// Energies of setting 0 beside setting 1: 10 % less (weight 0.3), 1 % less (0.3), 5 % more (0.4).
TEST(MeanCurve, ChanceOfSavingAddsUpWeights) {
  const auto log_of = [](double x) { return static_cast<float>(std::log(x)); };
  const Curves curves{.points = 2,
                      .log_time = std::vector<float>(6, 0.0F),
                      .log_power = {log_of(0.9), 0.0F, log_of(0.99), 0.0F, log_of(1.05), 0.0F}};
  EXPECT_NEAR(chance_of_saving(curves, {0.3, 0.3, 0.4}, Objective::kEnergy, 0, 1, 0.98), 0.3, 1e-12);
  EXPECT_NEAR(chance_of_saving(curves, {0.3, 0.3, 0.4}, Objective::kEnergy, 0, 1, 1.0), 0.6, 1e-12);
}

// 10 % less power in 5 % more time: 5.5 % less energy, 0.8 % less energy times delay.
TEST(MeanCurve, ChanceOfSavingDependsOnTheObjective) {
  const auto log_of = [](double x) { return static_cast<float>(std::log(x)); };
  const Curves curves{.points = 2, .log_time = {log_of(1.05), 0.0F}, .log_power = {log_of(0.9), 0.0F}};
  EXPECT_EQ(chance_of_saving(curves, {1.0}, Objective::kEnergy, 0, 1, 0.98), 1.0);
  EXPECT_EQ(chance_of_saving(curves, {1.0}, Objective::kEdp, 0, 1, 0.98), 0.0);
  EXPECT_EQ(chance_of_saving(curves, {1.0}, Objective::kEdp, 0, 1, 1.0), 1.0);
  EXPECT_EQ(chance_of_saving(curves, {1.0}, Objective::kTime, 0, 1, 1.0), 0.0);
}

TEST(MeanCurve, RecommendationDependsOnTheObjective) {
  // Setting 0 takes 10 % longer at 15 % less power: 6.5 % less energy, 2.9 % more delay times energy.
  const auto log_of = [](double x) { return static_cast<float>(std::log(x)); };
  const Curves curves{.points = 2, .log_time = {log_of(1.1), 0.0F}, .log_power = {log_of(0.85), 0.0F}};
  const std::vector<std::size_t> both{0, 1};
  EXPECT_EQ(recommended(curves, {1.0}, Objective::kEnergy, both), 0U);
  EXPECT_EQ(recommended(curves, {1.0}, Objective::kEdp, both), 1U);
  EXPECT_EQ(recommended(curves, {1.0}, Objective::kTime, both), 1U);
  const std::vector<std::size_t> first{0};
  EXPECT_EQ(recommended(curves, {1.0}, Objective::kEdp, first), 0U);
}

}  // namespace
}  // namespace joulecast::settings
