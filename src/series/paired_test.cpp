// SPDX-License-Identifier: Apache-2.0
#include "series/paired.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast::series {
namespace {

TEST(PairedTest, WorkedByHand) {
  // Differences 1, 2, 3: mean 2, deviation 1, standard error 1 / sqrt(3), t = 2 sqrt(3) on 2 degrees. With 2 degrees
  // p = 1 - t / sqrt(2 + t^2) = 1 - sqrt(12 / 14).
  const Result<PairedTest> test = paired_test(std::vector<double>{10, 20, 30}, std::vector<double>{11, 22, 33});
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->mean_difference, 2);
  EXPECT_NEAR(*test->t, 2 * std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(*test->p, 1 - std::sqrt(12.0 / 14), 1e-12);
  EXPECT_NEAR(test->high - 2, 4.302653 / std::sqrt(3.0), 1e-6);
  EXPECT_TRUE(has(test->warnings, Warning::kFewSamples));
}

TEST(PairedTest, FindsNoEffectWhereThereIsNone) {
  const Result<PairedTest> test =
      paired_test(std::vector<double>{10, 12, 9, 11, 10, 12}, std::vector<double>{11, 11, 10, 10, 9, 13});
  EXPECT_GT(*test->p, 0.9);  // differences 1, -1, 1, -1, -1, 1
  EXPECT_LT(test->low, 0);
  EXPECT_GT(test->high, 0);
}

TEST(PairedTest, FindsASmallEffectUnderLargeScatterOfThePairs) {
  std::vector<double> first, second;
  for (int i = 0; i < 8; ++i) {
    first.push_back(100.0 * i);
    second.push_back(100.0 * i + 1 + 0.1 * (i % 2));
  }
  EXPECT_LT(*paired_test(first, second)->p, 1e-6);
}

TEST(PairedTest, EqualDifferencesProveNothing) {
  const Result<PairedTest> test = paired_test(std::vector<double>{0.1, 0.2, 0.3}, std::vector<double>{1.1, 1.2, 1.3});
  ASSERT_TRUE(test);
  EXPECT_FALSE(test->p);
  EXPECT_TRUE(has(test->warnings, Warning::kNoScatter));
}

TEST(PairedTest, RefusesWhatIsNotPaired) {
  EXPECT_FALSE(paired_test(std::vector<double>{1, 2}, std::vector<double>{1}));
  EXPECT_FALSE(paired_test(std::vector<double>{1}, std::vector<double>{1}));
}

TEST(Pearson, WorkedByHand) {
  // Sums of squares 10 and 6, of products 6: r = 6 / sqrt(60).
  const Result<Correlation> found = pearson(std::vector<double>{1, 2, 3, 4, 5}, std::vector<double>{2, 4, 5, 4, 5});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->r, 6 / std::sqrt(60.0), 1e-15);
  EXPECT_NEAR(*found->p, 0.124027, 1e-6);
}

TEST(Pearson, OfALineIsOne) {
  EXPECT_DOUBLE_EQ(pearson(std::vector<double>{1, 2, 3}, std::vector<double>{-2, -4, -6})->r, -1);
}

TEST(Pearson, OfAConstantIsRefused) {
  EXPECT_FALSE(pearson(std::vector<double>{1, 2, 3}, std::vector<double>{4, 4, 4}));
}

}  // namespace
}  // namespace joulecast::series
