// SPDX-License-Identifier: Apache-2.0
#include "report/charts/signal_chart.h"

namespace joulecast::report {

Charts pcie_charts(const RunView& run) {
  constexpr double kGigabyte = 1e9;
  Charts out = signal_chart(run, {"pcie",
                                  "PCIe",
                                  "PCIe (GB/s)",
                                  "GB/s",
                                  kGigabyte,
                                  true,
                                  {{Signal::kPcieReceived, "to the GPU"}, {Signal::kPcieSent, "from the GPU"}}});
  for (Chart& chart : out) {
    chart.caption =
        "What the driver counted in the 20 ms before each reading, protocol and all: what passed in between is not "
        "seen.";
  }
  return out;
}

}  // namespace joulecast::report
