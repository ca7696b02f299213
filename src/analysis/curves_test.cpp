// SPDX-License-Identifier: Apache-2.0
#include "analysis/curves.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

// `watts` from 0 to `seconds`, polled every 50 ms.
Recording run_of(double watts, double seconds) {
  Recording out;
  out.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  out.readings.emplace_back();
  for (std::int64_t i = 0; i <= std::llround(seconds * 20); ++i)
    out.readings[0].push_back({i * 50'000, std::llround(watts * 1000)});
  return out;
}

TEST(Curves, EachMomentIsOfTheRunsThatReachIt) {
  const Recording one = run_of(100, 4);
  const Recording two = run_of(120, 2);
  const Accountant first(one);
  const Accountant second(two);
  const std::vector<CurveRun> runs{{&one, &first, {"command", {}, 0, 0, 4'000'000, false}},
                                   {&two, &second, {"command", {}, 0, 0, 2'000'000, false}}};
  const auto curves = mean_curves(runs, {Hertz{2}, series::Interpolation::kLinear}).value();
  ASSERT_EQ(curves.size(), 1U);
  const DeviceCurves& gpu = curves[0];
  ASSERT_EQ(gpu.power_w.time_s.size(), 9U);
  EXPECT_EQ(gpu.power_w.runs[4], 2U);
  EXPECT_NEAR(gpu.power_w.mean[4], 110, 1e-9);
  EXPECT_NEAR(*gpu.power_w.standard_deviation[4], 14.142, 1e-3);
  EXPECT_NEAR(*gpu.power_w.high[4] - gpu.power_w.mean[4], 12.706 * 10, 0.01);  // t of one degree of freedom
  EXPECT_EQ(gpu.power_w.runs[5], 1U);
  EXPECT_NEAR(gpu.power_w.mean[5], 100, 1e-9);
  EXPECT_FALSE(gpu.power_w.high[5]);
  EXPECT_NEAR(gpu.energy_j.mean[4], 220, 1e-6);
  EXPECT_NEAR(gpu.energy_j.mean[8], 400, 1e-6);
}

TEST(Curves, EnergyIsTheCountersWhereThereIsOne) {
  Recording one = run_of(100, 4);
  one.channels.push_back({"gpu0", Signal::kEnergy, "nvml-counter", std::nullopt});
  one.readings.emplace_back();
  for (std::int64_t i = 0; i <= 40; ++i) one.readings[1].push_back({i * 100'000, i * 15'000'000});
  const Accountant accountant(one);
  const auto curves =
      mean_curves({{&one, &accountant, {"command", {}, 0, 1'000'000, 3'000'000, false}}}, {Hertz{10}, {}}).value();
  EXPECT_NEAR(curves[0].energy_j.mean.back(), 300, 1e-6);
  EXPECT_NEAR(curves[0].energy_j.mean[5], 75, 1e-6);
  EXPECT_NEAR(curves[0].power_w.mean[5], 100, 1e-6);
}

TEST(Curves, TheNaturalCubicSaysWhereItSwings) {
  Recording one = run_of(100, 4);
  for (std::size_t i = 40; i < one.readings[0].size(); ++i) one.readings[0][i].value = 300'000;
  const Accountant accountant(one);
  const std::vector<CurveRun> runs{{&one, &accountant, {"command", {}, 0, 0, 4'000'000, false}}};
  const auto cubic = mean_curves(runs, {Hertz{100}, series::Interpolation::kNaturalCubic}).value();
  EXPECT_TRUE(series::has(cubic[0].warnings, series::Warning::kOvershoot));
  const auto linear = mean_curves(runs, {Hertz{100}, series::Interpolation::kLinear}).value();
  EXPECT_FALSE(series::has(linear[0].warnings, series::Warning::kOvershoot));
}

TEST(Curves, WithoutReadingsThereAreNone) {
  Recording one;
  one.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  one.readings.emplace_back();
  const Accountant accountant(one);
  EXPECT_FALSE(mean_curves({{&one, &accountant, {"command", {}, 0, 0, 4'000'000, false}}}));
}

}  // namespace
}  // namespace joulecast
