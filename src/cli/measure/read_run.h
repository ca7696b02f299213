// SPDX-License-Identifier: Apache-2.0
// Recordings that were named on the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks.h"
#include "analysis/summary.h"
#include "cli/outcome.h"
#include "recording/recording.h"

namespace joulecast::cli {

struct ReadRun {
  std::string path;
  Recording recording;
  RunSummary summary;
  std::vector<AppliedLine> lines;  // what its cards' readings were corrected by
};
struct ReadOptions {
  std::optional<double> idle_power_w;          // of a GPU, where no baseline was recorded
  bool calibrated = false;                     // by the lines that are stored for its cards
  std::optional<double> expected_interval_ms;  // at which readings of power were to come
};
struct ReadRuns {
  std::vector<ReadRun> runs;
  std::vector<std::string> left_out;  // "path: why"
};
// A folder of GPyJoules, at whatever level, is all runs below it: those that cannot be read are left out, unless that
// is all of them. What is named itself has to be read.
tl::expected<ReadRuns, Failure> read_runs(const std::vector<std::string>& paths, const ReadOptions& options = {});

std::vector<std::string> paths_of(const std::vector<ReadRun>& runs);

// A sentence for each file that is named more than once, by whatever path: its runs would count as others.
std::vector<std::string> named_twice(const std::vector<std::string>& paths);

// A failure where writing to `output` would destroy one of the inputs, by whatever path.
Outcome refuse_over_input(std::string_view verb, const std::string& output, const std::vector<std::string>& inputs);

// Keeps pointers into `runs`.
std::vector<RankRun> rank_runs(const std::vector<ReadRun>& runs);

}  // namespace joulecast::cli
