// SPDX-License-Identifier: Apache-2.0
// The mean curve of repeated runs. Runs end at different times: each moment is the mean of the runs that reach it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "series/series.h"
#include "series/warning.h"

namespace joulecast::series {

// One entry a moment. Scatter and band are absent where only one run goes on.
struct MeanCurve {
  std::vector<double> time_s;
  std::vector<double> mean;
  std::vector<std::size_t> runs;
  std::vector<std::optional<double>> standard_deviation;
  std::vector<std::optional<double>> low, high;  // of the mean, by Student's t: 95 % unless asked otherwise
  Warnings warnings;                             // kFewSamples: fewer than three runs somewhere
};

// Runs on times relative to their starts, read linearly at k / rate. Beware of the tail: where the fast runs have
// ended, the curve is of the slow ones alone. Errors: check()'s with the run's number; kInvalidInput without runs, for
// a rate that is not positive, a run that starts after the first moment (it has no reading at 0) and unless 0 <
// confidence < 1.
Result<MeanCurve> mean_curve(std::span<const Series> runs, Hertz rate, double confidence = 0.95);

}  // namespace joulecast::series
