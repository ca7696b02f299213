// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/summary.h"
#include "measure/recorded_settings.h"
#include "measure/sweep_record.h"
#include "recording/recording.h"

namespace joulecast {
namespace {

constexpr double kWatts = 1e-3;  // of milliwatts
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

// Idle power and the highest limit are of all GPUs together, as the power is.
void add_setting(SweepMeasurement& out, const SweepRecord& record, const Recording& recording) {
  const GpuSettings& settings = record.run.settings;
  out.group = record.run.group();
  out.setting = settings.text();
  out.repetition = record.run.repetition;
  bool limit_is_default = !record.gpus.empty();
  for (const FoundSettings& gpu : record.gpus) {
    const auto limit = settings.power_limit_mw ? settings.power_limit_mw : gpu.power_limit_mw;
    limit_is_default = limit_is_default && limit && limit == gpu.default_limit_mw;
    if (limit) out.limit_w = *limit * kWatts;
  }
  if (settings.power_limit_mw) out.limit_w = *settings.power_limit_mw * kWatts;
  if (settings.sm_lock) out.clock_mhz = settings.sm_lock->high_mhz;
  if (settings.application) out.clock_mhz = settings.application->sm_mhz;
  const bool clocks_free = !settings.sm_lock && !settings.memory_lock && !settings.application;
  out.is_default = limit_is_default && clocks_free;
  double highest = 0;
  for (const auto& device : recording.head.value("devices", nlohmann::json::array())) {
    const auto details = device.value("details", nlohmann::json::object());
    const auto found = details.value("settings", nlohmann::json::object());
    highest += found.value("max_power_limit_w", 0.0);
  }
  if (highest > 0) out.device_limit_w = highest;
}

void add_doubts(const SweepRecord& record, const RunSummary& summary, std::vector<std::string>& out) {
  std::vector<std::string> doubts = summary.doubts;
  if (!record.cooled) doubts.emplace_back("some runs began warmer than the plan wants");
  for (const std::string& doubt : doubts) {
    if (std::find(out.begin(), out.end(), doubt) == out.end()) out.push_back(doubt);
  }
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

SweepMeasurement measurement_of(const SweepRecord& record, const Recording& recording, const RunSummary& summary) {
  const std::vector<const DeviceSummary*> devices = devices_of(summary);
  SweepMeasurement out;
  add_setting(out, record, recording);
  out.id = record.run.id();
  out.gpus = devices.size();
  out.time_s = summary.time_s.mean;
  out.energy_j = sum_of(devices, [](const DeviceSummary& device) {
    return device.energy_j ? std::optional(device.energy_j->mean) : std::nullopt;
  });
  out.idle_power_w = sum_of(devices, [](const DeviceSummary& device) { return device.idle_power_w; });
  if (const auto clocks = sum_of(devices, clock_of)) out.sm_clock_mhz = *clocks / static_cast<double>(devices.size());
  return out;
}

void add_machine(const SweepRecord& record, const Recording& recording, LoadedSweep& out) {
  const auto known = std::find_if(out.machines.begin(), out.machines.end(),
                                  [&](const SweepMachine& machine) { return machine.host == record.host; });
  if (known == out.machines.end()) out.machines.push_back({record.host, recording.head, record.gpus});
}

// Why it does not count, or empty.
std::string add_run(const SweepRecord& record, const std::string& path, LoadedSweep& out) {
  if (record.code != 0) return fmt::format("exit code {}", record.code);
  if (!record.not_held.empty()) return "the setting did not last: " + record.not_held;
  const auto recording = load_recording(path);
  if (!recording) return recording.error().text();
  const auto summary = summarize(*recording);
  if (!summary) return summary.error().text();
  if (std::string why = not_held_in(*recording, record.run.settings); !why.empty()) {
    return "the setting did not last: " + why;
  }
  out.runs.push_back(measurement_of(record, *recording, *summary));
  add_machine(record, *recording, out);
  add_doubts(record, *summary, out.doubts);
  return {};
}

using Hosts = std::map<std::pair<std::string, std::size_t>, std::set<std::string>>;  // of each group's repetitions

// A job that lost its machine goes on elsewhere: its runs are paired with those of another GPU.
void add_doubts(const Hosts& hosts, std::vector<std::string>& out) {
  for (const auto& [part, names] : hosts) {
    if (names.size() < 2) continue;
    out.push_back(
        fmt::format("repetition {}{}{} was measured on several machines ({}): differences between settings are "
                    "those between the machines, too",
                    part.second, part.first.empty() ? "" : " of ", part.first, fmt::join(names, ", ")));
  }
}

// Runs are compared with others of their group by what all of them have.
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

}  // namespace

Result<LoadedSweep> load_sweep(const std::string& folder) {
  LoadedSweep out;
  JC_ASSIGN_OR_RETURN(const std::vector<SweepRecord> records, read_records(folder, out.left_out));
  out.command = sweep_command_of(folder);
  Hosts hosts;
  for (const SweepRecord& record : records) {
    const std::string why = add_run(record, folder + "/" + record.run.id() + ".jcrun", out);
    if (!why.empty()) {
      out.left_out.push_back(fmt::format("{}: {}", record.run.id(), why));
    } else {
      hosts[{record.run.group(), record.run.repetition}].insert(record.host);
    }
  }
  add_doubts(hosts, out.doubts);
  settle_energy(out);
  return out;
}

}  // namespace joulecast
