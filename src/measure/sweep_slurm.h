// SPDX-License-Identifier: Apache-2.0
// A sweep as a job array of Slurm: one task a repetition, so that all settings of a repetition are measured on one
// machine and can be compared in pairs.
#pragma once

#include <string>
#include <vector>

#include "joulecast/result.h"
#include "measure/sweep_plan.h"

namespace joulecast {

struct SlurmSweep {
  std::vector<SweepPlan> plans;      // of one file: a task measures its repetition of each; not empty
  std::string program, plan_path;    // have to be there on every machine
  std::vector<std::string> options;  // further words for `joulecast sweep`
};

std::string slurm_script(const SlurmSweep& sweep);

}  // namespace joulecast
