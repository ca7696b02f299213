// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analysis/account.h"

namespace joulecast {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;

// 100 W for five seconds, 300 W for five more, each read every 50 ms from `from` on.
Recording recording(Signal signal, const char* source, MonotonicUs from = 0) {
  Recording out;
  out.channels.push_back({"gpu0", signal, source, std::nullopt});
  out.readings.emplace_back();
  for (MonotonicUs t = from; t <= 10 * kSecond; t += 50'000) {
    const bool late = t > 5 * kSecond;
    // Power in mW, energy in µJ.
    const std::int64_t energy = late ? 5 * kSecond * 100 + (t - 5 * kSecond) * 300 : t * 100;
    out.readings.back().push_back({t, signal == Signal::kEnergy ? energy : late ? 300'000 : 100'000});
  }
  return out;
}

double at(const series::Series& curve, double time) {
  return series::value_at(curve, Seconds{time});
}

TEST(EnergyCurve, FollowsTheCounter) {
  const Recording run = recording(Signal::kEnergy, "nvml-counter");
  const auto curve = Accountant(run).energy_curve("gpu0", kSecond, 9 * kSecond);
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->time_s.front(), 0);
  EXPECT_EQ(curve->time_s.back(), 8);
  EXPECT_NEAR(at(*curve, 0), 0, 1e-9);
  EXPECT_NEAR(at(*curve, 4), 400, 1e-6);
  EXPECT_NEAR(at(*curve, 6), 1000, 1e-6);
  EXPECT_NEAR(at(*curve, 8), 1600, 1e-6);
}

TEST(EnergyCurve, IsTheIntegralOfPowerWhereNothingCounts) {
  const Recording run = recording(Signal::kPower, "nvml-instant");
  const auto curve = Accountant(run).energy_curve("gpu0", 0, 10 * kSecond);
  ASSERT_TRUE(curve);
  EXPECT_NEAR(at(*curve, 5), 500, 0.1);
  EXPECT_NEAR(at(*curve, 10), 2000, 10);
}

TEST(EnergyCurve, EndsAtTheTotalWhereReadingsBeganLate) {
  const Recording run = recording(Signal::kPower, "nvml-instant", kSecond / 2);
  const Accountant accountant(run);
  const auto curve = accountant.energy_curve("gpu0", 0, 10 * kSecond);
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->time_s.front(), 0);
  EXPECT_EQ(curve->value.front(), 0);
  EXPECT_NEAR(curve->value.back(), accountant.account("gpu0", 0, 10 * kSecond).energy[0].energy.value(), 1e-6);
}

TEST(EnergyCurve, IsAbsentWhereReadingsCoverTooLittle) {
  const Recording run = recording(Signal::kPower, "nvml-instant", 3 * kSecond);
  EXPECT_FALSE(Accountant(run).energy_curve("gpu0", 0, 10 * kSecond));
  EXPECT_FALSE(Accountant(run).energy_curve("gpu1", 0, 10 * kSecond));
}

}  // namespace
}  // namespace joulecast
