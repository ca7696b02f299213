// SPDX-License-Identifier: Apache-2.0
#include "analysis/curves.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/channel_series.h"
#include "analysis/summary.h"
#include "series/energy.h"

namespace joulecast {
namespace {

using series::Series;

// Relative to the command, with a value at both of its ends: the nearest reading's.
std::optional<Series> within(const Series& series, const Phase& command) {
  const double begin = seconds_of(command.begin);
  const double length = command.seconds();
  if (series.time_s.size() < 2 || series.time_s.front() >= begin + length || series.time_s.back() <= begin) {
    return std::nullopt;
  }
  const auto at = [&](double time) {
    return value_at(series, Seconds{std::clamp(begin + time, series.time_s.front(), series.time_s.back())});
  };
  Series out{{0}, {at(0)}};
  for (std::size_t i = 0; i < series.time_s.size(); ++i) {
    const double time = series.time_s[i] - begin;
    if (time <= 0 || time >= length) continue;
    out.time_s.push_back(time);
    out.value.push_back(series.value[i]);
  }
  out.time_s.push_back(length);
  out.value.push_back(at(length));
  return out;
}

struct RunCurves {
  Series power_w, energy_j;
};

// Joules since the begin, by the account's best source. It ends at the account's total: what the first and the last
// step of a counter miss, and what was corrected, is spread over the run.
Result<Series> energy_curve(const CurveRun& run, const std::string& device, const SourceEnergy& best,
                            const Series& power) {
  JC_ASSIGN_OR_RETURN(Series curve, series::cumulative_energy(power));
  const auto channel = power_channel(*run.recording, device, best.source);
  if (channel && run.recording->channels[*channel].signal == Signal::kEnergy) {
    if (auto steps = within(series_of(*run.recording, *channel).series, run.command)) {
      curve = *std::move(steps);
      const double first = curve.value.front();
      for (double& joules : curve.value) joules -= first;
    }
  }
  const double last = curve.value.back();
  if (last > 0) {
    for (double& joules : curve.value) joules *= best.energy.value() / last;
  }
  return curve;
}

// Absent where the run has too few readings of the device.
Result<std::optional<RunCurves>> curves_of(const CurveRun& run, const std::string& device, const CurveOptions& options,
                                           series::Warnings& warnings) {
  const auto channel = power_channel(*run.recording, device);
  const auto best = answer(run.accountant->account(device, run.command.begin, run.command.end));
  if (!channel || !best) return std::nullopt;
  auto power = within(run.accountant->power(*channel), run.command);
  if (!power) return std::nullopt;
  RunCurves out;
  JC_ASSIGN_OR_RETURN(out.energy_j, energy_curve(run, device, *best, *power));
  out.power_w = *std::move(power);
  if (options.interpolation == series::Interpolation::kLinear) return out;
  JC_ASSIGN_OR_RETURN(series::Resampled even, series::resample(out.power_w, options.rate, options.interpolation));
  series::add(warnings, even.warnings);
  // The last moment is no multiple of the step, and both curves end together.
  if (even.series.time_s.back() < out.power_w.time_s.back()) {
    even.series.time_s.push_back(out.power_w.time_s.back());
    even.series.value.push_back(out.power_w.value.back());
  }
  out.power_w = std::move(even.series);
  return out;
}

}  // namespace

Result<std::vector<DeviceCurves>> mean_curves(const std::vector<CurveRun>& runs, const CurveOptions& options) {
  std::vector<std::string> devices;
  for (const CurveRun& run : runs) {
    for (const std::string& device : run.accountant->devices()) {
      if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
    }
  }
  std::vector<DeviceCurves> out;
  for (const std::string& device : devices) {
    DeviceCurves curves{device, {}, {}, 0, {}};
    std::vector<Series> power;
    std::vector<Series> energy;
    for (const CurveRun& run : runs) {
      JC_ASSIGN_OR_RETURN(auto one, curves_of(run, device, options, curves.warnings));
      if (!one) {
        ++curves.left_out;
        continue;
      }
      power.push_back(std::move(one->power_w));
      energy.push_back(std::move(one->energy_j));
    }
    if (power.empty()) continue;
    JC_ASSIGN_OR_RETURN(curves.power_w, series::mean_curve(power, options.rate));
    JC_ASSIGN_OR_RETURN(curves.energy_j, series::mean_curve(energy, options.rate));
    series::add(curves.warnings, curves.power_w.warnings);
    out.push_back(std::move(curves));
  }
  if (out.empty()) return not_found("no run has enough readings of power or energy for a curve");
  return out;
}

}  // namespace joulecast
