// SPDX-License-Identifier: Apache-2.0
// Time and energy of one iteration from a run of many, by equations 3.1 to 3.9 of the thesis: a power
// log beside a timed loop.
#pragma once

#include <cstddef>
#include <span>

#include "joulecast/result.h"
#include "joulecast/units.h"
#include "series/warning.h"

namespace joulecast::series {

struct TimedRun {
  Seconds total;            // t_tot, of all iterations
  Seconds total_deviation;  // sigma_t_tot
  std::size_t iterations = 0;
};

struct PerIteration {
  Watts power, power_deviation;          // (3.1), (3.2) of all readings
  std::size_t kept = 0, dropped = 0;     // (3.3): inside and outside of three deviations
  Watts kept_power, kept_deviation;      // (3.1), (3.2) of the kept ones
  Joules total_energy, total_deviation;  // (3.4) W t_tot, (3.5) sigma_W t_tot
  Seconds time, time_deviation;          // (3.6) t_tot / N, (3.8) sigma_t_tot / N
  Joules energy, energy_deviation;       // (3.7) E_tot / N, (3.9) sigma_E_tot / N
  // (3.5) is the scatter of single readings and leaves the time's out: it does not shrink with more readings. This is
  // the standard error of the mean energy instead: sigma_W / sqrt(kept) and sigma_t_tot in quadrature. It takes
  // readings for independent: give it one reading an update period, not repeated polls of one.
  Joules energy_standard_error;
  Warnings
      warnings;  // kFewSamples, kShortWindow (under 100 ms, where time is no longer proportional: thesis 3.2.3), kNoisy
};

// Errors: kInvalidInput with fewer than two readings, one that is no number, no iterations, or a time that is not
// positive.
Result<PerIteration> per_iteration(std::span<const double> power_w, const TimedRun& run);

}  // namespace joulecast::series
