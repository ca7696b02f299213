// SPDX-License-Identifier: Apache-2.0
#include "analysis/baseline.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/summary.h"
#include "series/moments.h"

namespace joulecast {
namespace {

// Mean of its readings in that time, 1 is all of it; absent without any.
std::optional<double> utilization_in(const Recording& recording, const std::string& device, const Phase& phase) {
  std::vector<double> values;
  for (std::size_t i = 0; i < recording.channels.size(); ++i) {
    const Channel& channel = recording.channels[i];
    if (channel.device != device || channel.signal != Signal::kUtilization) continue;
    for (const Reading& reading : recording.readings[i]) {
      if (reading.time < phase.begin || reading.time > phase.end) continue;
      values.push_back(static_cast<double>(reading.value) * info(channel.signal).step);
    }
  }
  return series::mean(values);
}

Phase part_of(const Phase& phase, MonotonicUs begin, MonotonicUs end) {
  Phase out = phase;
  out.begin = begin;
  out.end = end;
  return out;
}

}  // namespace

std::optional<IdlePower> power_in(const Accountant& accountant, const std::string& device, const Phase& baseline) {
  const auto energy = answer(accountant.account(device, baseline.begin, baseline.end));
  if (!energy) return std::nullopt;
  return IdlePower{energy->energy.value() / baseline.seconds(), energy->standard_error.value() / baseline.seconds()};
}

std::vector<std::string> baseline_doubts(const Recording& recording, const Accountant& accountant,
                                         const std::string& device, const Phase& baseline) {
  constexpr double kBusy = 0.05, kMostChange = 0.1, kSure = 3;
  std::vector<std::string> out;
  if (const auto busy = utilization_in(recording, device, baseline); busy && *busy > kBusy) {
    out.push_back(
        fmt::format("was {:.0f} % busy in the baseline: its idle power is too high, and what is above idle too little",
                    *busy * 100));
  }
  const MonotonicUs middle = baseline.begin + (baseline.end - baseline.begin) / 2;
  const auto first = power_in(accountant, device, part_of(baseline, baseline.begin, middle));
  const auto second = power_in(accountant, device, part_of(baseline, middle, baseline.end));
  if (!first || !second) return out;
  const double change = std::abs(second->watts - first->watts);
  if (change > kMostChange * second->watts && change > kSure * std::hypot(first->error_w, second->error_w)) {
    out.push_back(fmt::format(
        "drew {:.0f} W in the first half of the baseline and {:.0f} W in the second: it was not idle yet, or no more",
        first->watts, second->watts));
  }
  return out;
}

}  // namespace joulecast
