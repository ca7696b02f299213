// SPDX-License-Identifier: Apache-2.0
// Where the level of a series changes, and the steady part between start-up and tail.
#pragma once

#include <cstddef>
#include <vector>

#include "series/series.h"
#include "series/warning.h"

namespace joulecast::series {

struct ChangePointOptions {
  // What is shorter is no level of its own. A change nearer to an end than this takes as much with it.
  Seconds shortest_segment{0.5};
  // Levels closer than this share of the larger one are the same: drift by temperature and sensor noise are no changes.
  double smallest_change = 0.05;
};

struct Segment {
  std::size_t first = 0, last = 0;  // readings, both included
  double level = 0;                 // their mean
};
// Binary segmentation by least squares: a stretch is split where that lowers its squared error most, if the levels
// differ and the noise (the most that differences of neighbours tell, and of ever longer means) does not explain the
// gain. Errors: check()'s; kInvalidInput unless the options are positive.
Result<std::vector<Segment>> segments(const Series& series, const ChangePointOptions& options = {});

struct SteadyPart {
  Series steady;
  double level = 0;
  Seconds from, to;
  Seconds cut_head, cut_tail;  // how much was left out, 0 for nothing
  std::size_t head_readings = 0, tail_readings = 0;
  Warnings warnings;  // kShortWindow: less than half of the series is steady
};
// From the first to the last segment on the level that lasts longest; dips in between stay, for they belong to the
// work. Give it the time the program ran, not the idle time around: what lasts longest counts as the work.
Result<SteadyPart> steady_part(const Series& series, const ChangePointOptions& options = {});

}  // namespace joulecast::series
