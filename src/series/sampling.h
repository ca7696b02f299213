// SPDX-License-Identifier: Apache-2.0
// How well a sensor was sampled, and how often it really updates.
#pragma once

#include <cstddef>

#include "series/series.h"
#include "series/warning.h"

namespace joulecast::series {

struct Sampling {
  std::size_t samples = 0;
  Hertz rate;                           // gaps over time
  Seconds usual_gap;                    // the median
  Seconds jitter;                       // standard deviation of the gaps
  double coefficient_of_variation = 0;  // jitter over the mean gap
  Seconds longest_gap;
  Seconds longest_gap_at;  // when it began
  std::size_t lost = 0;    // in gaps of more than 1.5 usual ones: how many would have fitted in
  Warnings warnings;
};
// Errors: check()'s; kInvalidInput with fewer than three readings.
Result<Sampling> sampling_of(const Series& series);

struct UpdatePeriod {
  Seconds period;
  Seconds poll;  // usual time between readings
  std::size_t changes = 0;
  double on_grid = 0;  // share of the times between changes that are whole periods, to a poll
  Warnings warnings;   // kFewSamples, kPolledTooSlowly: a poll comes less than twice a period
};
// Of a register from repeated polls, refined over the whole series: the commonest time between changes of its value,
// the shortest of several common ones, or the greatest part of it that divides nine in ten of them: updates of 100 ms
// show a load that turns every 250 ms after 200 and 300. A value that stays is no missing update, so this is the most
// that the period can be: it is a multiple of it where the load turns in step. Errors: check()'s; kInvalidInput where
// the value changed fewer than three times.
Result<UpdatePeriod> update_period(const Series& polls);

// The readings at which the value changed, the first included: one a new value.
Result<Series> changes(const Series& polls);

}  // namespace joulecast::series
