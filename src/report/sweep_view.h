// SPDX-License-Identifier: Apache-2.0
// A sweep as the page looks at it.
#pragma once

#include <string>
#include <vector>

#include "measure/sweep_load.h"
#include "measure/sweep_result.h"
#include "report/chart.h"

namespace joulecast::report {

struct SweepView {
  std::string path;
  LoadedSweep loaded;
  std::vector<SweepGroup> groups;
};

// Command, machines, GPUs and drivers, settings as they were found. HTML, as what follows.
std::string sweep_header_section(const SweepView& sweep);

// One a goal that was measured: runs, means with their band, the fit where there is one, and the best setting marked.
std::vector<Chart> sweep_charts(const SweepView& sweep, const SweepGroup& group);

// Tables of a group: settings, differences, optima, what the fits are worth.
std::string sweep_section(const SweepGroup& group);

// Clock, power, delay, energy and EDP over the limit, or why there are none; how power and clock go together.
std::string sweep_models_section(const SweepGroup& group);

}  // namespace joulecast::report
