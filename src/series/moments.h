// SPDX-License-Identifier: Apache-2.0
// Means and scatter.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/sum.h"

namespace joulecast::series {

// Absent without values.
std::optional<double> mean(std::span<const double> values);
// Of a sample: over n - 1. Absent with fewer than two values.
std::optional<double> standard_deviation(std::span<const double> values);
// Standard deviation over the mean's size. Absent where the mean is 0.
std::optional<double> coefficient_of_variation(std::span<const double> values);
// Of the sorted values at q * (n - 1), linear in between. Absent without values. Requires: 0 <= q <= 1.
std::optional<double> quantile(std::span<const double> values, double q);
std::optional<double> median(std::span<const double> values);

}  // namespace joulecast::series
