// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "report/charts/signal_chart.h"

namespace joulecast::report {

Charts clock_charts(const RunView& run) {
  constexpr double kMegahertz = 1e6;
  Charts out = signal_chart(run, {"sm-clock",
                                  "SM clock",
                                  "SM clock (MHz)",
                                  "MHz",
                                  kMegahertz,
                                  false,
                                  {{Signal::kSmClock, "running"}, {Signal::kAppSmClock, "set"}}});
  Charts memory = signal_chart(run, {"memory-clock",
                                     "Memory clock",
                                     "memory clock (MHz)",
                                     "MHz",
                                     kMegahertz,
                                     false,
                                     {{Signal::kMemoryClock, "running"}, {Signal::kAppMemoryClock, "set"}}});
  out.insert(out.end(), std::make_move_iterator(memory.begin()), std::make_move_iterator(memory.end()));
  return out;
}

}  // namespace joulecast::report
