// SPDX-License-Identifier: Apache-2.0
#include "series/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "series/least_squares.h"
#include "series/moments.h"

namespace joulecast::series {
namespace {

constexpr double kLeastSpread = 0.05;

Result<void> check_points(std::span<const double> reading_w, std::span<const double> meter_w) {
  if (reading_w.size() != meter_w.size() || meter_w.size() < 2) {
    return invalid(fmt::format("calibration: {} readings and {} of the meter; it needs two points at least",
                               reading_w.size(), meter_w.size()));
  }
  const auto [low, high] = std::minmax_element(meter_w.begin(), meter_w.end());
  if (!(*high - *low > kLeastSpread * std::abs(*high))) {
    return invalid(
        fmt::format("calibration: the meter reads {} W to {} W; measure both idle and under load", *low, *high));
  }
  return {};
}

}  // namespace

Result<CalibrationLine> fit_calibration(std::span<const double> reading_w, std::span<const double> meter_w) {
  JC_RETURN_IF_ERROR(check_points(reading_w, meter_w));
  Design design{2, {}};
  for (const double watts : meter_w) design.values.insert(design.values.end(), {1, watts});
  JC_ASSIGN_OR_RETURN(const LinearFit fit, least_squares(design, reading_w));
  CalibrationLine line;
  line.offset = Watts{fit.coefficients[0]};
  line.gain = fit.coefficients[1];
  if (!(line.gain > 0)) {
    return invalid(fmt::format("calibration: the sensor falls where the meter rises (gain {}); are they on one clock?",
                               line.gain));
  }
  line.points = meter_w.size();
  line.centre = Watts{*mean(meter_w)};
  line.r2 = fit.r2;
  if (fit.residual_deviation) {
    line.residual_deviation = Watts{*fit.residual_deviation};
    line.offset_standard_error = Watts{fit.standard_errors[0]};
    line.gain_standard_error = fit.standard_errors[1];
  }
  if (line.points < 4) add(line.warnings, Warning::kFewSamples);
  return line;
}

Watts true_power(const CalibrationLine& line, Watts reading) {
  JC_CHECK(line.gain > 0, "a calibration line rises");
  return (reading - line.offset) / line.gain;
}

Series true_power(const CalibrationLine& line, Series reading_w) {
  for (double& watts : reading_w.value) watts = true_power(line, Watts{watts}).value();
  return reading_w;
}

Energy true_energy(const CalibrationLine& line, Energy energy) {
  JC_CHECK(line.gain > 0, "a calibration line rises");
  energy.value = (energy.value - line.offset * energy.duration) / line.gain;
  energy.standard_error = energy.standard_error / line.gain;
  add(energy.warnings, line.warnings);
  if (!line.residual_deviation) return energy;
  // At the centre the line is as sure as its points' mean; away from it the gain's error comes in.
  const Watts away = energy.value / energy.duration - line.centre;
  const double middle = line.residual_deviation->value() / std::sqrt(static_cast<double>(line.points));
  const double slope = *line.gain_standard_error * away.value();
  const Joules of_line = Watts{std::hypot(middle, slope) / line.gain} * energy.duration;
  energy.standard_error = Joules{std::hypot(energy.standard_error.value(), of_line.value())};
  return energy;
}

}  // namespace joulecast::series
