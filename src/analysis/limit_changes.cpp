// SPDX-License-Identifier: Apache-2.0
#include "analysis/limit_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/channel_series.h"

namespace joulecast {
namespace {

struct Level {
  double watts = 0;
  MonotonicUs from = 0;
};

bool same(const Level& a, const Level& b) {
  return std::abs(a.watts - b.watts) <= kLimitSlackW;
}

// One after the other, none like the one before it.
std::vector<Level> levels_of(const std::vector<Reading>& limits) {
  std::vector<Level> out;
  for (const Reading& reading : limits) {
    const Level level{static_cast<double>(reading.value) * info(Signal::kPowerLimit).step, reading.time};
    if (out.empty() || !same(out.back(), level)) out.push_back(level);
  }
  return out;
}

// Empty where nothing changed.
std::string change_in(const std::vector<Reading>& limits, MonotonicUs begin) {
  constexpr std::size_t kMostTold = 5;
  const std::vector<Level> levels = levels_of(limits);
  if (levels.size() < 2) return {};
  std::string told = fmt::format("{:g} W, then ", levels.front().watts);
  const std::size_t last = std::min(levels.size(), kMostTold);
  for (std::size_t i = 1; i < last; ++i) {
    const auto before = levels.begin() + static_cast<std::ptrdiff_t>(i);
    const bool again = std::any_of(levels.begin(), before, [&](const Level& one) { return same(one, levels[i]); });
    told += fmt::format("{}{:g} W {}from {:.2f} s", i == 1 ? "" : ", ", levels[i].watts, again ? "again " : "",
                        seconds_of(levels[i].from - begin));
  }
  told += levels.size() > last ? fmt::format(" and {} changes more", levels.size() - last) : " on";
  return fmt::format("its power limit did not stay: {}; something else sets it", told);
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
