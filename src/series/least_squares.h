// SPDX-License-Identifier: Apache-2.0
// Ordinary least squares, by Householder reflections.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "joulecast/result.h"

namespace joulecast::series {

// One row a measurement, one column a coefficient. The caller puts in the column of ones.
struct Design {
  std::size_t columns = 0;
  std::vector<double> values;  // row after row

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};

struct LinearFit {
  std::vector<double> coefficients;
  std::vector<double> residuals;  // measured minus fitted
  std::size_t degrees_of_freedom = 0;
  // Absent where nothing was left over to judge by: as many coefficients as measurements.
  std::optional<double> residual_deviation;
  std::vector<double> standard_errors;  // of the coefficients; empty where absent
  // Of the variance around the mean; absent where the measurements are all equal. Adjusted: absent without freedom.
  std::optional<double> r2, adjusted_r2;
  // Root mean square of what each measurement is off by the fit of all others. Absent where one measurement alone
  // decides a coefficient: without it there is no fit.
  std::optional<double> leave_one_out;
};

// Errors: kInvalidInput for values that are no numbers, other counts of rows than of measurements, fewer rows than
// columns, and columns that depend on each other.
Result<LinearFit> least_squares(const Design& design, std::span<const double> measured);

// Of any curve: 1 - squared errors / variance. Absent where the measurements are all equal or there are none.
std::optional<double> r_squared(std::span<const double> measured, std::span<const double> fitted);

}  // namespace joulecast::series
