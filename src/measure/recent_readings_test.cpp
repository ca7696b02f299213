// SPDX-License-Identifier: Apache-2.0
#include "measure/recent_readings.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

RecentReadings ten_each_second() {
  RecentReadings kept(2);
  for (int i = 0; i < 10; ++i) kept.add(0, {i * 1'000'000, i});
  kept.add(1, {500'000, 7});
  return kept;
}

TEST(RecentReadings, AWindowHasAReadingOnEitherSide) {
  const auto around = ten_each_second().around(2'500'000, 4'000'000);
  ASSERT_EQ(around.size(), 2U);
  ASSERT_EQ(around[0].size(), 4U);
  EXPECT_EQ(around[0].front().time, 2'000'000);
  EXPECT_EQ(around[0].back().time, 5'000'000);
  ASSERT_EQ(around[1].size(), 1U);  // the last one there was
}

TEST(RecentReadings, WithNothingBeyondAWindowHasWhatThereIs) {
  const auto around = ten_each_second().around(-5, 99'000'000);
  EXPECT_EQ(around[0].size(), 10U);
  EXPECT_TRUE(RecentReadings(1).around(0, 1).front().empty());
}

TEST(RecentReadings, TheLastReadingBeforeAMomentStays) {
  RecentReadings kept = ten_each_second();
  kept.drop_before(6'500'000);
  EXPECT_EQ(kept.count(), 5U);  // 6, 7, 8, 9 s, and the other channel's only one
  EXPECT_EQ(kept.around(0, 7'000'000)[0].front().time, 6'000'000);
  kept.drop_before(99'000'000);
  EXPECT_EQ(kept.count(), 2U);
}

}  // namespace
}  // namespace joulecast
