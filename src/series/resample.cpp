// SPDX-License-Identifier: Apache-2.0
#include "series/resample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace joulecast::series {
namespace {

using Slopes = std::vector<double>;

double secant(const Series& s, std::size_t i) {
  return (s.value[i + 1] - s.value[i]) / (s.time_s[i + 1] - s.time_s[i]);
}

// Slopes at the readings of the cubic spline with no curvature at its ends: a tridiagonal system, by Thomas' algorithm.
Slopes natural_slopes(const Series& s) {
  const std::size_t n = s.time_s.size();
  std::vector<double> above(n), slopes(n);
  above[0] = 0.5;
  slopes[0] = 1.5 * secant(s, 0);
  for (std::size_t i = 1; i < n; ++i) {
    const bool last = i + 1 == n;
    const double left = 1 / (s.time_s[i] - s.time_s[i - 1]);
    const double right = last ? 0 : 1 / (s.time_s[i + 1] - s.time_s[i]);
    const double side = 3 * (left * secant(s, i - 1) + (last ? 0 : right * secant(s, i)));
    const double pivot = 2 * (left + right) - left * above[i - 1];
    above[i] = right / pivot;
    slopes[i] = (side - left * slopes[i - 1]) / pivot;
  }
  for (std::size_t i = n - 1; i-- > 0;) slopes[i] -= above[i] * slopes[i + 1];
  return slopes;
}

// F. N. Fritsch and J. Butland, 1984: harmonic means of the secants, 0 where they change sign.
Slopes monotone_slopes(const Series& s) {
  const std::size_t n = s.time_s.size();
  Slopes slopes(n, 0.0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double left = secant(s, i - 1), right = secant(s, i);
    if (left * right <= 0) continue;
    const double before = s.time_s[i] - s.time_s[i - 1], after = s.time_s[i + 1] - s.time_s[i];
    slopes[i] = 3 * (before + after) / ((2 * after + before) / left + (after + 2 * before) / right);
  }
  slopes.front() = secant(s, 0);
  slopes.back() = secant(s, n - 2);
  return slopes;
}

Slopes slopes_of(const Series& series, Interpolation interpolation) {
  if (interpolation == Interpolation::kLinear || series.time_s.size() < 2) return {};
  return interpolation == Interpolation::kNaturalCubic ? natural_slopes(series) : monotone_slopes(series);
}

// Between readings i and i + 1, by Hermite's cubic where there are slopes.
double between(const Series& s, const Slopes& slopes, std::size_t i, double time) {
  const double width = s.time_s[i + 1] - s.time_s[i];
  const double x = (time - s.time_s[i]) / width;
  const double line = s.value[i] + x * (s.value[i + 1] - s.value[i]);
  if (slopes.empty()) return line;
  const double rise = s.value[i + 1] - s.value[i];
  return line + x * (1 - x) * ((slopes[i] * width - rise) * (1 - x) + (rise - slopes[i + 1] * width) * x);
}

bool overshoots(const Series& from, const Series& to) {
  const auto [low, high] = std::minmax_element(from.value.begin(), from.value.end());
  const auto [lowest, highest] = std::minmax_element(to.value.begin(), to.value.end());
  const double allowed = 0.01 * (*high - *low);
  return *lowest < *low - allowed || *highest > *high + allowed;
}

}  // namespace

Result<Resampled> resample(const Series& series, Hertz rate, Interpolation interpolation) {
  JC_RETURN_IF_ERROR(check(series));
  constexpr double kMost = 1e8;
  const double steps = duration(series) * rate;
  if (!(rate.value() > 0) || !(steps < kMost)) {
    return invalid(fmt::format("resampling {} s at {} Hz: the rate must be positive and make under 100 million values",
                               duration(series).value(), rate.value()));
  }
  const Slopes slopes = slopes_of(series, interpolation);
  Resampled result;
  // A rounding error must not lose the last value: a millionth of a step is no time.
  const auto count = static_cast<std::size_t>(std::floor(steps + 1e-6)) + 1;
  std::size_t i = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const double time = std::min(series.time_s.front() + static_cast<double>(k) / rate.value(), series.time_s.back());
    while (i + 2 < series.time_s.size() && series.time_s[i + 1] <= time) ++i;
    result.series.time_s.push_back(time);
    result.series.value.push_back(series.time_s.size() == 1 ? series.value[0] : between(series, slopes, i, time));
  }
  if (interpolation == Interpolation::kNaturalCubic && overshoots(series, result.series)) {
    add(result.warnings, Warning::kOvershoot);
  }
  return result;
}

}  // namespace joulecast::series
