// SPDX-License-Identifier: Apache-2.0
#include "dataset/rising_overhead.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "series/least_squares.h"

namespace joulecast {
namespace {

constexpr std::size_t kDegree = 3;
constexpr std::size_t kColumns = kDegree + 1 + 2;

// How far a row is on the way from the first (0) to the last (1).
double position(std::size_t row, std::size_t rows) {
  return static_cast<double>(row) / static_cast<double>(rows - 1);
}

// The quarter with least arithmetic, by number.
std::vector<std::size_t> smallest(std::span<const TimedWork> rows) {
  std::vector<std::size_t> order(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rows[a].flops < rows[b].flops; });
  order.resize(rows.size() / 4);
  return order;
}

// In microseconds, of 1e9 flops and 1e6 bytes: numbers of like size.
struct Problem {
  series::Design design;
  std::vector<double> times;
};

Problem problem_of(std::span<const TimedWork> rows, std::span<const std::size_t> chosen) {
  Problem out;
  out.design.columns = kColumns;
  for (const std::size_t i : chosen) {
    const double at = position(i, rows.size());
    for (const double x : {1.0, at, at * at, at * at * at, rows[i].flops * 1e-9, rows[i].bytes * 1e-6})
      out.design.values.push_back(x);
    out.times.push_back(rows[i].seconds * 1e6);
  }
  return out;
}

// Least absolute errors by least squares of rows weighted by what they are off; the residuals are those of the rows.
Result<series::LinearFit> least_absolute(const Problem& problem) {
  constexpr int kRounds = 40;
  constexpr double kLeastResidual = 5.0;  // microseconds: below, an error is none
  JC_ASSIGN_OR_RETURN(series::LinearFit fit, series::least_squares(problem.design, problem.times));
  std::vector<double> root(problem.times.size(), 1.0);
  for (int round = 0; round < kRounds; ++round) {
    Problem weighted = problem;
    for (std::size_t row = 0; row < root.size(); ++row) {
      root[row] = std::sqrt(1.0 / std::max(std::abs(fit.residuals[row] / root[row]), kLeastResidual));
      weighted.times[row] *= root[row];
      for (std::size_t c = 0; c < kColumns; ++c) weighted.design.values[row * kColumns + c] *= root[row];
    }
    JC_ASSIGN_OR_RETURN(fit, series::least_squares(weighted.design, weighted.times));
  }
  for (std::size_t row = 0; row < root.size(); ++row) fit.residuals[row] /= root[row];
  return fit;
}

double typical_error(const series::LinearFit& fit) {
  std::vector<double> errors;
  for (const double r : fit.residuals) errors.push_back(std::abs(r));
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return *middle;
}

}  // namespace

std::vector<double> rising_overhead(std::span<const TimedWork> rows) {
  std::vector<double> growth(rows.size(), 0.0);
  if (rows.size() < kLeastRowsForOverhead) return growth;
  const auto fit = least_absolute(problem_of(rows, smallest(rows)));
  if (!fit) return growth;  // rows that are all alike
  const auto& c = fit->coefficients;
  double most = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double at = position(i, rows.size());
    most = std::max(most, at * (c[1] + at * (c[2] + at * c[3])));
    growth[i] = most * 1e-6;
  }
  if (most <= 2.0 * typical_error(*fit)) std::fill(growth.begin(), growth.end(), 0.0);
  return growth;
}

}  // namespace joulecast
