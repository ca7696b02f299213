// SPDX-License-Identifier: Apache-2.0
// From which duration on does time grow with the number of iterations? (Thesis, 3.2.3 and figure 3.1.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "joulecast/result.h"
#include "joulecast/units.h"
#include "profile/runner.h"
#include "profile/time_case.h"

namespace joulecast::profile {

struct DurationPoint {
  std::int64_t iterations = 0;
  double seconds = 0;  // of all of them
};

struct Proportionality {
  double slope_s = 0, offset_s = 0;   // seconds = offset + slope x iterations, of medians
  double deviation = 0;               // of the long runs from that, relative, as a standard deviation
  bool too_noisy = false;             // the deviation is beyond kTooNoisy: nothing is said to be safe
  std::vector<std::size_t> outliers;  // points further than five deviations from slope x iterations
  // The shortest duration that was measured beyond the longest outlier, and one iteration at least; absent where even
  // the longest run is an outlier, or all is too noisy.
  std::optional<double> safe_s;
};

// Five deviations are then half of what is measured.
inline constexpr double kTooNoisy = 0.1;

// As in the thesis outliers are those beyond five standard deviations, and the longest of them ends the part that is
// not proportional. Unlike there, level and deviation are medians of the long runs alone, those of an eighth of the
// most iterations or more: short runs that are far off would drag a line fitted to them along, and widen its deviation
// until nothing is an outlier. Deviations are relative, for over five decades of durations the longest runs alone would
// set an absolute one, and distances are of logarithms, so that a tenth of the work is as far off as ten times it;
// below 1 % a deviation counts as 1 %. A point's distance is from slope x iterations, without the offset: what a start
// costs is what one looks for. Errors: kInvalidInput for fewer than seven points, all of one number of iterations, or
// times that are not positive or do not grow.
Result<Proportionality> proportionality(std::span<const DurationPoint> points);

// Runs what is prepared for 1, 2, 4, ... iterations until a run takes `longest`, `repeats` times each, in mixed order.
Result<std::vector<DurationPoint>> measure_durations(Runner& runner, const CaseRequest& request,
                                                     const Protocol& protocol, Seconds longest, std::size_t repeats);

}  // namespace joulecast::profile
