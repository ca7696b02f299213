// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "analysis/said_once.h"
#include "analysis/summary.h"
#include "measure/recorded_settings.h"
#include "measure/sweep_measured.h"
#include "measure/sweep_record.h"
#include "recording/recording.h"

namespace joulecast {
namespace {

constexpr double kWatts = 1e-3;  // of milliwatts

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
  add_once(summary.doubts, out);
  if (!record.cooled) add_once({"some runs began warmer than the plan wants"}, out);
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
  SweepMeasurement& run = out.runs.emplace_back();
  run.id = record.run.id();
  add_setting(run, record, *recording);
  add_measured(run, *summary);
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
  out.doubts = said_once(out.doubts);
  return out;
}

Result<LoadedSweep> load_any_sweep(const std::string& folder) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(folder, ignored)) return load_sweep_table(folder);
  auto own = load_sweep(folder);
  const bool other =
      !own && own.error().code() == ErrorCode::kNotFound && std::filesystem::is_directory(folder, ignored);
  if (!other) return own;
  return load_gpyjoules_sweep(folder);
}

}  // namespace joulecast
