// SPDX-License-Identifier: Apache-2.0
// --calibrated: the stored lines of the cards of a recording, and what was done with them.
#pragma once

#include <string>
#include <vector>

#include "analysis/summary.h"
#include "cli/outcome.h"
#include "recording/recording.h"

namespace joulecast::cli {

// Of the cards in the recording. Fails where the store cannot be read.
tl::expected<std::vector<AppliedLine>, Failure> stored_lines(const Recording& recording);

// "gpu0: nvml-counter is corrected by its calibration line: (reading - 3.2 W) / 0.952", or that it has none: a sentence
// a GPU.
std::vector<std::string> calibration_notes(const Recording& recording, const RunSummary& summary,
                                           const std::vector<AppliedLine>& lines);

// Without --calibrated: what the errors of NVIDIA's sensors leave out, in one sentence. Empty where none of them gives
// the energy.
std::vector<std::string> gain_notes(const RunSummary& summary);

}  // namespace joulecast::cli
