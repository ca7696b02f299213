// SPDX-License-Identifier: Apache-2.0
#include "analysis/limit_changes.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;

// 500 W, 350 W from 12 s to 14 s.
Recording recording() {
  Recording out;
  out.channels.push_back({"gpu0", Signal::kPowerLimit, "nvml", std::nullopt});
  out.readings.push_back(
      {{10 * kSecond, 500'000}, {12 * kSecond, 350'000}, {14 * kSecond, 500'400}, {16 * kSecond, 500'000}});
  return out;
}

Phase command(MonotonicUs begin, MonotonicUs end) {
  return {"command", {}, 0, begin * kSecond, end * kSecond, false};
}

TEST(LimitChanges, AreSaidOnceADevice) {
  EXPECT_EQ(limit_doubts(recording(), {command(11, 13), command(13, 15)}),
            std::vector<std::string>{
                "gpu0: its power limit did not stay: 500 W, then 350 W from 1.00 s on; something else sets it"});
}

TEST(LimitChanges, WhatItWasAfterwardsIsSaid) {
  EXPECT_EQ(limit_doubts(recording(), {command(11, 17)}),
            std::vector<std::string>{"gpu0: its power limit did not stay: 500 W, then 350 W from 1.00 s, 500.4 W again "
                                     "from 3.00 s on; something else sets it"});
  Recording restless = recording();
  restless.readings[0].clear();
  for (int i = 0; i < 9; ++i) restless.readings[0].push_back({i * kSecond, i % 2 == 0 ? 500'000 : 400'000});
  EXPECT_EQ(
      limit_doubts(restless, {command(0, 9)}),
      std::vector<std::string>{
          "gpu0: its power limit did not stay: 500 W, then 400 W from 1.00 s, 500 W again from 2.00 s, 400 W again "
          "from 3.00 s, 500 W again from 4.00 s and 4 changes more; something else sets it"});
}

TEST(LimitChanges, OutsideOfTheCommandAndByRoundingAreNone) {
  EXPECT_TRUE(limit_doubts(recording(), {command(10, 11), command(14, 16)}).empty());
}

TEST(LimitChanges, WhatWasInForceBeforeCounts) {
  const auto found = in_force(recording().readings[0], 13 * kSecond, 14 * kSecond);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.front().value, 350'000);
  EXPECT_TRUE(in_force({}, 0, kSecond).empty());
}

}  // namespace
}  // namespace joulecast
