// SPDX-License-Identifier: Apache-2.0
#include "report/charts/signal_chart.h"

namespace joulecast::report {

Charts performance_state_charts(const RunView& run) {
  Charts out = signal_chart(run, {"performance-state",
                                  "Performance state",
                                  "performance state",
                                  "P",
                                  1,
                                  true,
                                  {{Signal::kPerformanceState, "in force"}}});
  for (Chart& chart : out) {
    chart.caption = "P0 is the fastest; what lies further down saves power while little is to be done.";
    chart.spec["encoding"]["y"]["scale"]["reverse"] = true;
    chart.spec["encoding"]["y"]["axis"] = {{"tickMinStep", 1}, {"format", "d"}};
  }
  return out;
}

}  // namespace joulecast::report
