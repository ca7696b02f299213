// SPDX-License-Identifier: Apache-2.0
// The channel of three standard deviations around the mean: what is outside is named, never silently dropped.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "series/warning.h"

namespace joulecast::series {

struct Channel {
  double mean = 0, standard_deviation = 0;  // of all values: the channel is mean -+ sigmas * standard_deviation
  std::vector<std::size_t> kept, outside;   // indices, rising
  double kept_mean = 0;
  std::optional<double> kept_standard_deviation;
  Warnings warnings;  // kFewSamples: with ten values or fewer nothing can lie outside of three deviations
};
// Inside is |value - mean| < sigmas * deviation, as in the thesis' equation 3.3, in one pass: start-up readings widen
// the channel that is to catch them, so cut the start-up first (change_point.h). Values without scatter are all kept.
// Absent with fewer than two values.
std::optional<Channel> channel(std::span<const double> values, double sigmas = 3);

}  // namespace joulecast::series
