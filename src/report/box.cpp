// SPDX-License-Identifier: Apache-2.0
#include "report/box.h"

#include <algorithm>

#include "base/check.h"
#include "series/moments.h"

namespace joulecast::report {

Box box_of(std::vector<double> values) {
  JC_CHECK(!values.empty(), "a box of nothing");
  std::sort(values.begin(), values.end());
  constexpr double kReach = 1.5;
  Box out;
  out.first = *series::quantile(values, 0.25);
  out.median = *series::quantile(values, 0.5);
  out.third = *series::quantile(values, 0.75);
  const double reach = kReach * (out.third - out.first);
  // The nearest values are between the quartiles, so there is always one within reach.
  out.low = *std::lower_bound(values.begin(), values.end(), out.first - reach);
  out.high = *(std::upper_bound(values.begin(), values.end(), out.third + reach) - 1);
  for (const double value : values) {
    if (value < out.low || value > out.high) out.beyond.push_back(value);
  }
  // Between its neighbours, a quartile may lie outside of what the whisker reaches.
  out.low = std::min(out.low, out.first);
  out.high = std::max(out.high, out.third);
  return out;
}

}  // namespace joulecast::report
