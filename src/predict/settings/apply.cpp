// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/apply.h"

#include <algorithm>
#include <cmath>

namespace joulecast::settings {
namespace {

template <typename Unit>
Sides sides_of(const Interval<Unit>& interval) {
  if (!(interval.lo.value() > 0.0)) return {};
  return {std::log(interval.value / interval.lo), std::log(interval.hi / interval.value)};
}

Sides widened(const Sides& sides, double more) {
  return {std::hypot(sides.down, more), std::hypot(sides.up, more)};
}

template <typename Unit>
Interval<Unit> interval_of(double value, const Sides& sides) {
  return {Unit{value}, Unit{value * std::exp(-sides.down)}, Unit{value * std::exp(sides.up)}};
}

}  // namespace

Watts most_drawn(Watts limit, Watts usual) {
  constexpr double kHeld = 0.5, kLow = 1.0 / 3.0, kMissed = 1.25;
  const double share = std::clamp(limit / usual, kLow, kHeld);
  return limit * (1.0 + (kMissed - 1.0) * (kHeld - share) / (kHeld - kLow));
}

BaseWidths base_widths(const Prediction& base, double power_up, std::span<const MeasuredRun> measured) {
  constexpr double kSigmas = 1.645;  // of a normal distribution, around 90 % of it
  const auto has = [&](auto quantity) {
    return std::any_of(measured.begin(), measured.end(),
                       [&](const MeasuredRun& run) { return (run.*quantity).has_value(); });
  };
  BaseWidths out{sides_of(base.time), sides_of(base.power), sides_of(base.energy)};
  out.power.up = std::max(out.power.up, power_up);
  if (has(&MeasuredRun::time)) out.time = {kSigmas * 0.02, kSigmas * 0.02};
  if (has(&MeasuredRun::power)) out.power = {kSigmas * 0.03, kSigmas * 0.03};
  if (!measured.empty())
    out.energy = {std::hypot(out.time.down, out.power.down), std::hypot(out.time.up, out.power.up)};
  return out;
}

Prediction applied(const Prediction& base, const BaseWidths& widths, const SettingPrediction& at,
                   const Setting& setting) {
  Prediction out = base;
  out.setting = {.sm_clock = setting.sm_clock ? setting.sm_clock : base.setting.sm_clock,
                 .power_limit = setting.power_limit ? setting.power_limit : base.setting.power_limit};
  out.operations.clear();
  const double time = std::exp(at.log_time);
  const double power = std::exp(at.log_power);
  const Sides time_sides = widened(widths.time, at.time_width);
  const Sides energy_sides = widened(widths.energy, at.energy_width);
  out.time = interval_of<Seconds>(time, time_sides);
  out.power = interval_of<Watts>(power, widened(widths.power, at.power_width));
  const Watts most = most_drawn(*out.setting.power_limit, *base.setting.power_limit);
  out.power.hi = std::min(out.power.hi, std::max(most, out.power.value));
  out.energy = interval_of<Joules>(power * time, energy_sides);
  out.edp = interval_of<JouleSeconds>(power * time * time,
                                      {energy_sides.down + time_sides.down, energy_sides.up + time_sides.up});
  return out;
}

Seconds busy_part(Seconds step, Seconds host, double sharpness) {
  const double share = host / step;
  if (share >= 1.0) return Seconds{};
  return step * std::pow(1.0 - std::pow(share, sharpness), 1.0 / sharpness);
}

}  // namespace joulecast::settings
