// SPDX-License-Identifier: Apache-2.0
// How good predictions are: the figures that reports and error budgets are made of. Units are the caller's.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace joulecast {

// All over pairs of a measured and a predicted value, in time linear in their number. Nothing where the figure does not
// exist: no pairs, or none that it can be taken from.
// Requires of all functions here: spans of equal length, finite values.
struct ErrorFigures {
  std::size_t count = 0;
  std::size_t relative_count = 0;  // pairs whose measured value is above 0: the base of all relative figures
  // 1 - sum of squared errors / sum of squared distances from the measured mean, on the values as they are. Needs two
  // different measured values; can be far below 0.
  std::optional<double> r2;
  std::optional<double> r2_log;           // r2 of the logarithms; needs all values above 0
  std::optional<double> mape;             // mean |error| / measured; 0.1 is 10 %
  std::optional<double> median, p90;      // of |error| / measured
  std::optional<double> max;              // of |error| / measured
  std::optional<double> bias;             // mean (predicted - measured) / measured
  std::optional<double> geometric_ratio;  // exp(mean log(predicted / measured)); needs all predictions above 0
};
ErrorFigures error_figures(std::span<const double> measured, std::span<const double> predicted);

// Share of measured values in [low, high], bounds included.
std::optional<double> coverage(std::span<const double> measured, std::span<const double> low,
                               std::span<const double> high);
// Mean of (high - low) / measured over measured values above 0: how much an interval costs.
std::optional<double> relative_width(std::span<const double> measured, std::span<const double> low,
                                     std::span<const double> high);

// The value that a share `q` in [0, 1] of the values does not exceed, interpolated linearly between neighbours
// (numpy's default). Reorders nothing.
std::optional<double> quantile(std::span<const double> values, double q);

}  // namespace joulecast
