// SPDX-License-Identifier: Apache-2.0
// When a sensor that sees part of the time is fooled by a load that repeats in step with it.
//
// A reading of 25 ms in every 100 ms of a load that repeats every 104 ms wanders slowly through the load's phases: what
// it shows is a slow wave that is not there. From such readings alone nobody can tell, the wave looks like a load. It
// takes a second witness: the load's period (marks of iterations, a fast source) or another source of the same energy.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "series/blocks.h"
#include "series/sensor_class.h"
#include "series/series.h"
#include "series/warning.h"

namespace joulecast::series {

// Of marks that come `marks_a_period` to a period (begin and end of each burst: 2): that of the grid that half of them
// keep to within a tenth of it, else, after a pause or where lengths differ on their own, the mean of those within a
// tenth of the usual one. Absent with fewer than eight periods, and where under two in three are.
std::optional<Seconds> period_of_marks(std::span<const double> marks_s, std::size_t marks_a_period);

// Of a source that is fast enough to show the load, by autocorrelation: the first peak above 0.5 between the two times.
// Absent where there is none. Errors: check()'s; kInvalidInput unless 0 < shortest < longest < a quarter of the series,
// and for a series times lags that would take minutes.
Result<std::optional<Seconds>> period_of(const Series& load, Seconds shortest, Seconds longest);

// A load that goes between two levels.
struct PeriodicLoad {
  Seconds period;
  std::optional<double> duty;  // share of the period on the high level; absent: any
  Watts low, high;
};

struct AliasingDoubt {
  // How far the mean over the whole duration may be off, as a share of it, for the worst phase.
  double mean_error = 0;
  // Share of the load's swing that single readings show.
  double swing_seen = 1;
  Warnings
      warnings;  // kAliasing: the mean may be off by over the tolerance. kSwingHidden: under half the swing is seen.
};
// By the spectral lines of the load: each is damped by the sensor's window, and averaged over the readings of the
// duration as far as it is out of step with them; lines below half the sensor's rate are followed, not aliased. Where
// the sensor's windows cover all of the time the mean has no such error, however fast the load is. `period` is the
// sensor's as measured: a hundredth off decides whether a load is in step. Errors: kInvalidInput for levels, duty,
// period or duration that cannot be; kUnsupported where the window is not known.
Result<AliasingDoubt> aliasing_by_period(const PeriodicLoad& load, const SensorMeaning& sensor, Seconds duration,
                                         double tolerance = 0.02);

struct SourceComparison {
  std::size_t blocks = 0;
  double mean_ratio = 1;  // reading over reference
  // Root mean square of what blocks are off the mean ratio, as a share, at each level of the reference. A gain or
  // offset that is wrong does not show in it, readings that wander while the reference stays do.
  double wander = 0;
  Warnings warnings;  // kAliasing: wander over the tolerance. kSourcesDisagree: the mean ratio is off 1 by over 10 %.
                      // kFewSamples: fewer than four blocks, and nothing is claimed
};
// By a second source of the same power: a meter, or differences of the energy counter. Errors: steady_blocks()'s.
Result<SourceComparison> compare_sources(const Series& reading, const Series& reference,
                                         const BlockOptions& options = {}, double tolerance = 0.05);

}  // namespace joulecast::series
