// SPDX-License-Identifier: Apache-2.0
#include "series/iterations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast::series {
namespace {

// 20 readings around 200 W (10 of 198, 10 of 202) and a start-up reading of 60 W.
std::vector<double> readings() {
  std::vector<double> power{60};
  for (int i = 0; i < 10; ++i) power.insert(power.end(), {198, 202});
  return power;
}

TEST(PerIteration, FollowsTheThesisEquations) {
  const Result<PerIteration> result = per_iteration(readings(), {Seconds{10}, Seconds{0.1}, 1000});
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->power.value(), 4060.0 / 21, 1e-12);  // (3.1)
  EXPECT_EQ(result->dropped, 1U);                          // (3.3)
  EXPECT_DOUBLE_EQ(result->kept_power.value(), 200);
  const double deviation = std::sqrt(20 * 4.0 / 19);
  EXPECT_DOUBLE_EQ(result->kept_deviation.value(), deviation);          // (3.2)
  EXPECT_DOUBLE_EQ(result->total_energy.value(), 2000);                 // (3.4)
  EXPECT_DOUBLE_EQ(result->total_deviation.value(), deviation * 10);    // (3.5)
  EXPECT_DOUBLE_EQ(result->time.value(), 0.01);                         // (3.6)
  EXPECT_DOUBLE_EQ(result->energy.value(), 2);                          // (3.7)
  EXPECT_DOUBLE_EQ(result->time_deviation.value(), 0.0001);             // (3.8)
  EXPECT_DOUBLE_EQ(result->energy_deviation.value(), deviation / 100);  // (3.9)
}

TEST(PerIteration, StandardErrorCountsReadingsAndTheTime) {
  const Result<PerIteration> result = per_iteration(readings(), {Seconds{10}, Seconds{0.1}, 1000});
  // Power: sqrt(80 / 19) * 10 / sqrt(20) J; time: 200 W * 0.1 s; a thousandth each.
  EXPECT_NEAR(result->energy_standard_error.value(), std::sqrt(80.0 / 19 * 100 / 20 + 400) / 1000, 1e-12);
}

TEST(PerIteration, DoubtsShortAndNoisyRuns) {
  const Result<PerIteration> result = per_iteration(std::vector<double>{100, 200, 150}, {Seconds{0.05}, Seconds{0}, 1});
  ASSERT_TRUE(result);
  EXPECT_TRUE(has(result->warnings, Warning::kShortWindow));
  EXPECT_TRUE(has(result->warnings, Warning::kNoisy));
  EXPECT_TRUE(has(result->warnings, Warning::kFewSamples));
}

TEST(PerIteration, RefusesRunsWithoutContent) {
  EXPECT_FALSE(per_iteration(readings(), {Seconds{10}, Seconds{0}, 0}));
  EXPECT_FALSE(per_iteration(readings(), {Seconds{0}, Seconds{0}, 1}));
  EXPECT_FALSE(per_iteration(std::vector<double>{200}, {Seconds{10}, Seconds{0}, 1}));
}

}  // namespace
}  // namespace joulecast::series
