// SPDX-License-Identifier: Apache-2.0
// The runs of a sweep's folder as plain values.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/result.h"
#include "measure/sweep_result.h"
#include "power/gpu_settings.h"

namespace joulecast {

// Where runs were made.
struct SweepMachine {
  std::string host;
  nlohmann::json head;               // of its first recording: command, machine, devices
  std::vector<FoundSettings> found;  // of its GPUs, before the series changed anything
};

struct LoadedSweep {
  std::vector<std::string> command;  // the plan's, with {name} for parameters
  std::vector<SweepMachine> machines;
  std::vector<SweepMeasurement> runs;
  std::vector<std::string> left_out;  // runs that do not count, and why; a sentence each
  std::vector<std::string> doubts;    // about those that do; a sentence each, once
};

// Time is that of the command alone. Energy is that of all GPUs the run was about, by their best sources; where nothing
// of a GPU was recorded, of all devices. A run without energy counts where no run of its group has one, for time.
// Errors: those of read_records().
Result<LoadedSweep> load_sweep(const std::string& folder);

// Several runs of GPyJoules, in a folder or below: benchmarks are groups, what the name of a run's folder says is its
// setting. Time and energy are those of its "experiment", where it marked one. Errors: kNotFound with fewer than two.
Result<LoadedSweep> load_gpyjoules_sweep(const std::string& folder);

// Runs that were measured elsewhere, one a line of a CSV table with a header: power_limit_w (or limit_w) and clock_mhz
// (sm_clock_mhz) are the setting, at least one of them; the one column with "time" in its name that ends with _s is the
// time, the one with "energy" that ends with _j the energy, which may be absent or empty; repetition, else they are
// counted. Other columns whose names end with a unit were measured and are left alone; all others together name the
// group. Errors: kNotFound and kIo of the file; kInvalidInput with the line.
Result<LoadedSweep> load_sweep_table(const std::string& path);
// The same of its text; `name` stands in front of errors.
Result<LoadedSweep> parse_sweep_table(std::string_view text, const std::string& name);

// Of any kind. Errors: those of all.
Result<LoadedSweep> load_any_sweep(const std::string& folder);

}  // namespace joulecast
