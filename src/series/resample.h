// SPDX-License-Identifier: Apache-2.0
// A series at evenly spaced times.
//
// Linear is the safe choice, and the only right one for polled registers, window means and anything with edges: a
// natural cubic swings beyond the readings at each change of load (negative power is possible) and across gaps, and
// what it adds there is no measurement. Cubics suit smooth quantities sampled well, such as temperature. The monotone
// cubic never leaves the range of its neighbours, but its slopes are still made up.
#pragma once

#include <cstdint>

#include "series/series.h"
#include "series/warning.h"

namespace joulecast::series {

enum class Interpolation : std::uint8_t {
  kLinear,
  kNaturalCubic,   // smooth to the second derivative, which is 0 at both ends
  kMonotoneCubic,  // Fritsch and Butland's slopes: no overshoot
};

struct Resampled {
  Series series;
  Warnings warnings;  // kOvershoot: the natural cubic left the range of the readings by over 1 % of it
};

// At first time + k / rate, up to the last. Errors: check()'s; kInvalidInput for a rate that is not positive, and for
// one that would make more than 100 million values.
Result<Resampled> resample(const Series& series, Hertz rate, Interpolation interpolation = Interpolation::kLinear);

}  // namespace joulecast::series
