// SPDX-License-Identifier: Apache-2.0
#include "report/charts/signal_chart.h"

namespace joulecast::report {

Charts limit_charts(const RunView& run) {
  Charts out = signal_chart(run, {"power-limit",
                                  "Power limit",
                                  "power limit (W)",
                                  "W",
                                  1,
                                  false,
                                  {{Signal::kPowerLimit, "in force"}, {Signal::kRequestedLimit, "asked for"}}});
  for (Chart& chart : out) chart.caption = "Where the limit in force is below the one asked for, something else caps.";
  return out;
}

}  // namespace joulecast::report
