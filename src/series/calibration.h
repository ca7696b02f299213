// SPDX-License-Identifier: Apache-2.0
// The line between what a card's sensor reads and what a meter measures: reading = gain * true + offset. It is of one
// card: cards of the same model differ by as much as models do. It mends what the sensor is off, not what it does not
// see.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "series/energy.h"
#include "series/series.h"

namespace joulecast::series {

struct CalibrationLine {
  double gain = 1;
  Watts offset;
  // Of the fit; absent with two points, which say nothing about errors.
  std::optional<double> gain_standard_error;
  std::optional<Watts> offset_standard_error;
  std::optional<Watts> residual_deviation;
  std::optional<double> r2;
  std::size_t points = 0;
  Watts centre;       // the meter's mean, where the line is known best
  Warnings warnings;  // kFewSamples: fewer than four points
};

// By least squares, from means over the same stretches of steady load (steady_blocks()). Idle and full load must both
// be in it: a line through one level has no slope. Errors: kInvalidInput for unequal counts, fewer than two points, a
// meter that reads about the same everywhere (within 5 %) and a gain that is not positive.
Result<CalibrationLine> fit_calibration(std::span<const double> reading_w, std::span<const double> meter_w);

// (reading - offset) / gain. Requires: gain > 0.
Watts true_power(const CalibrationLine& line, Watts reading);
Series true_power(const CalibrationLine& line, Series reading_w);
// The standard error has the line's in it, where it is known.
Energy true_energy(const CalibrationLine& line, Energy energy);

}  // namespace joulecast::series
