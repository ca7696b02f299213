// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "analysis/account.h"

namespace joulecast {
namespace {

double seconds(MonotonicUs time) {
  return static_cast<double>(time) * 1e-6;
}

// Joules since the first moment of a stretch of a counter or of power.
Result<series::Series> joules_of(series::Series part, Signal signal) {
  if (signal == Signal::kPower) return series::cumulative_energy(part);
  const double first = part.value.front();
  for (double& value : part.value) value -= first;
  return part;
}

}  // namespace

std::optional<series::Series> Accountant::energy_curve(const std::string& device, MonotonicUs begin,
                                                       MonotonicUs end) const {
  const DeviceAccount whole = account(device, begin, end);
  if (whole.energy.empty() || whole.energy.front().coverage < kLeastCoverage) return std::nullopt;
  const SourceEnergy& best = whole.energy.front();
  for (std::size_t i = 0; i < prepared_.size(); ++i) {
    const Channel& channel = recording_.channels[i];
    const bool counter = best.method == series::EnergyMethod::kCounter;
    const bool same = channel.signal == (counter ? Signal::kEnergy : Signal::kPower) && channel.source == best.source;
    const series::Series& own = prepared_[i].series;
    if (channel.device != device || !same || own.time_s.size() < 2) continue;
    const double from = std::max(seconds(begin), own.time_s.front());
    const double to = std::min(seconds(end), own.time_s.back());
    auto part = series::cut(own, Seconds{from}, Seconds{to});
    if (!part) return std::nullopt;
    auto joules = joules_of(*std::move(part), channel.signal);
    if (!joules) return std::nullopt;
    series::Series out = series::relative_time(*std::move(joules), Seconds{seconds(begin)});
    // What the ends lack was as the rest.
    const double before = best.energy.value() * (from - seconds(begin)) / seconds(end - begin);
    for (double& value : out.value) value += before;
    if (out.time_s.front() > 0) {
      out.time_s.insert(out.time_s.begin(), 0);
      out.value.insert(out.value.begin(), 0);
    }
    if (out.time_s.back() < seconds(end - begin)) {
      out.time_s.push_back(seconds(end - begin));
      out.value.push_back(best.energy.value());
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace joulecast
