// SPDX-License-Identifier: Apache-2.0
#include "series/resample.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace joulecast::series {
namespace {

TEST(Resample, LinearAtAChosenRate) {
  const Result<Resampled> even = resample({{1, 2, 4}, {10, 20, 0}}, Hertz{2});
  ASSERT_TRUE(even);
  EXPECT_EQ(even->series.time_s, (std::vector<double>{1, 1.5, 2, 2.5, 3, 3.5, 4}));
  EXPECT_EQ(even->series.value, (std::vector<double>{10, 15, 20, 15, 10, 5, 0}));
}

TEST(Resample, KeepsTheLastReadingDespiteRounding) {
  // 0.3 * 10 is a little under 3 in binary.
  EXPECT_EQ(resample({{0, 0.3}, {0, 3}}, Hertz{10})->series.time_s.size(), 4U);
}

TEST(Resample, NaturalCubicThroughThreePoints) {
  // Readings 0, 1, 0 at 0, 1, 2: second derivatives 0, -3, 0, so at 0.5 it is 0.5 + 3/16.
  const Result<Resampled> even = resample({{0, 1, 2}, {0, 1, 0}}, Hertz{2}, Interpolation::kNaturalCubic);
  ASSERT_TRUE(even);
  EXPECT_NEAR(even->series.value[1], 0.6875, 1e-12);
  EXPECT_NEAR(even->series.value[2], 1, 1e-12);
  EXPECT_NEAR(even->series.value[3], 0.6875, 1e-12);
}

TEST(Resample, CubicsKeepAStraightLine) {
  for (const auto kind : {Interpolation::kNaturalCubic, Interpolation::kMonotoneCubic}) {
    const Result<Resampled> even = resample({{0, 1, 3, 4}, {0, 2, 6, 8}}, Hertz{4}, kind);
    ASSERT_TRUE(even);
    for (std::size_t i = 0; i < even->series.time_s.size(); ++i) {
      EXPECT_NEAR(even->series.value[i], 2 * even->series.time_s[i], 1e-12);
    }
  }
}

// An edge of load: what the header warns of.
const Series kEdge{{0, 1, 2, 3, 4, 5}, {10, 10, 10, 300, 300, 300}};

TEST(Resample, NaturalCubicSwingsBelowZeroAtAnEdgeAndSaysSo) {
  const Result<Resampled> even = resample(kEdge, Hertz{10}, Interpolation::kNaturalCubic);
  ASSERT_TRUE(even);
  EXPECT_LT(*std::min_element(even->series.value.begin(), even->series.value.end()), 0);
  EXPECT_TRUE(has(even->warnings, Warning::kOvershoot));
}

TEST(Resample, MonotoneCubicStaysInside) {
  const Result<Resampled> even = resample(kEdge, Hertz{10}, Interpolation::kMonotoneCubic);
  ASSERT_TRUE(even);
  EXPECT_TRUE(std::is_sorted(even->series.value.begin(), even->series.value.end()));
  EXPECT_TRUE(even->warnings.empty());
}

TEST(Resample, MonotoneCubicPeaksAtTheReading) {
  const Result<Resampled> even = resample({{0, 1, 2, 3}, {0, 1, 8, 7}}, Hertz{10}, Interpolation::kMonotoneCubic);
  ASSERT_TRUE(even);
  EXPECT_DOUBLE_EQ(*std::max_element(even->series.value.begin(), even->series.value.end()), 8);
}

TEST(Resample, RefusesARateThatIsNoneAndOneThatIsTooHigh) {
  EXPECT_FALSE(resample(kEdge, Hertz{0}));
  EXPECT_FALSE(resample(kEdge, Hertz{1e9}));
}

TEST(Resample, OneReadingStaysOne) {
  EXPECT_EQ(resample({{3}, {7}}, Hertz{10}, Interpolation::kNaturalCubic)->series.value, (std::vector<double>{7}));
}

}  // namespace
}  // namespace joulecast::series
