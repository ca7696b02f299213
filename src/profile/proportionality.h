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
  double slope_s = 0, offset_s = 0;   // seconds = offset + slope x iterations, of the straight part
  double deviation = 0;               // of the straight part's points from the line, relative to slope x iterations
  std::vector<std::size_t> outliers;  // points further than five deviations from slope x iterations
  // The shortest duration that was measured beyond the longest outlier; absent where even the longest run is one.
  std::optional<double> safe_s;
};

// As in the thesis the line is fitted to the 6/7 of the points with most iterations, outliers are those beyond five
// standard deviations, and the longest of them ends the part that is not proportional. Unlike there, deviations are
// relative: over five decades of durations the longest runs alone would set an absolute one, and no short run could
// ever be an outlier. And a point's distance is from slope x iterations, without the line's offset: what a start costs
// is what one looks for. Errors: kInvalidInput for fewer than seven points, all of one number of iterations, or times
// that are not positive.
Result<Proportionality> proportionality(std::span<const DurationPoint> points);

// Runs what is prepared for 1, 2, 4, ... iterations until a run takes `longest`, `repeats` times each, in mixed order.
Result<std::vector<DurationPoint>> measure_durations(Runner& runner, const CaseRequest& request,
                                                     const Protocol& protocol, Seconds longest, std::size_t repeats);

}  // namespace joulecast::profile
