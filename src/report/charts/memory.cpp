// SPDX-License-Identifier: Apache-2.0
#include "report/charts/signal_chart.h"

namespace joulecast::report {

Charts memory_charts(const RunView& run) {
  constexpr double kGigabyte = 1e9;
  return signal_chart(
      run, {"memory", "Memory in use", "memory in use (GB)", "GB", kGigabyte, true, {{Signal::kMemoryUsed, "in use"}}});
}

}  // namespace joulecast::report
