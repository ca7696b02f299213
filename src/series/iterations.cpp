// SPDX-License-Identifier: Apache-2.0
#include "series/iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "series/channel.h"

namespace joulecast::series {
namespace {

constexpr Seconds kShortestProportional{0.1};
constexpr double kNoisyScatter = 0.1;  // of the mean

Result<void> check_run(std::span<const double> power_w, const TimedRun& run) {
  if (power_w.size() < 2) return invalid("per iteration: fewer than two power readings; measure longer");
  if (!std::all_of(power_w.begin(), power_w.end(), [](double value) { return std::isfinite(value); })) {
    return invalid("per iteration: a power reading is not a number; leave it out");
  }
  if (run.iterations == 0) return invalid("per iteration: no iterations");
  if (!(run.total > Seconds{0}) || !(run.total_deviation >= Seconds{0})) {
    return invalid(
        fmt::format("per iteration: a run of {} s, deviation {} s", run.total.value(), run.total_deviation.value()));
  }
  return {};
}

}  // namespace

Result<PerIteration> per_iteration(std::span<const double> power_w, const TimedRun& run) {
  JC_RETURN_IF_ERROR(check_run(power_w, run));
  const std::optional<Channel> inside = channel(power_w);
  if (!inside || !inside->kept_standard_deviation) return invalid("per iteration: no readings within three deviations");
  const auto n = static_cast<double>(run.iterations);
  PerIteration result;
  result.power = Watts{inside->mean};
  result.power_deviation = Watts{inside->standard_deviation};
  result.kept = inside->kept.size();
  result.dropped = inside->outside.size();
  result.kept_power = Watts{inside->kept_mean};
  result.kept_deviation = Watts{*inside->kept_standard_deviation};
  result.total_energy = result.kept_power * run.total;
  result.total_deviation = result.kept_deviation * run.total;
  result.time = run.total / n;
  result.time_deviation = run.total_deviation / n;
  result.energy = result.total_energy / n;
  result.energy_deviation = result.total_deviation / n;
  const Joules of_power = result.total_deviation / std::sqrt(static_cast<double>(result.kept));
  const Joules of_time = result.kept_power * run.total_deviation;
  result.energy_standard_error = Joules{std::hypot(of_power.value(), of_time.value()) / n};
  result.warnings = inside->warnings;
  if (run.total < kShortestProportional) add(result.warnings, Warning::kShortWindow);
  if (result.kept_deviation > kNoisyScatter * result.kept_power) add(result.warnings, Warning::kNoisy);
  return result;
}

}  // namespace joulecast::series
