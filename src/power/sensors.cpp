// SPDX-License-Identifier: Apache-2.0
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime

#include <array>
#include <iterator>
#include <utility>

#include "power/amdgpu.h"
#include "power/hwmon.h"
#include "power/meter_command.h"
#include "power/nvml.h"
#include "power/rapl.h"
#include "power/replay.h"
#include "power/sensor.h"

namespace joulecast {
namespace {

// One family of sensors a line.
using Finder = Result<Found> (*)(const SensorOptions&);
constexpr std::array<Finder, 5> kFinders{find_nvml, find_amdgpu, find_rapl, find_hwmon, find_meter_commands};

std::int64_t microseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  constexpr std::int64_t kOfSecond = 1'000'000;
  constexpr std::int64_t kNanoseconds = 1000;
  return now.tv_sec * kOfSecond + now.tv_nsec / kNanoseconds;
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Result<Found> find_sensors(const SensorOptions& options) {
  if (options.replay) return find_replay(options);
  Found all;
  for (const Finder find : kFinders) {
    JC_ASSIGN_OR_RETURN(Found found, find(options));
    append(all.sensors, std::move(found.sensors));
    append(all.devices, std::move(found.devices));
    append(all.missing, std::move(found.missing));
    append(all.doubts, std::move(found.doubts));
    if (all.choice.empty()) all.choice = std::move(found.choice);
  }
  return all;
}

MonotonicUs monotonic_now() {
  return microseconds(CLOCK_MONOTONIC);
}

std::int64_t utc_now() {
  return microseconds(CLOCK_REALTIME);
}

}  // namespace joulecast
