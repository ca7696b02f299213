// SPDX-License-Identifier: Apache-2.0
// Readings of one sensor over time, as plain values. Everything of this part is a pure function of them.
//
//   Series power{{10.0, 10.5, 11.0}, {100, 120, 110}};        // seconds, watts
//   Result<Series> middle = cut(power, Seconds{10.25}, Seconds{10.75});
#pragma once

#include <cstdint>
#include <vector>

#include "joulecast/result.h"
#include "joulecast/units.h"

namespace joulecast::series {

// `value[i]` was read at `time_s[i]`. Times are seconds of one clock, strictly rising. The unit of values is the
// caller's: watts where a function speaks of power.
struct Series {
  std::vector<double> time_s;
  std::vector<double> value;
};

// What a series is between two readings.
enum class Between : std::uint8_t {
  kLinear,     // a quantity that was sampled: a straight line
  kHeld,       // a register that keeps its reading until the next one, such as a sensor polled faster than it updates
  kSinceLast,  // each value is the mean of the time since the reading before it, such as a meter's or class B's means
};

// kInvalidInput unless there is a reading, times are finite and strictly rising, and every time has its finite value.
Result<void> check(const Series& series);

// From the first reading to the last. Requires: check() passed.
Seconds duration(const Series& series);

// At a time inside the series. Requires: check() passed; first time <= at <= last time.
double value_at(const Series& series, Seconds at, Between between = Between::kLinear);

// The same readings with times that count from `origin`.
Series relative_time(Series series, Seconds origin);

// The readings of [from, to], and what the series is at both ends, so that an integral over neighbouring cuts adds up
// to the integral over the whole. Errors: check()'s; kInvalidInput unless from < to and both are inside the series.
Result<Series> cut(const Series& series, Seconds from, Seconds to, Between between = Between::kLinear);

}  // namespace joulecast::series
