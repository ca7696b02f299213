// SPDX-License-Identifier: Apache-2.0
#include "series/sampling.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::series {
namespace {

TEST(Sampling, OfAnEvenSeries) {
  Series series;
  for (int i = 0; i <= 50; ++i) {
    series.time_s.push_back(i * 0.5);
    series.value.push_back(1);
  }
  const Result<Sampling> result = sampling_of(series);
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->rate.value(), 2);
  EXPECT_DOUBLE_EQ(result->jitter.value(), 0);
  EXPECT_EQ(result->lost, 0U);
  EXPECT_TRUE(result->warnings.empty());
}

TEST(Sampling, CountsWhatWasLost) {
  // Gaps 1, 1, 1.5, 1, 3.2: 1.5 is late but not lost, 3.2 lacks two.
  const Result<Sampling> result = sampling_of({{0, 1, 2, 3.5, 4.5, 7.7}, {1, 1, 1, 1, 1, 1}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->lost, 2U);
  EXPECT_DOUBLE_EQ(result->usual_gap.value(), 1);
  EXPECT_NEAR(result->longest_gap.value(), 3.2, 1e-12);
  EXPECT_DOUBLE_EQ(result->longest_gap_at.value(), 4.5);
  // Squares of distances from 1.54: 3 * 0.2916 + 0.0016 + 2.7556
  EXPECT_NEAR(result->jitter.value(), std::sqrt(3.632 / 4), 1e-12);
  EXPECT_NEAR(result->coefficient_of_variation, std::sqrt(3.632 / 4) / 1.54, 1e-12);
  EXPECT_TRUE(has(result->warnings, Warning::kLostSamples));
}

TEST(Sampling, OfTwoReadingsIsRefused) {
  EXPECT_FALSE(sampling_of({{0, 1}, {1, 1}}));
}

// A register that updates every `period`, polled every `poll`; every `same`-th update repeats its value.
Series polled(double period, double poll, int same) {
  Series series;
  for (int i = 0; i * poll < 10; ++i) {
    const int update = static_cast<int>(std::floor(i * poll / period + 1e-9));
    series.time_s.push_back(i * poll);
    series.value.push_back(update - (update % same == 0 ? 1 : 0));
  }
  return series;
}

TEST(UpdatePeriod, IsFoundFromPollsThatDoNotDivideIt) {
  const Result<UpdatePeriod> result = update_period(polled(0.104, 0.013, 1000));
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->period.value(), 0.104, 0.0005);
  EXPECT_TRUE(result->warnings.empty());
}

TEST(UpdatePeriod, IsNotDoubledByRepeatedValues) {
  EXPECT_NEAR(update_period(polled(0.1, 0.007, 2))->period.value(), 0.2, 0.001);  // it looks like nothing else
  EXPECT_NEAR(update_period(polled(0.1, 0.007, 3))->period.value(), 0.1, 0.001);
}

// What updates every `period` and is polled every `poll` shows of a load that turns every `half`.
Series square(double period, double poll, double half) {
  Series series;
  for (int i = 0; i * poll < 20; ++i) {
    const double update = std::floor(i * poll / period + 1e-9) * period;
    series.time_s.push_back(i * poll);
    series.value.push_back(static_cast<int>(std::floor(update / half + 1e-9)) % 2);
  }
  return series;
}

TEST(UpdatePeriod, IsTheGridOfASquareWavesChangesNotTheirMean) {
  for (const double poll : {0.007, 0.02}) {
    const auto result = update_period(square(0.1, poll, 0.25));  // 200 and 300 ms in turn
    EXPECT_NEAR(result->period.value(), 0.1, 0.001) << poll;
    EXPECT_GE(result->on_grid, 0.9);
    EXPECT_NEAR(update_period(square(0.1, poll, 0.2))->period.value(), 0.2, 0.001) << "nothing tells the half of it";
  }
}

TEST(UpdatePeriod, SaysWhereChangesHaveNoGrid) {
  Series series = square(0.1, 0.02, 0.25);
  for (std::size_t i = 0; i < series.value.size(); ++i) {
    series.value[i] = std::floor(std::pow(static_cast<double>(i), 0.8) / 5);
  }
  EXPECT_LT(update_period(series)->on_grid, 0.75);
}

TEST(UpdatePeriod, SaysWhenPollsAreTooSlow) {
  EXPECT_TRUE(has(update_period(polled(0.1, 0.09, 1000))->warnings, Warning::kPolledTooSlowly));
}

TEST(UpdatePeriod, OfAConstantIsRefused) {
  EXPECT_FALSE(update_period({{0, 1, 2, 3}, {5, 5, 5, 5}}));
}

TEST(Changes, KeepsOneReadingAValue) {
  const Result<Series> result = changes({{0, 1, 2, 3}, {5, 5, 6, 5}});
  EXPECT_EQ(result->time_s, (std::vector<double>{0, 2, 3}));
}

}  // namespace
}  // namespace joulecast::series
