// SPDX-License-Identifier: Apache-2.0
// All numbers worked by hand from the formulas.
#include "predict/settings/law.h"

#include <gtest/gtest.h>

namespace joulecast::settings {
namespace {

// g(x) = x v(x)^2 with v(x) = (1 + (x - 0.5)) / 1.5 above 0.5.
constexpr GpuConstants kSimple{.static_power = 0.2,
                               .low_power = 0.1,
                               .knee = 0.5,
                               .slope = 1.0,
                               .lowest_clock = 0.25,
                               .held = 1.0,
                               .clocked = 1.0,
                               .unevenness = 0.0};
constexpr std::size_t kAllClock = 10;  // s = 1
constexpr std::size_t kNoClock = 0;    // s = 0

TEST(SettingLaw, VoltageIsFlatUpToTheKneeAndOneAtTheTop) {
  const SettingLaw law(kSimple);
  EXPECT_DOUBLE_EQ(law.voltage(0.3), 1.0 / 1.5);
  EXPECT_DOUBLE_EQ(law.voltage(0.5), 1.0 / 1.5);
  EXPECT_DOUBLE_EQ(law.voltage(0.75), 1.25 / 1.5);
  EXPECT_DOUBLE_EQ(law.voltage(1.0), 1.0);
}

TEST(SettingLaw, HighestClockIsTheReference) {
  const Outcome top = SettingLaw(kSimple).outcome({.sensitivity = kAllClock, .dynamic = 0.8}, {});
  EXPECT_DOUBLE_EQ(top.time, 1.0);
  EXPECT_DOUBLE_EQ(top.power, 1.0);
}

TEST(SettingLaw, ClockSlowsByItsSensitivity) {
  const SettingLaw law(kSimple);
  const Outcome bound = law.outcome({.sensitivity = kAllClock, .dynamic = 0.8}, {.clock = 0.5});
  EXPECT_DOUBLE_EQ(bound.time, 2.0);
  EXPECT_NEAR(bound.power, 0.2 + 0.8 * 0.5 / 2.25, 1e-12);
  const Outcome half = law.outcome({.sensitivity = 5, .dynamic = 0.8}, {.clock = 0.5});
  EXPECT_DOUBLE_EQ(half.time, 1.5);
}

TEST(SettingLaw, PowerThatFollowsTheRateStaysWhereNothingSlows) {
  GpuConstants constants = kSimple;
  constants.clocked = 0.0;
  const Outcome out = SettingLaw(constants).outcome({.sensitivity = kNoClock, .dynamic = 0.8}, {.clock = 0.5});
  EXPECT_DOUBLE_EQ(out.time, 1.0);
  EXPECT_NEAR(out.power, 0.2 + 0.8 / 2.25, 1e-12);
}

TEST(SettingLaw, LimitActsAsTheClockThatMeetsIt) {
  const SettingLaw law(kSimple);
  // At 0.75: 0.2 + 0.8 * 0.75 * (1.25 / 1.5)^2 = 0.616667.
  EXPECT_NEAR(law.clock(kAllClock, 0.8, {.limit = 0.616667}), 0.75, 1e-4);
  const Outcome out = law.outcome({.sensitivity = kAllClock, .dynamic = 0.8}, {.limit = 0.616667});
  EXPECT_NEAR(out.time, 1.0 / 0.75, 2e-4);
  EXPECT_NEAR(out.power, 0.616667, 1e-4);
}

TEST(SettingLaw, LowerOfClockAndLimitWins) {
  const SettingLaw law(kSimple);
  EXPECT_DOUBLE_EQ(law.clock(kAllClock, 0.8, {.clock = 0.5, .limit = 0.616667}), 0.5);
  EXPECT_NEAR(law.clock(kAllClock, 0.8, {.clock = 0.9, .limit = 0.616667}), 0.75, 1e-4);
}

TEST(SettingLaw, LimitIsNotKeptBelowTheLowestClock) {
  const Outcome out = SettingLaw(kSimple).outcome({.sensitivity = kAllClock, .dynamic = 0.8}, {.limit = 0.21});
  EXPECT_DOUBLE_EQ(out.time, 4.0);
  EXPECT_NEAR(out.power, 0.2 + 0.8 * 0.25 / 2.25, 1e-12);
}

TEST(SettingLaw, LowPhaseKeepsItsTimeAndPower) {
  const Outcome out =
      SettingLaw(kSimple).outcome({.sensitivity = kAllClock, .low_share = 0.5, .dynamic = 0.8}, {.clock = 0.5});
  EXPECT_DOUBLE_EQ(out.time, 1.5);
  EXPECT_NEAR(out.power, (0.5 * 0.1 + 0.5 * 2.0 * (0.2 + 0.4 / 2.25)) / 1.5, 1e-12);
}

// Demands of 0.4, 0.8 and 1.2 under a limit of 0.75: x (x + 0.5)^2 / 2.25 is 0.6875 at x = 0.84945 and 0.458333 at
// x = 0.7074, while the first runs freely at 0.6.
TEST(SettingLaw, LimitMeetsUnevenOperationsOneAfterTheOther) {
  GpuConstants constants = kSimple;
  constants.unevenness = 0.5;
  const Outcome out = SettingLaw(constants).outcome({.sensitivity = kAllClock, .dynamic = 0.8}, {.limit = 0.75});
  EXPECT_NEAR(out.time, 1.19202, 1e-4);
  EXPECT_NEAR(out.power, 0.71854, 1e-4);
}

}  // namespace
}  // namespace joulecast::settings
