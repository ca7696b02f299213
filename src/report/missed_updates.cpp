// SPDX-License-Identifier: Apache-2.0
#include "report/missed_updates.h"

#include <cmath>

namespace joulecast::report {

std::size_t missed_updates(std::span<const Reading> readings, double period_s) {
  constexpr double kInTime = 1.5;
  std::size_t out = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const double periods = static_cast<double>(readings[i].time - readings[i - 1].time) * 1e-6 / period_s;
    if (periods > kInTime) out += static_cast<std::size_t>(std::round(periods)) - 1;
  }
  return out;
}

}  // namespace joulecast::report
