// SPDX-License-Identifier: Apache-2.0
#include "dataset/metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace joulecast {
namespace {

using Values = std::vector<double>;

// Measured 1 2 3 4, predicted 1.1 1.8 3.3 4: mean 2.5, distances 2.25 + 0.25 + 0.25 + 2.25 = 5,
// errors 0.01 + 0.04 + 0.09 + 0 = 0.14; relative errors +0.1 -0.1 +0.1 0.
TEST(Metrics, WorkedByHand) {
  const ErrorFigures figures = error_figures(Values{1, 2, 3, 4}, Values{1.1, 1.8, 3.3, 4});
  EXPECT_EQ(figures.count, 4U);
  EXPECT_EQ(figures.relative_count, 4U);
  EXPECT_NEAR(figures.r2.value(), 1.0 - 0.14 / 5.0, 1e-12);
  EXPECT_NEAR(figures.mape.value(), 0.075, 1e-12);
  EXPECT_NEAR(figures.bias.value(), 0.025, 1e-12);
  EXPECT_NEAR(figures.median.value(), 0.1, 1e-12);
  EXPECT_NEAR(figures.p90.value(), 0.1, 1e-12);
  EXPECT_NEAR(figures.max.value(), 0.1, 1e-12);
  EXPECT_NEAR(figures.geometric_ratio.value(), std::pow(1.1 * 0.9 * 1.1, 0.25), 1e-12);
}

TEST(Metrics, APerfectPrediction) {
  const ErrorFigures figures = error_figures(Values{1, 2}, Values{1, 2});
  EXPECT_EQ(figures.r2, 1.0);
  EXPECT_EQ(figures.mape, 0.0);
  EXPECT_EQ(figures.geometric_ratio, 1.0);
}

// Always answering the mean has R2 0, anything worse is below.
TEST(Metrics, R2OfTheMeanIsZero) {
  EXPECT_EQ(error_figures(Values{1, 3}, Values{2, 2}).r2, 0.0);
  EXPECT_EQ(error_figures(Values{1, 3}, Values{3, 1}).r2, -3.0);
}

// Logarithms to base 2: measured 1 3, predicted 1 2; errors 0 + 1, distances from their mean 1 + 1.
TEST(Metrics, R2OfLogarithmsIsWorkedByHand) {
  EXPECT_NEAR(error_figures(Values{2, 8}, Values{2, 4}).r2_log.value(), 0.5, 1e-12);
  EXPECT_FALSE(error_figures(Values{2, 8}, Values{2, 0}).r2_log);
  EXPECT_FALSE(error_figures(Values{0, 8}, Values{2, 4}).r2_log);
}

TEST(Metrics, NothingFromNothing) {
  const ErrorFigures figures = error_figures({}, {});
  EXPECT_EQ(figures.count, 0U);
  EXPECT_FALSE(figures.r2 || figures.r2_log || figures.mape || figures.median || figures.p90 || figures.max ||
               figures.bias || figures.geometric_ratio);
  EXPECT_FALSE(coverage({}, {}, {}));
  EXPECT_FALSE(relative_width({}, {}, {}));
  EXPECT_FALSE(quantile({}, 0.5));
}

TEST(Metrics, OneRowHasErrorsButNoR2) {
  const ErrorFigures figures = error_figures(Values{2}, Values{3});
  EXPECT_FALSE(figures.r2);
  EXPECT_EQ(figures.mape, 0.5);
  EXPECT_EQ(figures.p90, 0.5);
  EXPECT_EQ(figures.bias, 0.5);
}

// 0.1 three times has a mean that differs from 0.1 in its last bit: still no R2.
TEST(Metrics, EqualMeasurementsHaveNoR2) {
  EXPECT_FALSE(error_figures(Values{0.1, 0.1, 0.1}, Values{0.1, 0.2, 0.1}).r2);
  EXPECT_FALSE(error_figures(Values{2250, 2250 + 1e-12}, Values{2300, 2200}).r2) << "equal but for rounding";
}

TEST(Metrics, RelativeFiguresLeaveOutZero) {
  const ErrorFigures figures = error_figures(Values{0, 2, -1}, Values{5, 3, 5});
  EXPECT_EQ(figures.count, 3U);
  EXPECT_EQ(figures.relative_count, 1U);
  EXPECT_EQ(figures.mape, 0.5);
  EXPECT_FALSE(error_figures(Values{0, 0}, Values{1, 2}).mape);
}

TEST(Metrics, NoGeometricRatioBelowZero) {
  const ErrorFigures figures = error_figures(Values{1, 1, 1}, Values{2, -1, 2});
  EXPECT_FALSE(figures.geometric_ratio);
  EXPECT_EQ(figures.mape, 4.0 / 3.0);
}

// A naive sum of squares loses the distances: the mean is 1e9, the distances are 1.
TEST(Metrics, R2FarFromZero) {
  const ErrorFigures figures = error_figures(Values{1e9 - 1, 1e9, 1e9 + 1}, Values{1e9 - 1, 1e9 + 1, 1e9 + 1});
  EXPECT_NEAR(figures.r2.value(), 0.5, 1e-12);
}

// numpy.quantile([1, 2, 3, 4], [0, 0.5, 0.9, 1]) is 1, 2.5, 3.7, 4.
TEST(Metrics, QuantilesInterpolate) {
  const Values values = {4, 1, 3, 2};
  EXPECT_EQ(quantile(values, 0.0), 1.0);
  EXPECT_EQ(quantile(values, 0.5), 2.5);
  EXPECT_NEAR(quantile(values, 0.9).value(), 3.7, 1e-12);
  EXPECT_EQ(quantile(values, 1.0), 4.0);
  EXPECT_EQ(quantile(Values{7}, 0.3), 7.0);
}

TEST(Metrics, CoverageIncludesTheBounds) {
  EXPECT_EQ(coverage(Values{1, 2, 3, 4}, Values{1, 0, 3.5, 0}, Values{2, 2, 4, 1}), 0.5);
}

TEST(Metrics, WidthIsRelative) {
  EXPECT_EQ(relative_width(Values{1, 2, 0}, Values{1, 1, 0}, Values{2, 3, 9}), 1.0);
}

}  // namespace
}  // namespace joulecast
