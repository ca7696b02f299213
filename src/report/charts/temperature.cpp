// SPDX-License-Identifier: Apache-2.0
#include "report/charts/signal_chart.h"

namespace joulecast::report {

Charts temperature_charts(const RunView& run) {
  return signal_chart(
      run, {"temperature", "Temperature", "temperature (°C)", "°C", 1, false, {{Signal::kTemperature, "temperature"}}});
}

}  // namespace joulecast::report
