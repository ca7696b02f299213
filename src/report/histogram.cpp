// SPDX-License-Identifier: Apache-2.0
#include "report/histogram.h"

#include <algorithm>

#include "base/check.h"
#include "series/moments.h"

namespace joulecast::report {

Histogram histogram(std::vector<double> values, std::size_t bins) {
  JC_CHECK(!values.empty() && bins >= 2, "a histogram of nothing");
  constexpr double kUsual = 0.995;
  constexpr double kRoom = 1.25;
  const double top = *series::quantile(values, kUsual) * kRoom;
  Histogram out;
  out.width = (top > 0 ? top : 1) / static_cast<double>(bins);
  out.counts.assign(bins, 0);
  for (const double value : values) {
    const double bin = std::min(value / out.width, static_cast<double>(bins - 1));
    ++out.counts[static_cast<std::size_t>(bin)];
  }
  return out;
}

}  // namespace joulecast::report
