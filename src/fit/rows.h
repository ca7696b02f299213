// SPDX-License-Identifier: Apache-2.0
// All there is to fit on, as the options of a training want it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "fit/samples.h"
#include "fit/train.h"
#include "joulecast/result.h"
#include "predict/settings/sweep.h"

namespace joulecast {

struct Rows {
  SampleSet samples;
  settings::SweepSet sweeps;

  [[nodiscard]] bool empty() const {
    const auto none = [](const std::vector<Sample>& group) { return group.empty(); };
    return sweeps.sweeps.empty() && std::all_of(samples.groups.begin(), samples.groups.end(), none);
  }
};

// Reads tables and stores, leaves out what the options say, and thins out the rest. Errors: those of read_rows(), and
// of what the options name.
Result<Rows> read_tables(const TrainOptions& options, const Progress& progress);

// "12 rows not used" and the most frequent reasons, a line each: a damaged table has thousands. Nothing where all were
// used.
std::vector<std::string> refusal_lines(const Refusals& refused);

// Files that options name: lists of operations, factors. Errors: those of MappedFile; kUnsupported for a large one.
Result<std::string> text_of(const std::string& path);

}  // namespace joulecast
