// SPDX-License-Identifier: Apache-2.0
// The result of a sweep for people, programs and papers.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "measure/sweep_load.h"
#include "measure/sweep_result.h"

namespace joulecast::cli {

// Tables of at most 80 columns.
std::string sweep_text(const std::vector<SweepGroup>& groups);
// A line a group, setting and goal.
std::string sweep_csv(const std::vector<SweepGroup>& groups);
// joulecast.sweep-result/1.
Json sweep_json(const std::vector<SweepGroup>& groups, const std::optional<SweepGroup>& parameters,
                const LoadedSweep& loaded);
// The optima, the differences to the reference, and the correlation of power and clock: three tables.
std::string sweep_latex(const std::vector<SweepGroup>& groups);

}  // namespace joulecast::cli
