// SPDX-License-Identifier: Apache-2.0
#include "report/charts/signal_chart.h"

namespace joulecast::report {

Charts utilization_charts(const RunView& run) {
  constexpr double kPercent = 0.01;
  Charts out = signal_chart(run, {"utilization",
                                  "Utilisation",
                                  "utilisation (%)",
                                  "%",
                                  kPercent,
                                  true,
                                  {{Signal::kUtilization, "GPU"}, {Signal::kMemoryUtilization, "memory"}}});
  for (Chart& chart : out) {
    chart.caption =
        "The share of the driver's last window in which anything ran at all, or memory was read or written: 100 % does "
        "not "
        "mean that the chip had no more to give.";
  }
  return out;
}

}  // namespace joulecast::report
