// SPDX-License-Identifier: Apache-2.0
#include "series/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "series/distribution.h"
#include "series/moments.h"

namespace joulecast::series {
namespace {

Result<void> check_pairs(std::span<const double> first, std::span<const double> second) {
  if (first.size() != second.size())
    return invalid(fmt::format("pairs of {} and {} values", first.size(), second.size()));
  if (first.size() < 2) return invalid("fewer than two pairs: repeat the measurement");
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(first.begin(), first.end(), finite) || !std::all_of(second.begin(), second.end(), finite)) {
    return invalid("pairs with a value that is not a number; leave the pair out");
  }
  return {};
}

}  // namespace

Result<PairedTest> paired_test(std::span<const double> first, std::span<const double> second, double confidence) {
  JC_RETURN_IF_ERROR(check_pairs(first, second));
  if (!(confidence > 0 && confidence < 1))
    return invalid(fmt::format("confidence {}: must be within 0 to 1", confidence));
  std::vector<double> differences;
  for (std::size_t i = 0; i < first.size(); ++i) differences.push_back(second[i] - first[i]);
  const auto n = static_cast<double>(differences.size());
  PairedTest test;
  test.pairs = differences.size();
  test.mean_difference = *mean(differences);
  test.standard_error = *standard_deviation(differences) / std::sqrt(n);
  const double half = t_quantile((1 + confidence) / 2, n - 1) * test.standard_error;
  test.low = test.mean_difference - half;
  test.high = test.mean_difference + half;
  if (test.pairs < 4) add(test.warnings, Warning::kFewSamples);
  // Rounding leaves equal differences a little apart: less than the values' own digits is no scatter.
  double size = 0;
  for (const double value : first) size = std::max(size, std::abs(value));
  if (test.standard_error <= 4 * std::numeric_limits<double>::epsilon() * size) {
    add(test.warnings, Warning::kNoScatter);
    return test;
  }
  test.t = test.mean_difference / test.standard_error;
  test.p = t_two_sided(*test.t, n - 1);
  return test;
}

Result<Correlation> pearson(std::span<const double> first, std::span<const double> second) {
  JC_RETURN_IF_ERROR(check_pairs(first, second));
  const double centre_a = *mean(first), centre_b = *mean(second);
  CompensatedSum aa, bb, ab;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double a = first[i] - centre_a, b = second[i] - centre_b;
    aa.add(a * a);
    bb.add(b * b);
    ab.add(a * b);
  }
  if (aa.value() == 0 || bb.value() == 0) return invalid("correlation: one side does not vary");
  Correlation result;
  result.pairs = first.size();
  result.r = std::clamp(ab.value() / std::sqrt(aa.value() * bb.value()), -1.0, 1.0);
  if (result.pairs < 4) add(result.warnings, Warning::kFewSamples);
  if (result.pairs < 3) return result;
  const auto dof = static_cast<double>(result.pairs - 2);
  const double left = (1 - result.r) * (1 + result.r);
  result.p = left == 0 ? 0.0 : t_two_sided(result.r * std::sqrt(dof / left), dof);
  return result;
}

}  // namespace joulecast::series
