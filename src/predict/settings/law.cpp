// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/law.h"

#include <algorithm>

namespace joulecast::settings {
namespace {

double slowed(std::size_t sensitivity, double clock) {
  const double s = kSensitivities[sensitivity];
  return 1.0 - s + s / clock;
}

}  // namespace

bool possible(const GpuConstants& c) {
  return c.static_power > 0.02 && c.low_power > 0.02 && c.knee > 0.3 && c.knee < 0.98 && c.slope >= 0.0 &&
         c.lowest_clock > 0.05 && c.lowest_clock < 0.6 && c.clocked >= 0.0 && c.clocked <= 1.0 && c.unevenness >= 0.0 &&
         c.unevenness <= 0.9 && c.held > 0.5;
}

SettingLaw::SettingLaw(const GpuConstants& constants) : constants_(constants) {
  const double lowest = std::clamp(constants.lowest_clock, 0.02, 0.95);
  for (std::size_t i = 0; i < kSteps; ++i)
    clocks_[i] = lowest + (1.0 - lowest) * static_cast<double>(i) / static_cast<double>(kSteps - 1);
  for (std::size_t s = 0; s < kSensitivities.size(); ++s) {
    std::transform(clocks_.begin(), clocks_.end(), dynamic_[s].begin(),
                   [&](double clock) { return dynamic_at(s, clock); });
  }
}

// Flat up to the knee, then linear.
double SettingLaw::voltage(double clock) const {
  const double above = std::max(0.0, clock - constants_.knee);
  return (1.0 + constants_.slope * above) / (1.0 + constants_.slope * (1.0 - constants_.knee));
}

double SettingLaw::dynamic_at(std::size_t sensitivity, double clock) const {
  const double v = voltage(clock);
  const double rate = 1.0 / slowed(sensitivity, clock);
  return v * v * (constants_.clocked * clock + (1.0 - constants_.clocked) * rate);
}

double SettingLaw::clock(std::size_t sensitivity, double dynamic, const OperatingPoint& at) const {
  const double allowed = (constants_.held * at.limit - constants_.static_power) / dynamic;
  const Steps& needed = dynamic_[sensitivity];
  if (needed.back() <= allowed) return std::min(1.0, at.clock);
  if (needed.front() >= allowed) return std::min(clocks_.front(), at.clock);
  const auto above = std::upper_bound(needed.begin(), needed.end(), allowed) - needed.begin();
  const auto i = static_cast<std::size_t>(above) - 1;
  const double part = (allowed - needed[i]) / (needed[i + 1] - needed[i]);
  return std::min(clocks_[i] + part * (clocks_[i + 1] - clocks_[i]), at.clock);
}

// Operations of one network draw differently, so a limit meets them one after the other. Three kinds stand for them: a
// quarter of the time each below and above, half at the mean.
SettingLaw::Busy SettingLaw::busy(std::size_t sensitivity, double dynamic, const OperatingPoint& at) const {
  struct Kind {
    double scale, share;
  };
  const Kind kinds[] = {{1.0 - constants_.unevenness, 0.25}, {1.0, 0.5}, {1.0 + constants_.unevenness, 0.25}};
  Busy out{.time = 0.0, .energy = 0.0};
  for (const Kind& kind : kinds) {
    const double demand = dynamic * kind.scale;
    const double x = clock(sensitivity, demand, at);
    const double time = kind.share * slowed(sensitivity, x);
    out.time += time;
    out.energy += time * (constants_.static_power + demand * dynamic_at(sensitivity, x));
  }
  return out;
}

Outcome SettingLaw::joined(const Busy& busy, double low_share, const OperatingPoint& at) const {
  const double low_power = std::min(constants_.low_power, constants_.held * at.limit);
  const double time = low_share + (1.0 - low_share) * busy.time;
  return {.time = time, .power = (low_share * low_power + (1.0 - low_share) * busy.energy) / time};
}

}  // namespace joulecast::settings
