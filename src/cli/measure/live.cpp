// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/live.h"

#include <algorithm>

namespace joulecast::cli {
namespace {

std::optional<double>* place_of(LiveDevice& device, Signal signal) {
  switch (signal) {
    case Signal::kSmClock:
      return &device.sm_clock_hz;
    case Signal::kMemoryClock:
      return &device.memory_clock_hz;
    case Signal::kTemperature:
      return &device.temperature_c;
    case Signal::kUtilization:
      return &device.utilization_ratio;
    case Signal::kMemoryUsed:
      return &device.memory_used_bytes;
    case Signal::kPowerLimit:
      return &device.power_limit_w;
    default:
      return nullptr;
  }
}

}  // namespace

void Live::add(LiveDevice& device, const Channel& channel, const Reading& reading) {
  const double value = static_cast<double>(reading.value) * info(channel.signal).step;
  Progress& progress = progress_[device.device];
  if (channel.signal == Signal::kEnergy) {
    if (!progress.counter) progress.counter = reading;
    device.energy_j = static_cast<double>(reading.value - progress.counter->value) * info(Signal::kEnergy).step;
  } else if (channel.signal == Signal::kEventReasons) {
    device.event_reasons = static_cast<std::uint64_t>(reading.value);
  } else if (channel.signal == Signal::kPower && !device.power_w) {
    if (progress.power) {
      progress.integrated_j += value * static_cast<double>(reading.time - progress.power->time) * 1e-6;
    }
    progress.power = reading;
    device.power_w = value;
  } else if (auto* place = place_of(device, channel.signal); place != nullptr && !*place) {
    *place = value;
  }
}

// What a device said before it fell silent, or off the bus, is not what it does now.
bool Live::answers(const std::string& device, const Known& known) const {
  constexpr MonotonicUs kSilent = 3'000'000;
  const MonotonicUs since = monotonic_now() - kSilent;
  bool heard = false;
  for (std::size_t i = 0; i < known.newest.size(); ++i) {
    if (recorder_.channels()[i].device != device) continue;
    if (known.failing[i] == Absence::kDeviceLost) return false;
    heard = heard || (known.newest[i] && known.newest[i]->time >= since);
  }
  return heard;
}

std::vector<LiveDevice> Live::look() {
  std::vector<LiveDevice> out;
  const Known known{recorder_.newest(), recorder_.failing()};
  for (std::size_t i = 0; i < known.newest.size(); ++i) {
    const Channel& channel = recorder_.channels()[i];
    const auto& newest = known.newest[i];
    auto at = std::find_if(out.begin(), out.end(), [&](const LiveDevice& one) { return one.device == channel.device; });
    if (at == out.end()) at = out.insert(out.end(), LiveDevice{channel.device, {}, {}, {}, {}, {}, {}, {}, {}, {}});
    if (newest && !answers(channel.device, known)) at->silent = true;
    const bool live = !at->silent && !known.failing[i];
    if (newest && (live || channel.signal == Signal::kEnergy)) add(*at, channel, *newest);
  }
  for (LiveDevice& device : out) {
    const Progress& progress = progress_[device.device];
    if (!device.energy_j && progress.power) device.energy_j = progress.integrated_j;
  }
  return out;
}

}  // namespace joulecast::cli
