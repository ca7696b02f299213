// SPDX-License-Identifier: Apache-2.0
#include "recording/import/implausible.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace joulecast {
namespace {

// Readings of a few milliseconds go above the limit in force, and have it behind them where it was just lowered.
constexpr std::int64_t kMostTimesLimit = 2;
// Of a GPU whose limit is not in the log: twice the highest there is.
constexpr std::int64_t kMostMilliwatts = 3'000'000;
constexpr std::int64_t kMilliwattsOfWatt = 1000;

std::int64_t most_of(const Recording& run, const std::string& device) {
  std::int64_t limit = 0;
  for (std::size_t i = 0; i < run.channels.size(); ++i) {
    if (run.channels[i].device != device || run.channels[i].signal != Signal::kPowerLimit) continue;
    for (const Reading& reading : run.readings[i]) limit = std::max(limit, reading.value);
  }
  return limit > 0 ? std::min(kMostTimesLimit * limit, kMostMilliwatts) : kMostMilliwatts;
}

// What is wrong with it; nothing with a reading.
using Fault = std::optional<std::string>;

Fault fault_of(const Reading& reading, Signal signal, std::int64_t most) {
  const char* unit = signal == Signal::kPower ? "W" : "J";
  if (reading.value <= 0) return fmt::format("the log says 0 {} or less, which is no reading of a GPU", unit);
  if (signal == Signal::kPower && reading.value > most) {
    return fmt::format("the log says more than {} W, which this GPU cannot draw", most / kMilliwattsOfWatt);
  }
  return std::nullopt;
}

// Takes the faulty readings out; gives how many.
std::size_t set_apart(Recording& run, std::uint32_t channel, std::int64_t most) {
  const Signal signal = run.channels[channel].signal;
  std::vector<Reading> kept;
  Fault before;
  std::size_t count = 0;
  for (const Reading& reading : run.readings[channel]) {
    Fault fault = fault_of(reading, signal, most);
    if (!fault) {
      kept.push_back(reading);
    } else if (++count; fault == before) {
      ++run.absences.back().count;
    } else {
      run.absences.push_back({reading.time, channel, Absence::kImplausible, 1, *fault});
    }
    before = std::move(fault);
  }
  run.readings[channel] = std::move(kept);
  return count;
}

}  // namespace

void set_implausible_apart(Recording& run) {
  for (std::uint32_t i = 0; i < run.channels.size(); ++i) {
    const Channel& channel = run.channels[i];
    const bool told = channel.signal == Signal::kPower || channel.signal == Signal::kEnergy;
    if (!told || !names_a_gpu(channel.device)) continue;
    const std::size_t all = run.readings[i].size();
    const std::size_t count = set_apart(run, i, most_of(run, channel.device));
    if (count == 0) continue;
    run.notes.push_back(fmt::format("{} {}: {} of {} values are no {} of a GPU and were left out, as if never read",
                                    channel.device, channel.source, count, all,
                                    channel.signal == Signal::kPower ? "power" : "energy"));
  }
}

}  // namespace joulecast
