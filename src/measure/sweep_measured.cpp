// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace joulecast {
namespace {

constexpr double kMegahertz = 1e-6;

bool is_gpu(const DeviceSummary& device) {
  return names_a_gpu(device.device);
}

// Together; absent where one of them has no energy.
template <typename Value>
std::optional<double> sum_of(const std::vector<const DeviceSummary*>& devices, const Value& value) {
  double sum = 0;
  for (const DeviceSummary* device : devices) {
    const std::optional<double> one = value(*device);
    if (!one) return std::nullopt;
    sum += *one;
  }
  if (devices.empty()) return std::nullopt;
  return sum;
}

std::optional<double> clock_of(const DeviceSummary& device) {
  if (device.runs.empty() || !device.runs.front().sm_clock_hz) return std::nullopt;
  return device.runs.front().sm_clock_hz->mean * kMegahertz;
}

// What the figures are about: GPUs, or all there is where no GPU was recorded.
std::vector<const DeviceSummary*> devices_of(const RunSummary& summary) {
  std::vector<const DeviceSummary*> out;
  const bool gpus = std::any_of(summary.devices.begin(), summary.devices.end(), is_gpu);
  for (const DeviceSummary& device : summary.devices) {
    if (!gpus || is_gpu(device)) out.push_back(&device);
  }
  return out;
}

}  // namespace

void add_measured(SweepMeasurement& run, const RunSummary& summary) {
  const std::vector<const DeviceSummary*> devices = devices_of(summary);
  run.gpus = devices.size();
  run.time_s = summary.time_s.mean;
  run.energy_j = sum_of(devices, [](const DeviceSummary& device) {
    return device.energy_j ? std::optional(device.energy_j->mean) : std::nullopt;
  });
  run.idle_power_w = sum_of(devices, [](const DeviceSummary& device) { return device.idle_power_w; });
  if (const auto clocks = sum_of(devices, clock_of)) run.sm_clock_mhz = *clocks / static_cast<double>(devices.size());
}

void add_once(const std::vector<std::string>& sentences, std::vector<std::string>& out) {
  for (const std::string& sentence : sentences) {
    if (std::find(out.begin(), out.end(), sentence) == out.end()) out.push_back(sentence);
  }
}

void settle_energy(LoadedSweep& out) {
  constexpr const char* kWhy = "nothing measures it, or readings cover too little of it";
  std::set<std::string> measured, unmeasured;
  for (const SweepMeasurement& run : out.runs) (run.energy_j ? measured : unmeasured).insert(run.group);
  const auto odd = [&](const SweepMeasurement& run) { return !run.energy_j && measured.count(run.group) > 0; };
  for (const SweepMeasurement& run : out.runs) {
    if (odd(run)) out.left_out.push_back(fmt::format("{}: no energy: {}", run.id, kWhy));
  }
  out.runs.erase(std::remove_if(out.runs.begin(), out.runs.end(), odd), out.runs.end());
  for (const std::string& group : unmeasured) {
    if (measured.count(group) > 0) continue;
    out.doubts.push_back(
        fmt::format("{}{}no energy: {}; only times are compared (joulecast doctor says what can be "
                    "measured here)",
                    group, group.empty() ? "" : ": ", kWhy));
  }
}

}  // namespace joulecast
