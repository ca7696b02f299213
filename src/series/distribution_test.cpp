// SPDX-License-Identifier: Apache-2.0
#include "series/distribution.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::series {
namespace {

TEST(IncompleteBeta, WhereItIsAPolynomial) {
  // I_x(2, 3) = 6 x^2 - 8 x^3 + 3 x^4; I_x(1, 1) = x.
  EXPECT_NEAR(incomplete_beta(2, 3, 0.4), 6 * 0.16 - 8 * 0.064 + 3 * 0.0256, 1e-14);
  EXPECT_NEAR(incomplete_beta(1, 1, 0.3), 0.3, 1e-14);
}

TEST(IncompleteBeta, IsTheArcSineLawAtHalves) {
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.25), 1.0 / 3, 1e-14);  // 2 / pi * asin(sqrt(0.25))
}

TEST(IncompleteBeta, IsSymmetric) {
  for (const double x : {0.01, 0.3, 0.5, 0.9}) {
    EXPECT_NEAR(incomplete_beta(3.5, 12, x), 1 - incomplete_beta(12, 3.5, 1 - x), 1e-13);
  }
}

TEST(IncompleteBeta, AtItsEnds) {
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
}

TEST(StudentsT, QuantilesOfThePrintedTables) {
  EXPECT_NEAR(t_quantile(0.975, 1), 12.7062, 5e-5);
  EXPECT_NEAR(t_quantile(0.975, 2), 4.30265, 5e-6);
  EXPECT_NEAR(t_quantile(0.975, 10), 2.22814, 5e-6);
  EXPECT_NEAR(t_quantile(0.95, 5), 2.01505, 5e-6);
  EXPECT_NEAR(t_quantile(0.995, 30), 2.75000, 5e-6);
  EXPECT_NEAR(t_quantile(0.025, 10), -2.22814, 5e-6);
  EXPECT_NEAR(t_quantile(0.975, 1e6), 1.95997, 1e-5);  // nearly the normal distribution's
}

TEST(StudentsT, OfOneDegreeIsCauchys) {
  EXPECT_NEAR(t_cumulative(2, 1), 0.5 + std::atan(2.0) / std::acos(-1.0), 1e-13);
  EXPECT_NEAR(t_cumulative(-2, 1), 0.5 - std::atan(2.0) / std::acos(-1.0), 1e-13);
  EXPECT_NEAR(t_cumulative(0, 7), 0.5, 1e-15);
}

TEST(StudentsT, QuantileUndoesTheCumulative) {
  for (const double p : {1e-6, 0.2, 0.5, 0.9, 0.9999}) EXPECT_NEAR(t_cumulative(t_quantile(p, 3.5), 3.5), p, 1e-12);
}

}  // namespace
}  // namespace joulecast::series
