// SPDX-License-Identifier: Apache-2.0
// Runs that GPyJoules recorded (github.com/sirexeclp/energy-aware-computing).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/import/import.h"

namespace joulecast {

// What the name of a run's folder says: "200W" or "877MHz,1065MHz", memory first.
struct GpyjoulesSetting {
  std::optional<double> power_limit_w, memory_clock_hz, sm_clock_hz;
};
// Nothing for names that say something else.
GpyjoulesSetting gpyjoules_setting(std::string_view name);

// A repetition's folder, in data-root/experiment/benchmark/run/repetition.
struct GpyjoulesRun {
  std::string path;
  std::string experiment, benchmark, run, repetition;
  GpyjoulesSetting setting;
};
struct GpyjoulesTree {
  std::vector<GpyjoulesRun> runs;   // by path
  std::vector<std::string> unread;  // "path: why" of what may hold more of them
};
// All repetitions below a folder, itself included; those in folders that begin with _ (baselines) only where `root` is
// one. Errors: kIo where `root` itself may not be read.
Result<GpyjoulesTree> find_gpyjoules_runs(const std::string& root);

// Errors: kInvalidInput with file and line; where there is not exactly one repetition, naming some.
Result<Recording> import_gpyjoules(const std::string& folder, const ImportOptions& options);

// Files of a repetition, as text; absent ones are empty. For tests and programs that have no folder.
struct GpyjoulesFiles {
  std::string_view gpu_power, power_samples, gpu_samples, memory_samples, external, timestamps, system_info;
};
Result<Recording> parse_gpyjoules(const GpyjoulesFiles& files, const GpyjoulesRun& run, const ImportOptions& options);

}  // namespace joulecast
