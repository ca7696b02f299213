// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "measure/slurm.h"

namespace joulecast {
namespace {

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

std::string slurm_script(const SlurmSweep& sweep) {
  const SweepPlan& first = sweep.plans.front();
  std::size_t repetitions = 0;
  for (const SweepPlan& plan : sweep.plans) repetitions = std::max(repetitions, plan.repetitions);
  std::string options;
  for (const std::string& option : first.slurm_options) options += sbatch_line(option);
  std::string words;
  for (const std::string& word : sweep.options) words += " " + shell_quoted(word);
  return fmt::format(
      "#!/bin/sh\n"
      "#SBATCH --job-name=joulecast-sweep\n"
      "#SBATCH --array=1-{}\n"
      "#SBATCH --output={}\n"
      "# Neighbours on the same machine would be measured too.\n"
      "#SBATCH --exclusive\n"
      "# Time to put the settings back before Slurm ends the job.\n"
      "#SBATCH --signal=B:TERM@60\n"
      "{}"
      "# Submit it again to go on: finished runs are skipped.\n"
      "cd {} || exit 1\n"
      "exec {} sweep {} --repetition \"$SLURM_ARRAY_TASK_ID\"{}\n",
      repetitions, slurm_log_pattern(first.output), options, shell_quoted(std::filesystem::current_path().string()),
      shell_quoted(sweep.program), shell_quoted(absolute(sweep.plan_path)), words);
}

}  // namespace joulecast
