// SPDX-License-Identifier: Apache-2.0
#include "series/channel.h"

#include <cmath>

#include "series/moments.h"

namespace joulecast::series {

std::optional<Channel> channel(std::span<const double> values, double sigmas) {
  const std::optional<double> scatter = standard_deviation(values);
  if (!scatter) return std::nullopt;
  Channel result;
  result.mean = *mean(values);
  result.standard_deviation = *scatter;
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool inside = *scatter == 0 || std::abs(values[i] - result.mean) < sigmas * *scatter;
    (inside ? result.kept : result.outside).push_back(i);
    if (inside) kept.push_back(values[i]);
  }
  if (kept.empty()) return std::nullopt;
  result.kept_mean = *mean(kept);
  result.kept_standard_deviation = standard_deviation(kept);
  // The farthest of n values is (n - 1) / sqrt(n) deviations off at most.
  const auto n = static_cast<double>(values.size());
  if ((n - 1) / std::sqrt(n) <= sigmas) add(result.warnings, Warning::kFewSamples);
  return result;
}

}  // namespace joulecast::series
