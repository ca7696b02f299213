// SPDX-License-Identifier: Apache-2.0
#include "series/polynomial.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::series {
namespace {

TEST(Polynomial, FindsAParabolaOfPowerLimits) {
  // Energy over the limit: 900 + 0.02 (P - 180)^2 = 1548 - 7.2 P + 0.02 P^2.
  std::vector<double> limits, energy;
  for (double limit = 100; limit <= 300; limit += 25) {
    limits.push_back(limit);
    energy.push_back(900 + 0.02 * (limit - 180) * (limit - 180));
  }
  const auto fit = fit_polynomial(limits, energy, 2);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->at(180), 900, 1e-9);
  const std::vector<double> plain = fit->coefficients();
  ASSERT_EQ(plain.size(), 3U);
  EXPECT_NEAR(plain[0], 1548, 1e-8);
  EXPECT_NEAR(plain[1], -7.2, 1e-10);
  EXPECT_NEAR(plain[2], 0.02, 1e-12);
  EXPECT_NEAR(*fit->fit.r2, 1, 1e-12);
  EXPECT_NEAR(*fit->leave_one_x_out, 0, 1e-9);
  EXPECT_EQ(fit->fit.degrees_of_freedom, 6U);
}

TEST(Polynomial, LeavesOutAllRepetitionsOfAnX) {
  // A line through (0, 0), (1, 1), (2, 0), each twice: without x = 1 it is 0 there; without an end it is 2 at that end.
  const std::vector<double> x{0, 0, 1, 1, 2, 2}, y{0, 0, 1, 1, 0, 0};
  EXPECT_NEAR(*fit_polynomial(x, y, 1)->leave_one_x_out, std::sqrt((4 + 1 + 4) / 3.0), 1e-12);
}

TEST(Polynomial, FourLimitsAndThreeCoefficientsAreDoubted) {
  const auto fit = fit_polynomial(std::vector<double>{150, 200, 250, 300}, std::vector<double>{9, 7, 6, 6.5}, 2);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->fit.degrees_of_freedom, 1U);
  EXPECT_TRUE(has(fit->warnings, Warning::kFewSamples));
  EXPECT_GT(*fit->leave_one_x_out, *fit->fit.residual_deviation);
}

TEST(Polynomial, OfDegreeZeroIsTheMean) {
  EXPECT_DOUBLE_EQ(fit_polynomial(std::vector<double>{5, 5, 5}, std::vector<double>{1, 2, 6}, 0)->at(123), 3);
}

TEST(Polynomial, OfHighDegreeOnMegahertzStaysExact) {
  std::vector<double> x, y;
  for (double clock = 500; clock <= 1900; clock += 100) {
    x.push_back(clock);
    y.push_back(std::pow(clock / 1000, 7) - 3 * clock / 1000);
  }
  EXPECT_NEAR(fit_polynomial(x, y, 7)->at(1234), std::pow(1.234, 7) - 3.702, 1e-10);
}

TEST(Polynomial, NeedsAsManySettingsAsCoefficients) {
  EXPECT_FALSE(fit_polynomial(std::vector<double>{1, 1, 2}, std::vector<double>{1, 2, 3}, 2));
}

}  // namespace
}  // namespace joulecast::series
