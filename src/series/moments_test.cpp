// SPDX-License-Identifier: Apache-2.0
#include "series/moments.h"

#include <gtest/gtest.h>

#include <vector>

namespace joulecast::series {
namespace {

TEST(Moments, OfNothingAreAbsent) {
  EXPECT_FALSE(mean({}));
  EXPECT_FALSE(median({}));
  EXPECT_FALSE(standard_deviation(std::vector<double>{3.0}));
}

TEST(Moments, MeanAndStandardDeviation) {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};  // squares of distances from 5 sum to 32
  EXPECT_DOUBLE_EQ(*mean(values), 5);
  EXPECT_DOUBLE_EQ(*standard_deviation(values), std::sqrt(32.0 / 7.0));
  EXPECT_DOUBLE_EQ(*coefficient_of_variation(values), std::sqrt(32.0 / 7.0) / 5.0);
}

TEST(Moments, SmallScatterOnALargeMeanIsKept) {
  const std::vector<double> values{1e9 + 1, 1e9 + 2, 1e9 + 3};
  EXPECT_DOUBLE_EQ(*standard_deviation(values), 1.0);
}

TEST(Moments, SumKeepsWhatANaiveSumLoses) {
  CompensatedSum sum;
  for (const double value : {1.0, 1e100, 1.0, -1e100}) sum.add(value);
  EXPECT_EQ(sum.value(), 2.0);
}

TEST(Moments, QuantilesAreLinearInBetween) {
  const std::vector<double> values{4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(*median(values), 2.5);
  EXPECT_DOUBLE_EQ(*quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(*quantile(values, 1), 4);
}

TEST(Moments, VariationAroundZeroIsAbsent) {
  EXPECT_FALSE(coefficient_of_variation(std::vector<double>{-1, 1}));
}

}  // namespace
}  // namespace joulecast::series
