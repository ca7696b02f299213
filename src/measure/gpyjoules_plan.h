// SPDX-License-Identifier: Apache-2.0
// Experiments of GPyJoules, in YAML, as plans of sweeps.
#pragma once

#include <string>
#include <vector>

#include "joulecast/result.h"
#include "measure/sweep_plan.h"

namespace joulecast {

// One plan a benchmark of each experiment for this machine: experiments with a `host` of another machine are left out.
// Reads `experiments:` (with experiment_name, host, repeat, power_limits, clock_limits, data_path, benchmarks) and the
// flat form with name and repetitions; benchmarks/NAME.yaml (working_directory, module, args) beside the file or one
// folder up. A limit of null leaves the GPU as it was found. Errors: kNotFound, kInvalidInput.
Result<std::vector<SweepPlan>> read_gpyjoules(const std::string& path);

}  // namespace joulecast
