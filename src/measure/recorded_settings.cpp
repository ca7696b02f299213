// SPDX-License-Identifier: Apache-2.0
#include "measure/recorded_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/channel_series.h"
#include "analysis/limit_changes.h"
#include "analysis/phases.h"
#include "analysis/summary.h"

namespace joulecast {
namespace {

constexpr double kWatts = 1e-3;  // of milliwatts
constexpr double kMegahertz = 1e-6;
constexpr double kClockStepMhz = 15;  // that much more is rounding

std::string against_limit(const Channel& channel, const Reading& reading, double wanted_w) {
  const double watts = static_cast<double>(reading.value) * info(channel.signal).step;
  if (std::abs(watts - wanted_w) <= kLimitSlackW) return {};
  return fmt::format("{}: {:g} W is asked for, but {:g} W was enforced", channel.device, wanted_w, watts);
}

std::string against_lock(const Channel& channel, const Reading& reading, const ClockRange& lock) {
  const double mhz = static_cast<double>(reading.value) * info(channel.signal).step * kMegahertz;
  if (mhz <= lock.high_mhz + kClockStepMhz) return {};
  return fmt::format("{}: its {} clock was up to {:.0f} MHz, locked to {} MHz", channel.device,
                     channel.signal == Signal::kSmClock ? "SM" : "memory", mhz, lock.high_mhz);
}

std::string against_application(const Channel& channel, const Reading& reading, double wanted_mhz) {
  const double mhz = static_cast<double>(reading.value) * info(channel.signal).step * kMegahertz;
  if (std::abs(mhz - wanted_mhz) <= kClockStepMhz) return {};
  return fmt::format("{}: its application clock is to be {:.0f} MHz, and was {:.0f} MHz", channel.device, wanted_mhz,
                     mhz);
}

std::string against(const Channel& channel, const Reading& reading, const GpuSettings& wanted) {
  if (channel.signal == Signal::kPowerLimit && wanted.power_limit_mw)
    return against_limit(channel, reading, *wanted.power_limit_mw * kWatts);
  if (channel.signal == Signal::kSmClock && wanted.sm_lock) return against_lock(channel, reading, *wanted.sm_lock);
  if (channel.signal == Signal::kMemoryClock && wanted.memory_lock)
    return against_lock(channel, reading, *wanted.memory_lock);
  if (channel.signal == Signal::kAppSmClock && wanted.application)
    return against_application(channel, reading, wanted.application->sm_mhz);
  if (channel.signal == Signal::kAppMemoryClock && wanted.application)
    return against_application(channel, reading, wanted.application->memory_mhz);
  return {};
}

}  // namespace

std::string not_held_in(const Recording& recording, const GpuSettings& wanted) {
  if (wanted.empty()) return {};
  const auto commands = own_phases(phases_of(recording).phases, "command");
  for (std::size_t i = 0; i < recording.channels.size(); ++i) {
    const Channel& channel = recording.channels[i];
    if (!names_a_gpu(channel.device)) continue;
    for (const Phase& command : commands) {
      for (const Reading& reading : in_force(recording.readings[i], command.begin, command.end)) {
        std::string why = against(channel, reading, wanted);
        if (why.empty()) continue;
        if (reading.time > command.begin)
          why += fmt::format(" {:.1f} s after its begin", seconds_of(reading.time - command.begin));
        return why;
      }
    }
  }
  return {};
}

}  // namespace joulecast
