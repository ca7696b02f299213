// SPDX-License-Identifier: Apache-2.0
#include "defaults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace joulecast::nvml {
namespace {

bool is_ga100(const GpuSpec& gpu) {
  return gpu.architecture == Architecture::kAmpere &&
         (gpu.name.find("A100") != std::string::npos || gpu.name.find("A800") != std::string::npos);
}

struct Version {
  int major = 0;
  int minor = 0;
};

Version version_of(const std::string& driver) {
  char* end = nullptr;
  const long major = std::strtol(driver.c_str(), &end, 10);
  const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  return {static_cast<int>(major), static_cast<int>(minor)};
}

char class_of(const GpuSpec& gpu) {
  if (gpu.architecture >= Architecture::kHopper || is_ga100(gpu)) return 'A';
  if (gpu.architecture >= Architecture::kTuring) return 'B';
  return gpu.architecture >= Architecture::kPascal ? 'D' : 'E';
}

std::vector<std::uint32_t> default_clocks() {
  std::vector<std::uint32_t> out;
  for (std::uint32_t clock = 1980; clock >= 210; clock -= 15) out.push_back(clock);
  return out;
}

}  // namespace

bool set_sensor_class(Sensor& sensor, char sensor_class) {
  struct Row {
    char name;
    Nanoseconds update, window, rise;
  };
  constexpr Row kRows[] = {
      {'A', 100, 25, 0}, {'B', 100, 100, 0}, {'C', 100, 1000, 0}, {'D', 20, 10, 0}, {'E', 100, 100, 350}};
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == sensor_class; });
  if (row == std::end(kRows)) return false;
  sensor.update = row->update * kMillisecond;
  sensor.window = row->window * kMillisecond;
  sensor.rise = row->rise * kMillisecond;
  return true;
}

void set_sensor_defaults(GpuSpec& gpu, const std::string& driver) {
  const Version version = version_of(driver);
  set_sensor_class(gpu.sensor, class_of(gpu));
  gpu.sensor.has_average = gpu.architecture >= Architecture::kAmpere && !is_ga100(gpu);
  // nvidia-smi 530 showed 100 ms where those before and after it show a mean of one second.
  gpu.sensor.legacy_is_average =
      gpu.sensor.has_average && (version.major != 530 || gpu.architecture >= Architecture::kHopper);
  gpu.sensor.has_fields = version.major > 530 || (version.major == 525 && version.minor >= 105);
  gpu.counter.present = gpu.architecture >= Architecture::kVolta;
  gpu.counter.update = gpu.sensor.update;
}

ComputeCapability compute_capability(const GpuSpec& gpu) {
  switch (gpu.architecture) {
    case Architecture::kKepler:
      return {3, 7};
    case Architecture::kMaxwell:
      return {5, 2};
    case Architecture::kPascal:
      return {6, 0};
    case Architecture::kVolta:
      return {7, 0};
    case Architecture::kTuring:
      return {7, 5};
    case Architecture::kAmpere:
      return is_ga100(gpu) ? ComputeCapability{8, 0} : ComputeCapability{8, 6};
    case Architecture::kAda:
      return {8, 9};
    case Architecture::kHopper:
      return {9, 0};
    default:
      return {10, 0};
  }
}

void complete(GpuSpec& gpu, std::size_t index) {
  if (gpu.uuid.empty()) gpu.uuid = fmt::format("GPU-00000000-0000-4000-8000-{:012x}", index);
  if (gpu.bus_id.empty()) gpu.bus_id = fmt::format("00000000:{:02X}:00.0", 0x10 + index);
  if (gpu.memory_bytes == 0) gpu.memory_bytes = std::uint64_t{80} << 30;
  if (gpu.sm_clocks_mhz.empty()) gpu.sm_clocks_mhz = default_clocks();
  if (gpu.memory_clocks_mhz.empty()) gpu.memory_clocks_mhz = {2619, 1593};
  std::sort(gpu.sm_clocks_mhz.begin(), gpu.sm_clocks_mhz.end(), std::greater<>());
  std::sort(gpu.memory_clocks_mhz.begin(), gpu.memory_clocks_mhz.end(), std::greater<>());
  if (gpu.load.steps.empty()) gpu.load.steps = {{0, gpu.idle_w}};
  for (std::size_t i = 0; i < gpu.slices.size(); ++i) {
    MigSlice& slice = gpu.slices[i];
    if (slice.uuid.empty()) slice.uuid = fmt::format("MIG-00000000-0000-4000-8000-{:06x}{:06x}", index, i);
    if (slice.name.empty()) slice.name = gpu.name + " MIG";
    if (slice.memory_bytes == 0) slice.memory_bytes = gpu.memory_bytes / gpu.slices.size();
  }
}

Scenario default_scenario() {
  Scenario out;
  set_sensor_defaults(out.gpus.emplace_back(), out.driver);
  complete(out.gpus.back(), 0);
  return out;
}

}  // namespace joulecast::nvml
