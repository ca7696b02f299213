// SPDX-License-Identifier: Apache-2.0
// Energy, by the three ways there are. Which one suits which source:
//   counter_energy    an energy counter (NVML on Volta or newer, RAPL): sees all of the time; steps once an update
//   period trapezoid_energy  power sampled at instants that follow the load: meters, sensors of classes A and D
//   step_energy       readings that stand for a stretch of time: kHeld for a register polled faster than it updates,
//                     kSinceLast for means of the window that ended with the reading (class B, averaging meters)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "series/series.h"
#include "series/warning.h"

namespace joulecast::series {

using JouleSecondsSquared = Quantity<1, 2, 0, 0>;

enum class EnergyMethod : std::uint8_t { kCounter, kTrapezoid, kSteps };
std::string_view method_name(EnergyMethod method);  // "counter", "trapezoid", "steps"

struct Energy {
  Joules value;
  Joules standard_error;  // of sampling alone: what the sensor itself is off is the calibration's
  Seconds duration;
  EnergyMethod method = EnergyMethod::kCounter;
  Warnings warnings;
};

struct CounterReading {
  double time_s = 0;
  std::uint64_t millijoules = 0;
};
struct CounterOptions {
  Seconds update_period{0.1};  // as measured; 100 ms is usual since Volta
  Watts highest_power{2000};   // more than the device can draw, board and transients included
};
// Last minus first. A fall is a wrap at 2^32 or 2^64 mJ if the energy that it means could have been drawn since, and is
// counted on with a warning. The standard error is of the counter's step: each edge comes up to an update period late,
// evenly spread, so the difference of both has power * period / sqrt(6).
// Errors: kInvalidInput with fewer than two readings, times that do not rise, a counter that never stepped (absent, not
// zero) and one that was reset.
Result<Energy> counter_energy(std::span<const CounterReading> readings, const CounterOptions& options = {});

// The standard error is of what lies between readings: a change from a to b may have come at any time in between, which
// is |b - a| * gap / sqrt(12); a gap of more than 1.5 usual ones hides the missing time times the series' scatter
// besides. Errors: check()'s; kInvalidInput with fewer than two readings.
Result<Energy> trapezoid_energy(const Series& power_w);
// Requires: between is kHeld or kSinceLast. Errors as trapezoid_energy().
Result<Energy> step_energy(const Series& power_w, Between between);

// Joules since the first reading, by trapezoids, at each reading. Errors: check()'s.
Result<Series> cumulative_energy(const Series& power_w);

// Energy-delay products: EDP = E t, ED2P = E t^2.
JouleSeconds energy_delay(const Energy& energy);
JouleSecondsSquared energy_delay_squared(const Energy& energy);

// What the device would have drawn idle, and the rest: E - P_idle t.
struct IdleSplit {
  Joules idle, above_idle;
  Joules above_idle_standard_error;
  std::optional<double> idle_share;  // of the whole; absent where the whole is not positive
};
IdleSplit split_idle(const Energy& energy, Watts idle, Watts idle_standard_error);

}  // namespace joulecast::series
