// SPDX-License-Identifier: Apache-2.0
// What sweep and restore do.
#pragma once

#include "cli/measure/sweep_options.h"
#include "cli/output.h"

namespace joulecast::cli {

// The exit code is 0 where all runs are done and good, 3 where some failed, 128 + n where signal n stopped it.
Outcome sweep_command(const SweepCommandOptions& options, Output& output);
Outcome restore_command(const RestoreOptions& options, Output& output);

}  // namespace joulecast::cli
