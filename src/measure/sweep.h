// SPDX-License-Identifier: Apache-2.0
// The series of runs of a plan, with every setting put back in the end.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "measure/sweep_plan.h"
#include "measure/sweep_record.h"

namespace joulecast {

struct SweepOptions {
  SweepPlan plan;
  // The words that run `joulecast measure`: each run is a process of its own, as if typed.
  std::vector<std::string> measure;
  std::optional<std::size_t> repetition;  // only that one, of a job array
  bool retry_failed = false;
  std::function<void(const std::string&)> say;  // a line for people
};

struct SweepEnd {
  std::size_t done = 0, failed = 0, skipped = 0;
  std::optional<int> stopped;  // by this signal; the rest is left for the next time
};

// What there is to do, in order.
struct SweepOutlook {
  std::vector<SweepRun> open;
  std::size_t finished = 0, failed = 0;  // failed: those that will not be repeated
  std::optional<double> seconds;         // of all that is open; absent where nothing says how long a run takes
};
SweepOutlook outlook(const SweepOptions& options, const SweepFolder& folder);

// Where the command shall run. Errors: kInvalidInput where there is no such folder.
Result<void> check_sweep_folder(const SweepPlan& plan);

// Runs what is open. Settings that dead programs left are put back first. Everything is checked before anything is
// changed or written. A run that fails does not stop the series; a setting that does not take does. Requires: no other
// threads, NVML not open (there is a Guardian). Errors: kInvalidInput and kUnsupported for settings that the GPU cannot
// have, kDevice for those it does not take and for repetitions that another process is measuring, kIo.
Result<SweepEnd> run_sweep(const SweepOptions& options);

}  // namespace joulecast
