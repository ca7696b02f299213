// SPDX-License-Identifier: Apache-2.0
#include "analysis/channel_series.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "series/energy.h"
#include "series/sampling.h"

namespace joulecast {
namespace {

using series::Series;

Series as_series(const std::vector<Reading>& readings, double step) {
  Series out;
  out.time_s.reserve(readings.size());
  out.value.reserve(readings.size());
  for (const Reading& reading : readings) {
    out.time_s.push_back(seconds_of(reading.time));
    out.value.push_back(static_cast<double>(reading.value) * step);
  }
  return out;
}

// Counted on over wraps, up to the first fall that cannot be one.
ChannelSeries unwrapped(const std::vector<Reading>& readings) {
  constexpr std::int64_t kMicrojoulesOfMillijoule = 1000;
  ChannelSeries out;
  double total = 0;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (i > 0 && readings[i].value >= readings[i - 1].value) {
      total += static_cast<double>(readings[i].value - readings[i - 1].value) * info(Signal::kEnergy).step;
    } else if (i > 0) {
      const auto counted = [&](const Reading& reading) {
        return series::CounterReading{seconds_of(reading.time),
                                      static_cast<std::uint64_t>(reading.value / kMicrojoulesOfMillijoule)};
      };
      const std::array pair{counted(readings[i - 1]), counted(readings[i])};
      const auto energy = series::counter_energy(pair);
      out.doubt = energy ? "the energy counter wrapped, and was counted on" : energy.error().text();
      if (!energy) return out;
      total += energy->value.value();
    }
    out.series.time_s.push_back(seconds_of(readings[i].time));
    out.series.value.push_back(total);
  }
  return out;
}

Series steps_of(const Series& counter) {
  auto changes = series::changes(counter);
  if (!changes || changes->time_s.size() < 2) return {};
  // Read more seldom than it steps, it is new at each reading, the first one too.
  constexpr double kNearlyAll = 0.9;
  if (static_cast<double>(changes->time_s.size()) >= kNearlyAll * static_cast<double>(counter.time_s.size()))
    return *std::move(changes);
  // Else nobody knows when the first value came up.
  changes->time_s.erase(changes->time_s.begin());
  changes->value.erase(changes->value.begin());
  return *std::move(changes);
}

}  // namespace

ChannelSeries series_of(const Recording& recording, std::size_t channel) {
  const Signal signal = recording.channels[channel].signal;
  if (signal != Signal::kEnergy) return {as_series(recording.readings[channel], info(signal).step), {}};
  ChannelSeries counter = unwrapped(recording.readings[channel]);
  return {steps_of(counter.series), std::move(counter.doubt)};
}

Series power_of_counter(const Series& steps) {
  Series out;
  for (std::size_t i = 1; i < steps.time_s.size(); ++i) {
    out.time_s.push_back(steps.time_s[i]);
    out.value.push_back((steps.value[i] - steps.value[i - 1]) / (steps.time_s[i] - steps.time_s[i - 1]));
  }
  return out;
}

Series power_series(const Recording& recording, std::size_t channel) {
  Series own = series_of(recording, channel).series;
  return recording.channels[channel].signal == Signal::kEnergy ? power_of_counter(own) : own;
}

bool tells_energy(const Channel& channel) {
  return channel.signal == Signal::kEnergy || channel.signal == Signal::kPower;
}

int source_rank(const Channel& channel) {
  constexpr std::array<std::string_view, 10> kOrder{
      "nvml-buffer",      "gpyjoules-buffer",      "nvml-instant", "smi-instant",  "nvml-module-instant",
      "nvml-power-usage", "gpyjoules-power-usage", "smi-power",    "nvml-average", "smi-average"};
  if (channel.signal == Signal::kEnergy) return 0;
  const auto at = std::find(kOrder.begin(), kOrder.end(), channel.source);
  return static_cast<int>(at - kOrder.begin()) + 1;
}

std::optional<std::size_t> power_channel(const Recording& recording, const std::string& device,
                                         const std::string& source) {
  constexpr int kLast = 1000;
  std::optional<std::size_t> best;
  int least = 0;
  for (std::size_t i = 0; i < recording.channels.size(); ++i) {
    const Channel& channel = recording.channels[i];
    const bool other = channel.device != device || !tells_energy(channel) || recording.readings[i].size() < 2;
    if (other || (!source.empty() && channel.source != source)) continue;
    const int rank = channel.signal == Signal::kEnergy ? kLast : source_rank(channel);
    if (best && rank >= least) continue;
    best = i;
    least = rank;
  }
  return best;
}

}  // namespace joulecast
