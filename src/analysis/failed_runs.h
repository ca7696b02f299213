// SPDX-License-Identifier: Apache-2.0
// Repeats of a command that failed: what they took says nothing of those that did their work.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/phases.h"
#include "recording/recording.h"

namespace joulecast {

struct FailedRun {
  Phase command;
  int code = 0;
};

// Repeats that worked. Where none did they are all there is.
struct SortedRuns {
  std::vector<Phase> counted;
  std::vector<FailedRun> left_out;
  std::string doubt;  // a sentence for people; empty where all worked, and where the recording has no exit codes
};
SortedRuns sort_runs(const Recording& recording, const std::vector<Phase>& commands);

// Whether the phase belongs to one of them.
bool began_in(const Phase& phase, const std::vector<FailedRun>& runs);
// As a shell would give it; 0 where the recording does not say.
int exit_code_of(const Recording& recording, const Phase& command);
// From 1, as the recorder counted.
std::size_t number_of_run(const Phase& command);

}  // namespace joulecast
