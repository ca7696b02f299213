// SPDX-License-Identifier: Apache-2.0
// The runs of a sweep's folder as plain values.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
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

// Of either kind. Errors: those of both.
Result<LoadedSweep> load_any_sweep(const std::string& folder);

}  // namespace joulecast
