// SPDX-License-Identifier: Apache-2.0
// The options of sweep and restore; `joulecast` completes them and shows their help.
#pragma once

#include <string>

#include "cli/options.h"

namespace joulecast::cli {

struct SweepCommandOptions {
  std::string plan;    // or, for --result, the folder
  std::string output;  // instead of the plan's
  bool result = false, dry_run = false, retry_failed = false, slurm = false, latex = false;
  std::size_t repetition = 0;  // 0: all
  Form form;
};
void define_sweep_options(CLI::App& app, SweepCommandOptions& options);

struct RestoreOptions {
  bool dry_run = false, json = false;
};
void define_restore_options(CLI::App& app, RestoreOptions& options);

}  // namespace joulecast::cli
