// SPDX-License-Identifier: Apache-2.0
#include "series/moments.h"

#include <algorithm>
#include <vector>

namespace joulecast::series {

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  CompensatedSum sum;
  for (const double value : values) sum.add(value);
  return sum.value() / static_cast<double>(values.size());
}

// Two passes: the one-pass formula subtracts two large squares and loses the scatter.
std::optional<double> standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double centre = *mean(values);
  CompensatedSum squares;
  for (const double value : values) squares.add((value - centre) * (value - centre));
  return std::sqrt(squares.value() / static_cast<double>(values.size() - 1));
}

std::optional<double> coefficient_of_variation(std::span<const double> values) {
  const std::optional<double> scatter = standard_deviation(values);
  if (!scatter || *mean(values) == 0.0) return std::nullopt;
  return *scatter / std::abs(*mean(values));
}

std::optional<double> quantile(std::span<const double> values, double q) {
  if (values.empty()) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(std::floor(at));
  std::nth_element(sorted.begin(), sorted.begin() + below, sorted.end());
  const double low = sorted[static_cast<std::size_t>(below)];
  const double part = at - std::floor(at);
  if (part == 0.0) return low;
  return low + part * (*std::min_element(sorted.begin() + below + 1, sorted.end()) - low);
}

std::optional<double> median(std::span<const double> values) {
  return quantile(values, 0.5);
}

}  // namespace joulecast::series
