// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "report/charts/charts.h"

namespace joulecast::report {

std::span<const ChartSection> chart_sections() {
  // In the order of the page.
  static constexpr std::array kSections{
      ChartSection{"Power", power_charts},
      ChartSection{"Phases", phase_charts},
      ChartSection{"Energy", energy_charts},
      ChartSection{"Clocks", clock_charts},
      ChartSection{"Clocks held down", event_reason_charts},
      ChartSection{"Performance state", performance_state_charts},
      ChartSection{"Power limit", limit_charts},
      ChartSection{"Temperature", temperature_charts},
      ChartSection{"Utilisation", utilization_charts},
      ChartSection{"Memory", memory_charts},
      ChartSection{"PCIe", pcie_charts},
      ChartSection{"Repeated phases", repeated_phase_charts},
      ChartSection{"Sampling", sampling_charts},
  };
  return kSections;
}

}  // namespace joulecast::report
