// SPDX-License-Identifier: Apache-2.0
// Time and energy of one iteration of a loop, after equations 3.1 to 3.9 of C. Nicolai, "On energy modeling of deep
// neural network operations", master's thesis, Heidelberg University, with what the run's own energy says beside.
#pragma once

#include <optional>
#include <string>

#include "analysis/account.h"
#include "analysis/phases.h"
#include "analysis/summary.h"
#include "series/iterations.h"

namespace joulecast {

struct IterationAccount {
  std::string device, source;  // the source of power
  series::PerIteration values;
  std::size_t iterations = 0;
  // Scatter of the total time is known from repeats, or from the marks; with one unmarked run it is not, and (3.8) is
  // no number.
  bool time_scatter_known = false;
  // Where readings do not scatter, or alias, neither (3.9) nor the standard error says how far they are off.
  bool power_scatter_known = false;
  // By the source that the summary takes, over the same time: where that is a counter it sees what power readings do
  // not. Absent where it covers too little of one of them.
  std::optional<Joules> answer;
  // The source's, or that of the mean of what scatters from iteration to iteration, whichever is more; absent without
  // an answer, and where nothing tells it.
  std::optional<Joules> answer_standard_error;
  std::string answer_source;
};

// Of `iterations` in each command of the summary. Errors: per_iteration()'s; kNotFound for a device without power.
Result<IterationAccount> iterations_of_commands(const Recording& recording, const Accountant& accountant,
                                                const RunSummary& summary, const std::string& device,
                                                std::size_t iterations);

// Of the marked phases of a name: each is an iteration, or as many as it says ("count=25"). Phases without an end are
// left out, and those of runs that failed; those that ran side by side share the time and the energy. Errors: kNotFound
// without such phases.
Result<IterationAccount> iterations_of_phases(const Recording& recording, const Accountant& accountant,
                                              const RunSummary& summary, const std::string& device,
                                              const std::string& name);

}  // namespace joulecast
