// SPDX-License-Identifier: Apache-2.0
#include "report/histogram.h"

#include <gtest/gtest.h>

#include <numeric>

namespace joulecast::report {
namespace {

// All equal to 0.08: the top is 0.1, ten bins of 0.01, and 0.08 is where the ninth begins.
TEST(Histogram, ByHand) {
  const Histogram of_equals = histogram({0.08, 0.08, 0.08}, 10);
  EXPECT_NEAR(of_equals.width, 0.01, 1e-12);
  EXPECT_EQ(std::accumulate(of_equals.counts.begin(), of_equals.counts.end(), std::size_t{0}), 3U);
  EXPECT_EQ(of_equals.counts[7] + of_equals.counts[8], 3U);
}

TEST(Histogram, TheLastBinHasWhatIsAbove) {
  std::vector<double> gaps(999, 0.05);
  gaps.push_back(40);
  const Histogram out = histogram(gaps, 20);
  EXPECT_LT(out.width * 20, 0.1);
  EXPECT_EQ(out.counts.back(), 1U);
}

TEST(Histogram, ZerosAlone) {
  EXPECT_EQ(histogram({0, 0}, 4).counts[0], 2U);
}

}  // namespace
}  // namespace joulecast::report
