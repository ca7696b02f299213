// SPDX-License-Identifier: Apache-2.0
// What `joulecast analyze` prints beside the summary, one part a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/account.h"
#include "analysis/card_calibration.h"
#include "analysis/curves.h"
#include "analysis/iteration_account.h"
#include "analysis/steady.h"
#include "analysis/summary.h"
#include "cli/json.h"
#include "cli/measure/measure_options.h"
#include "cli/measure/read_run.h"
#include "cli/outcome.h"
#include "cli/output.h"
#include "recording/recording.h"

namespace joulecast::cli {

// Which method gave the energy, EDP, ED2P, idle share: a line a device.
std::string method_text(const RunSummary& summary);

// --sampling.
std::string sampling_text(const Recording& recording);

// --steady: one entry a device and command. What has no steady part is told in `notes`.
struct SteadyEntry {
  SteadyRun run;
  bool power_aliases = false, energy_aliases = false;  // then nothing tells how far they are off
};
struct SteadyRuns {
  std::vector<SteadyEntry> runs;
  std::vector<std::string> notes;
};
SteadyRuns steady_runs(const ReadRun& run, std::optional<double> idle_power_w);
std::string steady_text(const SteadyRuns& steady);
Json steady_json(const SteadyRuns& steady);

// --iterations and --per-iteration. Fails where no device can tell.
tl::expected<std::vector<IterationAccount>, Failure> iteration_accounts(const ReadRun& run,
                                                                        const AnalyzeOptions& options);
std::string iterations_text(const std::vector<IterationAccount>& accounts);
Json iterations_json(const std::vector<IterationAccount>& accounts);

// --curves: writes the file, or standard output for "-".
Outcome write_curves(const std::vector<ReadRun>& runs, const AnalyzeOptions& options, Output& output);

// --fit-calibration: fits, prints, stores with --save.
Outcome fit_calibration_command(const std::vector<ReadRun>& runs, const AnalyzeOptions& options, Output& output);

}  // namespace joulecast::cli
