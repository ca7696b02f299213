// SPDX-License-Identifier: Apache-2.0
#include "series/runs.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace joulecast::series {
namespace {

TEST(MeanCurve, CountsARunWhileItGoesOn) {
  const std::array<Series, 3> runs{Series{{0, 2}, {10, 10}}, Series{{0, 1}, {20, 20}}, Series{{0, 1}, {30, 30}}};
  const Result<MeanCurve> curve = mean_curve(runs, Hertz{1});
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->runs, (std::vector<std::size_t>{3, 3, 1}));
  EXPECT_EQ(curve->mean, (std::vector<double>{20, 20, 10}));
  EXPECT_DOUBLE_EQ(*curve->standard_deviation[0], 10);
  // t(0.975, 2) = 4.302653
  EXPECT_NEAR(*curve->high[0] - curve->mean[0], 4.302653 * 10 / std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(curve->mean[0] - *curve->low[0], 4.302653 * 10 / std::sqrt(3.0), 1e-5);
  EXPECT_FALSE(curve->low[2]);
  EXPECT_TRUE(has(curve->warnings, Warning::kFewSamples));
}

TEST(MeanCurve, ReadsRunsLinearly) {
  const std::array<Series, 2> runs{Series{{0, 1}, {0, 10}}, Series{{-0.5, 0.5, 1}, {0, 2, 2}}};
  const Result<MeanCurve> curve = mean_curve(runs, Hertz{2});
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->mean, (std::vector<double>{0.5, 3.5, 6}));
}

TEST(MeanCurve, RefusesRunsThatDoNotStartTogether) {
  const std::array<Series, 2> runs{Series{{0, 1}, {0, 10}}, Series{{0.5, 1}, {2, 2}}};
  const Result<MeanCurve> curve = mean_curve(runs, Hertz{2});
  ASSERT_FALSE(curve);
  EXPECT_EQ(curve.error().text().substr(0, 5), "run 1");
}

TEST(MeanCurve, RefusesNothingAndNonsense) {
  const std::array<Series, 1> runs{Series{{0, 1}, {0, 10}}};
  EXPECT_FALSE(mean_curve({}, Hertz{1}));
  EXPECT_FALSE(mean_curve(runs, Hertz{0}));
  EXPECT_FALSE(mean_curve(runs, Hertz{1}, 1.0));
}

}  // namespace
}  // namespace joulecast::series
