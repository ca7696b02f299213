// SPDX-License-Identifier: Apache-2.0
#include "analysis/limit_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/channel_series.h"

namespace joulecast {
namespace {

// Empty where nothing changed.
std::string change_in(const std::vector<Reading>& limits, MonotonicUs begin) {
  const double step = info(Signal::kPowerLimit).step;
  for (const Reading& reading : limits) {
    const double before = static_cast<double>(limits.front().value) * step;
    const double now = static_cast<double>(reading.value) * step;
    if (std::abs(now - before) <= kLimitSlackW) continue;
    return fmt::format("its power limit did not stay: {:g} W, then {:g} W from {:.1f} s on; something else sets it",
                       before, now, seconds_of(reading.time - begin));
  }
  return {};
}

}  // namespace

std::vector<Reading> in_force(const std::vector<Reading>& readings, MonotonicUs begin, MonotonicUs end) {
  const auto before = [](MonotonicUs time, const Reading& reading) { return time < reading.time; };
  auto first = std::upper_bound(readings.begin(), readings.end(), begin, before);
  const auto last = std::upper_bound(first, readings.end(), end, before);
  if (first != readings.begin()) --first;
  return {first, last};
}

std::vector<std::string> limit_doubts(const Recording& recording, const std::vector<Phase>& commands) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < recording.channels.size(); ++i) {
    const Channel& channel = recording.channels[i];
    if (channel.signal != Signal::kPowerLimit) continue;
    for (const Phase& command : commands) {
      const std::string change = change_in(in_force(recording.readings[i], command.begin, command.end), command.begin);
      if (change.empty()) continue;
      out.push_back(fmt::format("{}: {}", channel.device, change));
      break;
    }
  }
  return out;
}

}  // namespace joulecast
