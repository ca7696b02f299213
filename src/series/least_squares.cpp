// SPDX-License-Identifier: Apache-2.0
#include "series/least_squares.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "series/moments.h"

namespace joulecast::series {
namespace {

constexpr double kDependent = 1e-11;  // of a column's length: what is left of it beside the others

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

double length(std::span<const double> values) {
  CompensatedSum squares;
  for (const double value : values) squares.add(value * value);
  return std::sqrt(squares.value());
}

// The triangle R of A = Q R with columns scaled to length 1, and Q' y.
struct Triangle {
  std::size_t n = 0;
  std::vector<double> r;        // n x n, row after row
  std::vector<double> rotated;  // the first n of Q' y
  std::vector<double> scale;    // lengths of the columns

  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return r[row * n + column]; }
};

// Reflects `columns[k...]` and `y` so that column k is zero below row k.
void reflect(std::vector<std::vector<double>>& columns, std::vector<double>& y, std::size_t k) {
  std::vector<double>& pivot = columns[k];
  const double norm = length(std::span(pivot).subspan(k));
  std::vector<double> mirror(pivot.begin() + static_cast<std::ptrdiff_t>(k), pivot.end());
  mirror[0] += mirror[0] >= 0 ? norm : -norm;
  const double size = length(mirror);
  if (size == 0) return;
  for (double& value : mirror) value /= size;
  const auto apply = [&](std::vector<double>& column) {
    CompensatedSum along;
    for (std::size_t i = 0; i < mirror.size(); ++i) along.add(mirror[i] * column[k + i]);
    for (std::size_t i = 0; i < mirror.size(); ++i) column[k + i] -= 2 * along.value() * mirror[i];
  };
  for (std::size_t j = k; j < columns.size(); ++j) apply(columns[j]);
  apply(y);
}

Result<Triangle> triangle_of(const Design& design, std::span<const double> measured) {
  const std::size_t n = design.columns, m = design.rows();
  std::vector<std::vector<double>> columns(n, std::vector<double>(m));
  Triangle result{n, std::vector<double>(n * n), {}, std::vector<double>(n)};
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < m; ++i) columns[j][i] = design.values[i * n + j];
    result.scale[j] = length(columns[j]);
    if (result.scale[j] == 0) return invalid(fmt::format("fit: column {} is zero everywhere", j));
    for (double& value : columns[j]) value /= result.scale[j];
  }
  std::vector<double> y(measured.begin(), measured.end());
  for (std::size_t k = 0; k < n; ++k) {
    reflect(columns, y, k);
    if (std::abs(columns[k][k]) < kDependent) {
      return invalid(
          fmt::format("fit: column {} follows from the ones before it; measure at more different settings", k));
    }
    for (std::size_t j = k; j < n; ++j) result.r[k * n + j] = columns[j][k];
  }
  result.rotated.assign(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n));
  return result;
}

// R x = right.
std::vector<double> solve(const Triangle& t, std::vector<double> right) {
  for (std::size_t i = t.n; i-- > 0;) {
    for (std::size_t j = i + 1; j < t.n; ++j) right[i] -= t.at(i, j) * right[j];
    right[i] /= t.at(i, i);
  }
  return right;
}

// R' x = right.
std::vector<double> solve_transposed(const Triangle& t, std::vector<double> right) {
  for (std::size_t i = 0; i < t.n; ++i) {
    for (std::size_t j = 0; j < i; ++j) right[i] -= t.at(j, i) * right[j];
    right[i] /= t.at(i, i);
  }
  return right;
}

void judge(LinearFit& fit, const Triangle& t, std::span<const double> measured) {
  const double error = std::pow(length(fit.residuals), 2);
  std::vector<double> fitted;
  for (std::size_t i = 0; i < measured.size(); ++i) fitted.push_back(measured[i] - fit.residuals[i]);
  fit.r2 = r_squared(measured, fitted);
  if (fit.degrees_of_freedom == 0) return;
  const auto dof = static_cast<double>(fit.degrees_of_freedom);
  fit.residual_deviation = std::sqrt(error / dof);
  if (fit.r2) fit.adjusted_r2 = 1 - (1 - *fit.r2) * static_cast<double>(measured.size() - 1) / dof;
  // The covariance is s^2 (R'R)^-1: a coefficient's variance is the squared length of R'^-1 e.
  for (std::size_t j = 0; j < t.n; ++j) {
    std::vector<double> unit(t.n);
    unit[j] = 1;
    fit.standard_errors.push_back(*fit.residual_deviation * length(solve_transposed(t, unit)) / t.scale[j]);
  }
}

// By leverages: leaving a row out changes its residual to e / (1 - h).
std::optional<double> leave_one_out(const Design& design, const LinearFit& fit, const Triangle& t) {
  CompensatedSum squares;
  for (std::size_t i = 0; i < design.rows(); ++i) {
    std::vector<double> row(t.n);
    for (std::size_t j = 0; j < t.n; ++j) row[j] = design.values[i * t.n + j] / t.scale[j];
    const double leverage = std::pow(length(solve_transposed(t, std::move(row))), 2);
    if (leverage > 1 - 1e-9) return std::nullopt;
    squares.add(std::pow(fit.residuals[i] / (1 - leverage), 2));
  }
  return std::sqrt(squares.value() / static_cast<double>(design.rows()));
}

}  // namespace

std::optional<double> r_squared(std::span<const double> measured, std::span<const double> fitted) {
  const std::optional<double> centre = mean(measured);
  if (!centre || fitted.size() != measured.size()) return std::nullopt;
  CompensatedSum error, variance;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    error.add(std::pow(measured[i] - fitted[i], 2));
    variance.add(std::pow(measured[i] - *centre, 2));
  }
  if (variance.value() == 0) return std::nullopt;
  return 1 - error.value() / variance.value();
}

Result<LinearFit> least_squares(const Design& design, std::span<const double> measured) {
  const std::size_t n = design.columns, m = measured.size();
  if (n == 0 || design.values.size() != n * m) {
    return invalid(fmt::format("fit: {} values for {} measurements of {} columns", design.values.size(), m, n));
  }
  if (m < n)
    return invalid(fmt::format("fit: {} measurements do not decide {} coefficients; measure more settings", m, n));
  if (!all_finite(design.values) || !all_finite(measured)) return invalid("fit: a value is not a number");
  JC_ASSIGN_OR_RETURN(const Triangle t, triangle_of(design, measured));
  LinearFit fit;
  fit.coefficients = solve(t, t.rotated);
  for (std::size_t j = 0; j < n; ++j) fit.coefficients[j] /= t.scale[j];
  for (std::size_t i = 0; i < m; ++i) {
    CompensatedSum fitted;
    for (std::size_t j = 0; j < n; ++j) fitted.add(design.values[i * n + j] * fit.coefficients[j]);
    fit.residuals.push_back(measured[i] - fitted.value());
  }
  fit.degrees_of_freedom = m - n;
  judge(fit, t, measured);
  if (m > n) fit.leave_one_out = leave_one_out(design, fit, t);
  return fit;
}

}  // namespace joulecast::series
