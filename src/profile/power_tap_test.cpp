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
    tap_.begin();
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

TEST_F(Tap, ItsSensorsSayHowLongACaseHasToRun) {
  EXPECT_NEAR(tap_.span()->span.value(), 2.04, 0.01);
}

}  // namespace
}  // namespace joulecast::profile
