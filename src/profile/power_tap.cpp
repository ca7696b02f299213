// SPDX-License-Identifier: Apache-2.0
#include "profile/power_tap.h"

#include <algorithm>
#include <utility>

#include "analysis/account.h"
#include "analysis/channel_series.h"

namespace joulecast::profile {

PowerTap::PowerTap(std::vector<Channel> channels, nlohmann::json head, std::string device)
    : device_(std::move(device)) {
  recent_.head = std::move(head);
  recent_.readings.resize(channels.size());
  recent_.channels = std::move(channels);
}

void PowerTap::add(std::size_t channel, const Reading& reading) {
  const std::lock_guard lock(mutex_);
  recent_.readings[channel].push_back(reading);
}

void PowerTap::begin() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < recent_.readings.size(); ++i) {
    // One stays: a state that does not change is read seldom, and a counter needs where it stood.
    auto& readings = recent_.readings[i];
    if (readings.size() > 1) readings.erase(readings.begin(), readings.end() - 1);
  }
}

bool PowerTap::reaches(MonotonicUs time) const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < recent_.channels.size(); ++i) {
    const bool counts = recent_.channels[i].device == device_ && tells_energy(recent_.channels[i]);
    if (counts && (recent_.readings[i].empty() || recent_.readings[i].back().time < time)) return false;
  }
  return true;
}

PowerFinding PowerTap::finding(const CaseTiming& timing) const {
  const std::lock_guard lock(mutex_);
  PowerFinding out;
  const auto& channels = recent_.channels;
  const bool any = std::any_of(channels.begin(), channels.end(), [&](const Channel& channel) {
    return channel.device == device_ && tells_energy(channel);
  });
  if (!any) return out;
  const MonotonicUs begin = timing.windows.front().begin_us, end = timing.windows.back().end_us;
  const DeviceAccount account = Accountant(recent_).account(device_, begin, end);
  out.doubts = account.doubts;
  if (account.energy.empty() || account.energy.front().coverage < kLeastCoverage) return out;
  const SourceEnergy& best = account.energy.front();
  const double span = seconds_of(end - begin);
  const double power = best.energy.value() / span, error = best.standard_error.value() / span;
  out.power = CasePower{power, error, power * timing.mean_s, error * timing.mean_s, best.source};
  return out;
}

}  // namespace joulecast::profile
