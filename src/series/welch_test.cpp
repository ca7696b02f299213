// SPDX-License-Identifier: Apache-2.0
#include "series/welch.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace joulecast::series {
namespace {

// By hand: means 2 and 6, variances 1 and 4, three values each: error sqrt(1/3 + 4/3) = sqrt(5/3), degrees of freedom
// (5/3)^2 / ((1/9 + 16/9) / 2) = 2.941.
TEST(Welch, AnExampleByHand) {
  const std::array a{1.0, 2.0, 3.0}, b{4.0, 6.0, 8.0};
  const auto test = welch_test(a, b);
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->mean_difference, 4);
  EXPECT_NEAR(test->standard_error, std::sqrt(5.0 / 3.0), 1e-12);
  EXPECT_NEAR(test->degrees_of_freedom, 50.0 / 17.0, 1e-12);
  EXPECT_NEAR(*test->t, 4 / std::sqrt(5.0 / 3.0), 1e-12);
  EXPECT_NEAR(test->p, 0.0547, 5e-4);
  EXPECT_LT(test->low, 0);
  EXPECT_GT(test->high, 8);
  EXPECT_TRUE(has(test->warnings, Warning::kFewSamples));
}

TEST(Welch, WithoutScatterADifferenceIsCertain) {
  const std::array a{2.0, 2.0}, b{3.0, 3.0};
  const auto test = welch_test(a, b);
  ASSERT_TRUE(test);
  EXPECT_EQ(test->p, 0);
  EXPECT_FALSE(test->t);
  EXPECT_EQ(test->low, 1);
  EXPECT_TRUE(has(test->warnings, Warning::kNoScatter));
  EXPECT_EQ(welch_test(a, a)->p, 1);
  const std::vector<double> three(3, 0.1), four(4, 0.1);
  EXPECT_EQ(welch_test(three, four)->p, 1) << "means that are rounded differently do not differ";
}

TEST(Welch, RefusesWhatCannotBeTested) {
  const std::vector<double> one{1.0}, two{1.0, 2.0}, bad{1.0, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_FALSE(welch_test(one, two));
  EXPECT_FALSE(welch_test(two, bad));
  EXPECT_FALSE(welch_test(two, two, 1.0));
}

TEST(Holm, AnExampleByHand) {
  const std::array p{0.01, 0.04, 0.03, 0.005};
  const auto adjusted = holm(p);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.02);  // times 4
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);  // times 3
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);  // times 2
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);  // its own would be 0.04, but never less than the one before
}

}  // namespace
}  // namespace joulecast::series
