// SPDX-License-Identifier: Apache-2.0
// What a reading is of, and where it comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/result.h"

namespace joulecast {

// What is read. Readings are whole numbers of `kSignals[q].step` SI units, so that nothing is lost on the way from
// the driver to the file, and equal neighbours cost next to nothing there.
enum class Signal : std::uint8_t {
  kPower,
  kEnergy,  // a counter that only grows; what it started at means nothing
  kSmClock,
  kMemoryClock,
  kAppSmClock,
  kAppMemoryClock,
  kTemperature,
  kUtilization,
  kMemoryUtilization,
  kMemoryUsed,
  kPowerLimit,      // in force, whoever set it
  kRequestedLimit,  // asked for through the driver; differs from kPowerLimit where something else caps
  kEventReasons,    // bits of NVML's clock event (throttle) reasons
  kPerformanceState,
  kPcieSent,
  kPcieReceived,
};

struct SignalInfo {
  std::string_view key;   // in files and options, ends in the unit
  std::string_view unit;  // for people
  double step;            // SI units of 1
};
// Requires: one of the enumerators.
const SignalInfo& info(Signal signal);
std::optional<Signal> signal_of_key(std::string_view key);

// How a reading of power came about; decides what may be done with it (knowledge of chips: series/sensor_class.h).
//
// One stream of readings: one signal of one device from one source.
struct Channel {
  std::string device;  // "gpu0", "cpu0", "cpu0-dram", "meter": unique in a recording; `devices` of its head says more
  Signal signal = Signal::kPower;
  std::string source;  // "nvml-counter", "nvml-instant", "rapl", ...: named by the sensor that reads it
  // Of how long before a reading it is the mean; absent where nobody knows, 0 for counters and states.
  std::optional<double> window_s;

  bool operator==(const Channel&) const = default;
};

// "gpu0" and "amd12" are GPUs; "gpu0-rail" is a meter beside one.
bool names_a_gpu(std::string_view device);

// The time of a reading: microseconds of CLOCK_MONOTONIC. A recording has the pairs that turn it into UTC.
using MonotonicUs = std::int64_t;

struct Reading {
  MonotonicUs time = 0;
  std::int64_t value = 0;  // in steps of the channel's signal

  bool operator==(const Reading&) const = default;
};

// Why there is no reading. Absent is never zero.
enum class Absence : std::uint8_t {
  kUnsupported,  // this chip or driver has none
  kNoPermission,
  kDeviceLost,
  kTimeout,
  kImplausible,  // a sentinel, or more than the device can draw
  kLost,         // the driver dropped it before we asked
  kError,
};
std::string_view name(Absence absence);
std::optional<Absence> absence_of_name(std::string_view name);

}  // namespace joulecast
