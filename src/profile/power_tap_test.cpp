// SPDX-License-Identifier: Apache-2.0
#include "profile/power_tap.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::profile {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;

nlohmann::json head() {
  return {{"devices",
           {{{"id", "gpu0"},
             {"name", "NVIDIA GeForce RTX 2080 Ti"},
             {"details", {{"architecture", "turing"}, {"driver", "535.54"}}}}}}};
}

// Windows of 0.5 s from `begin` to `end`, ten iterations each.
CaseTiming windows(MonotonicUs begin, MonotonicUs end) {
  CaseTiming timing;
  for (MonotonicUs at = begin; at < end; at += kSecond / 2)
    timing.windows.push_back({10, at, at + kSecond / 2, 0.1, {}});
  summarize(timing);
  return timing;
}

// 100 W until 2 s, then 200 W, read every 100 ms.
class Tap : public ::testing::Test {
 protected:
  void SetUp() override {
    tap_.begin(0);
    for (MonotonicUs at = 0; at <= 10 * kSecond; at += kSecond / 10) {
      tap_.add(0, {at, at < 2 * kSecond ? 100'000 : 200'000});
      tap_.add(1, {at, at > 5 * kSecond ? 0x20 : 0});
    }
  }
  PowerTap tap_{
      {{"gpu0", Signal::kPower, "nvml-instant", {}}, {"gpu0", Signal::kEventReasons, "nvml", {}}}, head(), "gpu0"};
};

TEST_F(Tap, PowerOfTheWindows) {
  const PowerFinding found = tap_.finding(windows(3 * kSecond, 9 * kSecond));
  ASSERT_TRUE(found.power);
  EXPECT_NEAR(found.power->power_w, 200, 1e-6);
  EXPECT_NEAR(found.power->energy_j, 200 * 0.05, 1e-9);
  EXPECT_EQ(found.power->source, "nvml-instant");
}

TEST_F(Tap, WhatComesBeforeThePowerSettlesIsLeftOut) {
  const PowerFinding found = tap_.finding(windows(kSecond, 9 * kSecond));
  ASSERT_TRUE(found.power);
  EXPECT_NEAR(found.power->power_w, 200, 1);
  ASSERT_FALSE(found.doubts.empty());
  EXPECT_EQ(found.doubts.back(), "power had not settled: its first 1.0 s are left out");
}

TEST_F(Tap, WhatHeldTheClocksDownIsNamed) {
  EXPECT_EQ(tap_.finding(windows(3 * kSecond, 9 * kSecond)).slowed_by, "thermal slowdown");
  EXPECT_EQ(tap_.finding(windows(3 * kSecond, 5 * kSecond)).slowed_by, "");
}

// Somebody sets 200 W for two seconds while a case of 300 W runs, and all is as it was when it is over.
TEST(TapSettings, WhatChangesAndChangesBackDidNotLast) {
  PowerTap tap({{"gpu0", Signal::kPowerLimit, "nvml", {}}, {"gpu0", Signal::kSmClock, "nvml", {}}}, head(), "gpu0");
  tap.add(0, {0, 400'000});  // of the case before
  tap.begin(kSecond);
  for (MonotonicUs at = kSecond; at <= 10 * kSecond; at += kSecond) {
    tap.add(0, {at, at >= 4 * kSecond && at < 6 * kSecond ? 200'000 : 300'000});
    tap.add(1, {at, at == 8 * kSecond ? 1'400'000'000 : 1'200'000'000});
  }
  GpuSettings limit, lock;
  limit.power_limit_mw = 300'000;
  lock.sm_lock = ClockRange{1200, 1200};
  EXPECT_EQ(tap.not_held(windows(2 * kSecond, 9 * kSecond), limit),
            "gpu0: 300 W is asked for, but 200 W was enforced 2.0 s after its begin");
  EXPECT_EQ(tap.not_held(windows(6 * kSecond, 9 * kSecond), limit), "");
  EXPECT_EQ(tap.not_held(windows(kSecond, 3 * kSecond), limit), "") << "the limit before the case is not its own";
  EXPECT_NE(tap.not_held(windows(2 * kSecond, 9 * kSecond), lock), "");
  EXPECT_EQ(tap.not_held(windows(2 * kSecond, 7 * kSecond), lock), "");
}

TEST_F(Tap, ItsSensorsSayHowLongACaseHasToRun) {
  EXPECT_NEAR(tap_.span()->span.value(), 2.04, 0.01);
}

}  // namespace
}  // namespace joulecast::profile
