// SPDX-License-Identifier: Apache-2.0
// The charts of one recording, a kind a file. A recording that lacks what a chart is about has none of it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "report/chart.h"
#include "report/run_view.h"

namespace joulecast::report {

using Charts = std::vector<Chart>;

Charts power_charts(const RunView& run);         // with phases as bands; by source where there are several
Charts phase_charts(const RunView& run);         // what ran when
Charts energy_charts(const RunView& run);        // since the command began, and the mean of repeats
Charts clock_charts(const RunView& run);         // SM and memory
Charts event_reason_charts(const RunView& run);  // why clocks were held down
Charts performance_state_charts(const RunView& run);
Charts limit_charts(const RunView& run);  // of power
Charts temperature_charts(const RunView& run);
Charts utilization_charts(const RunView& run);  // of SM and memory
Charts memory_charts(const RunView& run);
Charts pcie_charts(const RunView& run);            // to and from the GPU
Charts repeated_phase_charts(const RunView& run);  // box plots of time and energy
Charts sampling_charts(const RunView& run);        // gaps between readings

// Part of the page, and the charts in it.
struct ChartSection {
  std::string_view title;
  Charts (*make)(const RunView&);
};
std::span<const ChartSection> chart_sections();

}  // namespace joulecast::report
