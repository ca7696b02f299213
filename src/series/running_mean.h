// SPDX-License-Identifier: Apache-2.0
// Readings that are means of the last second (class C): undone where that is possible, kept away from edges where not.
#pragma once

#include <span>

#include "series/series.h"
#include "series/warning.h"

namespace joulecast::series {

struct Desmeared {
  Series power;  // means of the time since the update before: Between::kSinceLast
  Warnings warnings;
};
// What the load was, from one reading an update: of a running mean m over N updates, p[k] = p[k - N] + N (m[k] - m[k -
// 1]). Takes the load for steady over the window before the first reading. Each step multiplies the readings' rounding
// by N and adds it to the one a window before, so this is for short clean series (every update polled, means that are
// exactly N updates long); with others it swings, and is refused. Errors: check()'s; kUnsupported where the window is
// no multiple of the period (within 2 %), updates are missing (a gap over a quarter off the period), or the result
// falls below -5 % of the highest reading: then the readings are no such mean, and off_edges() is the way.
Result<Desmeared> desmear(const Series& updates, Seconds window, Seconds period);

struct OffEdges {
  Series kept;
  Seconds excluded;  // of the series' duration
  std::size_t readings_excluded = 0;
  Warnings warnings;  // kGap where something was left out: integrate means, not this
};
// Leaves out what was read at or up to `settle` after an edge of load, 1 s for class C. Errors: check()'s;
// kInvalidInput where nothing would be left.
Result<OffEdges> off_edges(const Series& series, std::span<const double> edges_s, Seconds settle);

}  // namespace joulecast::series
