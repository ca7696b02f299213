// SPDX-License-Identifier: Apache-2.0
// What a workload's clock, power, time, energy and energy-delay product do over the power limit: GPyJoules' models,
// fitted by ordinary least squares to a sweep of one workload on one GPU.
//
//   clock   f = a + b min(limit / u, P_max), no more than f_max
//   power   P = P_idle + c0 + u (c1 f + c2 f^2 + c3 f^3)
//   delay   t / t_ref = d0 + d1 / f        t_ref: the time at the highest limit
//   energy  E = P t,  EDP = E t
//
// u is the share of the GPU that the workload uses, of power: see utilization_of(). Everything a model depends on is in
// it: f_max, P_max and P_idle are results, not globals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "joulecast/result.h"
#include "joulecast/units.h"
#include "series/least_squares.h"
#include "series/warning.h"

namespace joulecast::series {

// One run of the sweep, or the mean of its repetitions.
struct SweepPoint {
  Watts limit;
  Hertz clock;
  Watts power;
  Seconds time;
};

struct SweepBasis {
  Watts idle;
  Watts highest;           // P_max: the device's own limit
  double utilization = 1;  // u, above 0 to 1: limits bind below u P_max
};

// (P - P_idle) / (P_max - P_idle) of an unlimited run, P_max the device's own limit. Errors: kInvalidInput unless
// idle < power <= highest (2 % above are taken for 1: limits are kept on average only).
Result<double> utilization_of(Watts power, Watts idle, Watts highest);

struct SettingPrediction {
  Hertz clock;
  Watts power;
  Seconds time;
  Joules energy;
  JouleSeconds energy_delay;
};

struct SweepModels {
  SweepBasis basis;
  Hertz highest_clock;  // f_max: the highest seen
  Watts highest_power;  // P_max: the highest seen, over u; more limit than this changes nothing
  Watts highest_limit;  // t_ref belongs to it
  Watts lowest_limit;
  Seconds reference_time;         // t_ref
  LinearFit clock, power, delay;  // in units of f_max, P_max and t_ref
  // Of each curve over the sweep's own points, energy and EDP as composed. Absent where a quantity never changed.
  std::optional<double> clock_r2, power_r2, time_r2, energy_r2, energy_delay_r2;
  Warnings warnings;  // kFewSamples: a fit without two degrees of freedom

  [[nodiscard]] SettingPrediction at(Watts limit) const;
};

// Clocks under limits that do not bind all are f_max: they say nothing about the line below it and are left out of the
// clock's fit where enough others remain. Errors: kInvalidInput for values that are not positive or a utilisation
// outside 0 to 1, power not above idle, fewer than four different clocks (the power model has four coefficients), and
// least_squares()'s.
Result<SweepModels> fit_models(std::span<const SweepPoint> points, const SweepBasis& basis);

enum class Optimum : std::uint8_t { kTime, kEnergy, kEnergyDelay };
// The limit within the sweep's where the models have the least; a grid of `steps` limits is tried. Of equal ones the
// lowest. Requires: steps >= 2.
Watts best_limit(const SweepModels& models, Optimum of, std::size_t steps = 501);

}  // namespace joulecast::series
