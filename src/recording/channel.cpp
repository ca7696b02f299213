// SPDX-License-Identifier: Apache-2.0
#include "recording/channel.h"

#include <array>

namespace joulecast {
namespace {

// In the order of Signal.
constexpr std::array kSignals{
    SignalInfo{"power_w", "W", 1e-3},
    SignalInfo{"energy_j", "J", 1e-6},
    SignalInfo{"sm_clock_hz", "Hz", 1.0},
    SignalInfo{"memory_clock_hz", "Hz", 1.0},
    SignalInfo{"app_sm_clock_hz", "Hz", 1.0},
    SignalInfo{"app_memory_clock_hz", "Hz", 1.0},
    SignalInfo{"temperature_c", "°C", 1e-3},
    SignalInfo{"utilization_ratio", "", 1e-4},
    SignalInfo{"memory_utilization_ratio", "", 1e-4},
    SignalInfo{"memory_used_bytes", "B", 1.0},
    SignalInfo{"power_limit_w", "W", 1e-3},
    SignalInfo{"requested_power_limit_w", "W", 1e-3},
    SignalInfo{"event_reasons", "", 1.0},
    SignalInfo{"performance_state", "", 1.0},
    SignalInfo{"pcie_sent_bytes_per_s", "B/s", 1.0},
    SignalInfo{"pcie_received_bytes_per_s", "B/s", 1.0},
};
static_assert(kSignals.size() == static_cast<std::size_t>(Signal::kPcieReceived) + 1);

// In the order of Absence.
constexpr std::array<std::string_view, 7> kAbsences{"unsupported", "no-permission", "device-lost", "timeout",
                                                    "implausible", "lost",          "error"};

}  // namespace

const SignalInfo& info(Signal signal) {
  return kSignals[static_cast<std::size_t>(signal)];
}

std::optional<Signal> signal_of_key(std::string_view key) {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i].key == key) return static_cast<Signal>(i);
  }
  return std::nullopt;
}

bool names_a_gpu(std::string_view device) {
  constexpr std::size_t kPrefix = 3;
  return (device.starts_with("gpu") || device.starts_with("amd")) && device.size() > kPrefix &&
         device.find_first_not_of("0123456789", kPrefix) == std::string_view::npos;
}

std::string_view name(Absence absence) {
  return kAbsences[static_cast<std::size_t>(absence)];
}

std::optional<Absence> absence_of_name(std::string_view text) {
  for (std::size_t i = 0; i < kAbsences.size(); ++i) {
    if (kAbsences[i] == text) return static_cast<Absence>(i);
  }
  return std::nullopt;
}

}  // namespace joulecast
