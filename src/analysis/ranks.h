// SPDX-License-Identifier: Apache-2.0
// The ranks of one job, each recorded by itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/summary.h"
#include "recording/recording.h"

namespace joulecast {

struct RankRun {
  std::string path;
  const Recording* recording = nullptr;
  const RunSummary* summary = nullptr;
};

// Energy is summed over GPUs, each once; time is that of the slowest rank.
struct RankSum {
  std::size_t ranks = 0, gpus = 0;
  double time_s = 0;
  std::optional<double> energy_j;  // absent where one GPU's is
  std::vector<std::string> doubts;
};

// Absent where these are not ranks of one job (two or more, each of its own number).
std::optional<RankSum> sum_of_ranks(const std::vector<RankRun>& runs);
// Why recordings of one job's ranks are not summed, a sentence for people: one rank is among them twice.
std::optional<std::string> rank_named_twice(const std::vector<RankRun>& runs);

}  // namespace joulecast
