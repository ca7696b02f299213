// SPDX-License-Identifier: Apache-2.0
#include "series/series.h"

#include <gtest/gtest.h>

#include <limits>

namespace joulecast::series {
namespace {

const Series kRamp{{10, 11, 13}, {100, 200, 400}};

TEST(Series, AcceptsOneReadingAndRefusesNone) {
  EXPECT_TRUE(check({{0}, {1}}));
  EXPECT_FALSE(check({}));
}

TEST(Series, RefusesTimesThatStandStillOrFall) {
  EXPECT_FALSE(check({{0, 1, 1}, {1, 2, 3}}));
  EXPECT_FALSE(check({{0, 1, 0.5}, {1, 2, 3}}));
}

TEST(Series, RefusesWhatIsNoReading) {
  EXPECT_FALSE(check({{0, 1}, {1, std::numeric_limits<double>::quiet_NaN()}}));
  EXPECT_FALSE(check({{0, 1}, {1}}));
}

TEST(Series, IsReadBetweenItsReadingsByItsMeaning) {
  EXPECT_DOUBLE_EQ(value_at(kRamp, Seconds{12}), 300);
  EXPECT_DOUBLE_EQ(value_at(kRamp, Seconds{12}, Between::kHeld), 200);
  EXPECT_DOUBLE_EQ(value_at(kRamp, Seconds{12}, Between::kSinceLast), 400);
  EXPECT_DOUBLE_EQ(value_at(kRamp, Seconds{11}, Between::kHeld), 200);
}

TEST(Series, RelativeTimeCountsFromTheOrigin) {
  EXPECT_EQ(relative_time(kRamp, Seconds{10}).time_s, (std::vector<double>{0, 1, 3}));
}

TEST(Series, CutInterpolatesAtBothEdges) {
  const Result<Series> middle = cut(kRamp, Seconds{10.5}, Seconds{12});
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->time_s, (std::vector<double>{10.5, 11, 12}));
  EXPECT_EQ(middle->value, (std::vector<double>{150, 200, 300}));
}

TEST(Series, CutAtReadingsRepeatsNone) {
  const Result<Series> whole = cut(kRamp, Seconds{10}, Seconds{13});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->time_s, kRamp.time_s);
  EXPECT_EQ(whole->value, kRamp.value);
}

TEST(Series, CutOutsideTheReadingsIsRefused) {
  EXPECT_FALSE(cut(kRamp, Seconds{9}, Seconds{12}));
  EXPECT_FALSE(cut(kRamp, Seconds{12}, Seconds{12}));
}

}  // namespace
}  // namespace joulecast::series
