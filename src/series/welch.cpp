// SPDX-License-Identifier: Apache-2.0
#include "series/welch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "series/distribution.h"
#include "series/moments.h"

namespace joulecast::series {
namespace {

Result<void> check_side(std::span<const double> values) {
  if (values.size() < 2) return invalid("fewer than two values on a side: repeat the measurement");
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) {
    return invalid("a value that is not a number; leave it out");
  }
  return {};
}

double square(double value) {
  return value * value;
}

}  // namespace

Result<WelchTest> welch_test(std::span<const double> first, std::span<const double> second, double confidence) {
  JC_RETURN_IF_ERROR(check_side(first));
  JC_RETURN_IF_ERROR(check_side(second));
  if (!(confidence > 0 && confidence < 1))
    return invalid(fmt::format("confidence {}: must be within 0 to 1", confidence));
  const auto n1 = static_cast<double>(first.size()), n2 = static_cast<double>(second.size());
  const double e1 = square(*standard_deviation(first)) / n1, e2 = square(*standard_deviation(second)) / n2;
  WelchTest test;
  test.mean_difference = *mean(second) - *mean(first);
  test.standard_error = std::sqrt(e1 + e2);
  if (first.size() < 4 || second.size() < 4) add(test.warnings, Warning::kFewSamples);
  const double size = std::max(std::abs(*mean(first)), std::abs(*mean(second)));
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * size;
  if (test.standard_error <= rounding) {
    test.low = test.high = test.mean_difference;
    test.p = std::abs(test.mean_difference) <= rounding ? 1 : 0;  // as t grows beyond all bounds
    add(test.warnings, Warning::kNoScatter);
    return test;
  }
  // Welch and Satterthwaite.
  test.degrees_of_freedom = square(e1 + e2) / (square(e1) / (n1 - 1) + square(e2) / (n2 - 1));
  const double half = t_quantile((1 + confidence) / 2, test.degrees_of_freedom) * test.standard_error;
  test.low = test.mean_difference - half;
  test.high = test.mean_difference + half;
  test.t = test.mean_difference / test.standard_error;
  test.p = t_two_sided(*test.t, test.degrees_of_freedom);
  return test;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> out(p.size());
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    out[order[i]] = least;
  }
  return out;
}

}  // namespace joulecast::series
