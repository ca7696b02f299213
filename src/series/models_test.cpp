// SPDX-License-Identifier: Apache-2.0
#include "series/models.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace joulecast::series {
namespace {

constexpr double kTop = 1.5e9;

// A GPU that follows the models exactly: fully used up to 300 W, 40 W idle, f = 0.25 + 0.75 min(limit, 300) / 300,
// P = 40 + 60 f + 200 f^3, t = 4 + 6 / f.
SweepPoint point(double limit) {
  const double f = 0.25 + 0.75 * std::min(limit, 300.0) / 300;
  return {Watts{limit}, Hertz{f * kTop}, Watts{40 + 60 * f + 200 * f * f * f}, Seconds{4 + 6 / f}};
}
std::vector<SweepPoint> sweep() {
  std::vector<SweepPoint> points;
  for (double limit = 100; limit <= 300; limit += 25) points.push_back(point(limit));
  return points;
}

TEST(SweepModels, FindTheLawsTheyAreMadeOf) {
  const auto models = fit_models(sweep(), {Watts{40}, Watts{300}, 1.0});
  ASSERT_TRUE(models) << models.error().text();
  EXPECT_DOUBLE_EQ(models->highest_clock.value(), kTop);
  EXPECT_DOUBLE_EQ(models->reference_time.value(), 10);
  EXPECT_NEAR(models->clock.coefficients[0], 0.25, 1e-10);
  EXPECT_NEAR(models->clock.coefficients[1], 0.75, 1e-10);
  EXPECT_NEAR(models->power.coefficients[1] * 300, 60, 1e-6);
  EXPECT_NEAR(models->power.coefficients[3] * 300, 200, 1e-6);
  EXPECT_NEAR(models->delay.coefficients[0] * 10, 4, 1e-9);
  EXPECT_NEAR(models->delay.coefficients[1] * 10, 6, 1e-9);
  for (const auto& r2 :
       {models->clock_r2, models->power_r2, models->time_r2, models->energy_r2, models->energy_delay_r2}) {
    EXPECT_NEAR(*r2, 1, 1e-9);
  }
  const SettingPrediction unseen = models->at(Watts{160});
  EXPECT_NEAR(unseen.clock.value(), 0.65 * kTop, 1);
  EXPECT_NEAR(unseen.power.value(), 40 + 60 * 0.65 + 200 * 0.274625, 1e-6);
  EXPECT_NEAR(unseen.time.value(), 4 + 6 / 0.65, 1e-8);
  EXPECT_NEAR(unseen.energy_delay.value(), unseen.power.value() * unseen.time.value() * unseen.time.value(), 1e-6);
}

TEST(SweepModels, LimitsThatDoNotBindChangeNothing) {
  std::vector<SweepPoint> points = sweep();
  points.push_back(point(350));
  points.push_back(point(400));
  const auto models = fit_models(points, {Watts{40}, Watts{300}, 1.0});
  ASSERT_TRUE(models);
  EXPECT_NEAR(models->clock.coefficients[0], 0.25, 1e-9);
  EXPECT_NEAR(models->at(Watts{400}).time.value(), 10, 1e-8);
  EXPECT_NEAR(best_limit(*models, Optimum::kTime, 601).value(), 300, 0.6);  // the lowest of the fastest
}

TEST(SweepModels, AClockAtItsTopDoesNotBendTheLine) {
  // 0.4 + 0.75 limit / 300 reaches f_max at 240 W.
  std::vector<SweepPoint> points;
  for (double limit = 100; limit <= 300; limit += 20) {
    const double f = std::min(1.0, 0.4 + 0.75 * limit / 300);
    points.push_back({Watts{limit}, Hertz{f * kTop}, Watts{40 + 200 * f * f * f}, Seconds{4 + 6 / f}});
  }
  const auto models = fit_models(points, {Watts{40}, Watts{300}, 1.0});
  ASSERT_TRUE(models);
  EXPECT_NEAR(models->clock.coefficients[1], 0.75, 1e-9);
  EXPECT_NEAR(models->at(Watts{280}).clock.value(), kTop, 1);
}

TEST(SweepModels, OptimaAreWhereTheCurvesHaveThem) {
  const auto models = fit_models(sweep(), {Watts{40}, Watts{300}, 1.0});
  const auto least = [&](auto value) {
    double best = 100;
    for (double limit = 100; limit <= 300; limit += 0.1) {
      if (value(point(limit)) < value(point(best))) best = limit;
    }
    return best;
  };
  const double energy = least([](const SweepPoint& p) { return (p.power * p.time).value(); });
  const double delay = least([](const SweepPoint& p) { return (p.power * p.time * p.time).value(); });
  EXPECT_NEAR(best_limit(*models, Optimum::kEnergy, 2001).value(), energy, 0.3);
  EXPECT_NEAR(best_limit(*models, Optimum::kEnergyDelay, 2001).value(), delay, 0.3);
  EXPECT_LT(energy, delay);
  EXPECT_DOUBLE_EQ(best_limit(*models, Optimum::kTime).value(), 300);
}

TEST(SweepModels, HalfAsBusyAGpuKeepsItsClockLonger) {
  const auto models = fit_models(sweep(), {Watts{40}, Watts{300}, 1.0});
  SweepModels half = *models;
  half.basis.utilization = 0.5;
  EXPECT_GT(half.at(Watts{120}).clock.value(), models->at(Watts{120}).clock.value());
  EXPECT_LT(half.at(Watts{300}).power.value(), models->at(Watts{300}).power.value());
}

TEST(SweepModels, FourLimitsAreDoubtedAndThreeRefused) {
  std::vector<SweepPoint> points{point(150), point(200), point(250), point(300)};
  const auto models = fit_models(points, {Watts{40}, Watts{300}, 1.0});
  ASSERT_TRUE(models);
  EXPECT_TRUE(has(models->warnings, Warning::kFewSamples));
  points.pop_back();
  EXPECT_FALSE(fit_models(points, {Watts{40}, Watts{300}, 1.0}));
}

TEST(SweepModels, RefuseWhatCannotBe) {
  EXPECT_FALSE(fit_models(sweep(), {Watts{40}, Watts{300}, 0.0}));
  EXPECT_FALSE(fit_models(sweep(), {Watts{200}, Watts{300}, 1.0}));  // idle above the power at low limits
  EXPECT_FALSE(fit_models(sweep(), {Watts{40}, Watts{40}, 1.0}));
  EXPECT_FALSE(fit_models({}, {Watts{40}, Watts{300}, 1.0}));
}

TEST(Utilization, IsTheShareOfPowerAboveIdle) {
  EXPECT_DOUBLE_EQ(*utilization_of(Watts{170}, Watts{40}, Watts{300}), 0.5);
  EXPECT_DOUBLE_EQ(*utilization_of(Watts{302}, Watts{40}, Watts{300}), 1);
  EXPECT_FALSE(utilization_of(Watts{330}, Watts{40}, Watts{300}));
  EXPECT_FALSE(utilization_of(Watts{40}, Watts{40}, Watts{300}));
}

}  // namespace
}  // namespace joulecast::series
