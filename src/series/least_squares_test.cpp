// SPDX-License-Identifier: Apache-2.0
#include "series/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::series {
namespace {

Design line(const std::vector<double>& x) {
  Design design{2, {}};
  for (const double value : x) design.values.insert(design.values.end(), {1, value});
  return design;
}

TEST(LeastSquares, ALineWorkedByHand) {
  // x 1..5, y 2 4 5 4 5: slope 6/10, intercept 4 - 0.6 * 3; squared error 2.4 of a variance of 6.
  const auto fit = least_squares(line({1, 2, 3, 4, 5}), std::vector<double>{2, 4, 5, 4, 5});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->coefficients[0], 2.2, 1e-14);
  EXPECT_NEAR(fit->coefficients[1], 0.6, 1e-14);
  EXPECT_EQ(fit->degrees_of_freedom, 3U);
  EXPECT_NEAR(*fit->r2, 0.6, 1e-14);
  EXPECT_NEAR(*fit->adjusted_r2, 1 - 0.4 * 4 / 3, 1e-14);
  EXPECT_NEAR(*fit->residual_deviation, std::sqrt(0.8), 1e-14);
  EXPECT_NEAR(fit->standard_errors[1], std::sqrt(0.8 / 10), 1e-14);
  EXPECT_NEAR(fit->standard_errors[0], std::sqrt(0.8 * (1.0 / 5 + 9.0 / 10)), 1e-14);
}

TEST(LeastSquares, LeaveOneOutIsTheErrorOfRefits) {
  const std::vector<double> x{1, 2, 3, 5, 8}, y{1, 3, 2, 6, 7};
  double squares = 0;
  for (std::size_t out = 0; out < x.size(); ++out) {
    std::vector<double> fewer_x, fewer_y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i == out) continue;
      fewer_x.push_back(x[i]);
      fewer_y.push_back(y[i]);
    }
    const auto fit = least_squares(line(fewer_x), fewer_y);
    squares += std::pow(y[out] - fit->coefficients[0] - fit->coefficients[1] * x[out], 2);
  }
  EXPECT_NEAR(*least_squares(line(x), y)->leave_one_out, std::sqrt(squares / 5), 1e-12);
}

TEST(LeastSquares, AsManyCoefficientsAsMeasurementsProveNothing) {
  const auto fit = least_squares(line({1, 2}), std::vector<double>{1, 3});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->coefficients[1], 2, 1e-13);
  EXPECT_FALSE(fit->residual_deviation);
  EXPECT_FALSE(fit->leave_one_out);
  EXPECT_FALSE(fit->adjusted_r2);
}

TEST(LeastSquares, KeepsASmallSlopeOnLargeNumbers) {
  const auto fit = least_squares(line({1e8, 1e8 + 1, 1e8 + 2}), std::vector<double>{5, 6, 7});
  ASSERT_TRUE(fit) << fit.error().text();
  EXPECT_NEAR(fit->coefficients[1], 1, 1e-6);
}

TEST(LeastSquares, RefusesColumnsThatDependOnEachOther) {
  const auto fit = least_squares(line({3, 3, 3}), std::vector<double>{1, 2, 3});
  ASSERT_FALSE(fit);
  EXPECT_NE(fit.error().text().find("column 1"), std::string::npos);
}

TEST(LeastSquares, RefusesTooLittleAndNonsense) {
  EXPECT_FALSE(least_squares(line({1}), std::vector<double>{1}));
  EXPECT_FALSE(least_squares(line({1, 2}), std::vector<double>{1, 2, 3}));
  EXPECT_FALSE(least_squares(line({1, 2}), std::vector<double>{1, std::nan("")}));
}

TEST(LeastSquares, EqualMeasurementsHaveNoR2) {
  EXPECT_FALSE(least_squares(line({1, 2, 3}), std::vector<double>{4, 4, 4})->r2);
}

}  // namespace
}  // namespace joulecast::series
