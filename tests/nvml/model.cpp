// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <cmath>

namespace joulecast::nvml {
namespace {

constexpr double seconds(Nanoseconds time) {
  return static_cast<double>(time) * 1e-9;
}

// The largest multiple of `period`, shifted by `phase`, that is not after `at`.
Nanoseconds grid_before(Nanoseconds at, Nanoseconds period, Nanoseconds phase) {
  const Nanoseconds shifted = at - phase;
  Nanoseconds count = shifted / period;
  if (shifted % period < 0) --count;
  return count * period + phase;
}

// The highest of `clocks` (highest first) not above `limit`; the lowest if all are.
std::uint32_t clock_below(const std::vector<std::uint32_t>& clocks, double limit) {
  const auto found =
      std::find_if(clocks.begin(), clocks.end(), [&](std::uint32_t clock) { return clock <= limit + 1e-6; });
  return found == clocks.end() ? clocks.back() : *found;
}

}  // namespace

void GpuModel::forget() {
  history_.assign(1, Since{});
  summed_to_ = 0;
  summed_j_ = 0;
}

void GpuModel::apply(const Change& change) {
  Since next = history_.back();
  next.at = change.at;
  switch (change.setting) {
    case Setting::kPowerLimit:
      next.settings.limit_mw = change.value ? std::optional(change.value->first) : std::nullopt;
      break;
    case Setting::kSmLock:
      next.settings.sm_lock_mhz = change.value;
      break;
    case Setting::kMemoryLock:
      next.settings.memory_lock_mhz = change.value;
      break;
    case Setting::kApplicationClocks:
      next.settings.application_mhz = change.value;
      break;
  }
  history_.push_back(next);
}

const Settings& GpuModel::settings_ref(Nanoseconds at) const {
  const auto after = std::upper_bound(history_.begin() + 1, history_.end(), at,
                                      [](Nanoseconds time, const Since& since) { return time < since.at; });
  return std::prev(after)->settings;
}

Settings GpuModel::settings(Nanoseconds at) const {
  return settings_ref(at);
}

std::uint32_t GpuModel::requested_limit_mw(Nanoseconds at) const {
  return settings_ref(at).limit_mw.value_or(spec_->default_limit_mw);
}

std::uint32_t GpuModel::enforced_limit_mw(Nanoseconds at) const {
  std::uint32_t limit = requested_limit_mw(at);
  std::optional<std::uint32_t> other;
  for (const OutOfBandLimit& entry : spec_->out_of_band) {
    if (entry.at <= at) other = entry.limit_mw;
  }
  return std::min(limit, other.value_or(limit));
}

std::uint32_t GpuModel::memory_clock_mhz(Nanoseconds at) const {
  const Settings& set = settings_ref(at);
  const auto& clocks = spec_->memory_clocks_mhz;
  if (set.memory_lock_mhz) return clock_below(clocks, set.memory_lock_mhz->second);
  return set.application_mhz ? set.application_mhz->first : clocks.front();
}

// Power above idle goes with the cube of the SM clock (frequency times voltage squared). Locked or application clocks
// lower the clock and with it what is drawn; the limit then takes the power, and the clock is what that power allows.
Condition GpuModel::condition(Nanoseconds at) const {
  const auto& clocks = spec_->sm_clocks_mhz;
  const Settings& set = settings_ref(at);
  const double top = clocks.front();
  const double demand = demand_w(at);
  Condition out;
  out.idle = demand <= spec_->idle_w;
  if (out.idle) {
    out.power_w = demand;
    out.sm_clock_mhz = set.sm_lock_mhz ? clock_below(clocks, set.sm_lock_mhz->first) : clocks.back();
    return out;
  }
  double clock = top;
  if (set.application_mhz) clock = std::min<double>(clock, set.application_mhz->second);
  if (set.sm_lock_mhz) clock = clock_below(clocks, set.sm_lock_mhz->second);  // it supersedes application clocks
  out.clocks_bound = clock < top;
  const double dynamic = demand - spec_->idle_w;
  out.power_w = spec_->idle_w + dynamic * std::pow(clock / top, 3);
  const double limit = std::max(enforced_limit_mw(at) * 1e-3, spec_->idle_w);
  if (out.power_w > limit) {
    out.capped = true;
    out.power_w = limit;
    clock = top * std::cbrt((limit - spec_->idle_w) / dynamic);
  }
  out.sm_clock_mhz = clock_below(clocks, clock);
  return out;
}

double GpuModel::demand_w(Nanoseconds at) const {
  const Load& load = spec_->load;
  const Nanoseconds within = load.period > 0 ? at - grid_before(at, load.period, 0) : at;
  const auto after = std::upper_bound(load.steps.begin() + 1, load.steps.end(), within,
                                      [](Nanoseconds time, const LoadStep& step) { return time < step.at; });
  return std::prev(after)->power_w;
}

Nanoseconds GpuModel::next_load_edge(Nanoseconds at) const {
  const Load& load = spec_->load;
  const Nanoseconds start = load.period > 0 ? grid_before(at, load.period, 0) : 0;
  const auto after = std::upper_bound(load.steps.begin(), load.steps.end(), at - start,
                                      [](Nanoseconds time, const LoadStep& step) { return time < step.at; });
  if (after != load.steps.end()) return start + after->at;
  return load.period > 0 ? start + load.period : kForever;
}

Nanoseconds GpuModel::next_edge(Nanoseconds at) const {
  Nanoseconds next = next_load_edge(at);
  const auto change = std::upper_bound(history_.begin() + 1, history_.end(), at,
                                       [](Nanoseconds time, const Since& since) { return time < since.at; });
  if (change != history_.end()) next = std::min(next, change->at);
  for (const OutOfBandLimit& entry : spec_->out_of_band) {
    if (entry.at > at) next = std::min(next, entry.at);
  }
  return next;
}

double GpuModel::energy_j(Nanoseconds from, Nanoseconds to) const {
  double sum = 0;
  for (Nanoseconds at = from; at < to;) {
    const Nanoseconds next = std::min(next_edge(at), to);
    sum += condition(at).power_w * seconds(next - at);
    at = next;
  }
  return sum;
}

double GpuModel::mean_w(Nanoseconds from, Nanoseconds to) const {
  return energy_j(from, to) / seconds(to - from);
}

Nanoseconds GpuModel::last_update(Nanoseconds at) const {
  return grid_before(at, spec_->sensor.update, spec_->sensor.phase);
}

double GpuModel::reading(double power_w) const {
  return std::max(0.0, spec_->sensor.gain * power_w + spec_->sensor.offset_w);
}

// Ten time constants back the start no longer matters (5e-5 of it is left).
double GpuModel::rc_w(Nanoseconds at) const {
  const Nanoseconds rise = spec_->sensor.rise;
  Nanoseconds time = at - 10 * rise;
  double shown = condition(time).power_w;
  while (time < at) {
    const Nanoseconds next = std::min(next_edge(time), at);
    const double power = condition(time).power_w;
    shown = power + (shown - power) * std::exp(-seconds(next - time) / seconds(rise));
    time = next;
  }
  return shown;
}

double GpuModel::instant_w(Nanoseconds at) const {
  const Nanoseconds update = last_update(at);
  if (spec_->sensor.rise > 0) return reading(rc_w(update));
  return reading(mean_w(update - spec_->sensor.window, update));
}

double GpuModel::average_w(Nanoseconds at) const {
  const Nanoseconds update = last_update(at);
  return reading(mean_w(update - kSecond, update));
}

double GpuModel::legacy_w(Nanoseconds at) const {
  return spec_->sensor.legacy_is_average ? average_w(at) : instant_w(at);
}

std::uint64_t GpuModel::counter_mj(Nanoseconds at) const {
  const Counter& counter = spec_->counter;
  const Nanoseconds update = std::max<Nanoseconds>(grid_before(at, counter.update, spec_->sensor.phase), 0);
  if (update > summed_to_) {
    summed_j_ += energy_j(summed_to_, update);
    summed_to_ = update;
  }
  const double total_j = spec_->sensor.gain * summed_j_ + spec_->sensor.offset_w * seconds(update);
  const std::uint64_t value = counter.start_mj + static_cast<std::uint64_t>(std::max(0.0, total_j) * 1e3);
  return counter.bits >= 64 ? value : value & ((std::uint64_t{1} << counter.bits) - 1);
}

}  // namespace joulecast::nvml
