// SPDX-License-Identifier: Apache-2.0
#include "profile/power_tap.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/account.h"
#include "analysis/channel_series.h"
#include "analysis/event_reasons.h"
#include "analysis/steady.h"
#include "measure/recorded_settings.h"

namespace joulecast::profile {
namespace {

struct Settled {
  DeviceAccount account;
  double seconds = 0, cut_s = 0;
};

// Start-up alone is cut: nothing ends before the last window does.
Settled settled_part(const Recording& recording, const std::string& device, const Phase& whole) {
  const Accountant accountant(recording);
  if (auto steady = steady_run(recording, accountant, device, whole, std::nullopt);
      steady && steady->cut_head_s > 0 && steady->cut_tail_s == 0) {
    return {std::move(steady->account), steady->seconds(), steady->cut_head_s};
  }
  return {accountant.account(device, whole.begin, whole.end), whole.seconds(), 0};
}

}  // namespace

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

void PowerTap::begin(MonotonicUs now) {
  const std::lock_guard lock(mutex_);
  begun_ = now;
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

std::optional<SensorSpan> PowerTap::span() const {
  const std::lock_guard lock(mutex_);
  return span_for_power(recent_, device_);
}

std::string PowerTap::not_held(const CaseTiming& timing, const GpuSettings& wanted) const {
  Recording since;
  {
    const std::lock_guard lock(mutex_);
    since.channels = recent_.channels;
    for (const std::vector<Reading>& readings : recent_.readings) {
      const auto first = std::find_if(readings.begin(), readings.end(),
                                      [&](const Reading& reading) { return reading.time >= begun_; });
      since.readings.emplace_back(first, readings.end());
    }
  }
  since.events = {{timing.windows.front().begin_us, EventKind::kBegin, kRecorderTrack, "command", {}},
                  {timing.windows.back().end_us, EventKind::kEnd, kRecorderTrack, "command", {}}};
  return not_held_in(since, wanted);
}

PowerFinding PowerTap::finding(const CaseTiming& timing) const {
  const std::lock_guard lock(mutex_);
  PowerFinding out;
  const auto& channels = recent_.channels;
  const bool any = std::any_of(channels.begin(), channels.end(), [&](const Channel& channel) {
    return channel.device == device_ && tells_energy(channel);
  });
  if (!any) return out;
  const Phase whole{"windows", "", kRecorderTrack, timing.windows.front().begin_us, timing.windows.back().end_us};
  const Settled settled = settled_part(recent_, device_, whole);
  const DeviceAccount& account = settled.account;
  out.doubts = account.doubts;
  if (account.event_reasons) out.slowed_by = reasons_text(*account.event_reasons);
  if (settled.cut_s > 0) {
    out.doubts.push_back(fmt::format("power had not settled: its first {:.1f} s are left out", settled.cut_s));
  }
  if (account.energy.empty() || account.energy.front().coverage < kLeastCoverage) return out;
  const SourceEnergy& best = account.energy.front();
  const double power = best.energy.value() / settled.seconds, error = best.standard_error.value() / settled.seconds;
  out.power = CasePower{power, error, power * timing.mean_s, error * timing.mean_s, best.source};
  return out;
}

}  // namespace joulecast::profile
