// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace joulecast::report {

// Bins of equal width from `begin` on; the last also has everything above.
struct Histogram {
  double begin = 0, width = 0;
  std::vector<std::size_t> counts;
};
// From 0 to a little above the value that one in two hundred exceeds. Requires: at least one value, none negative;
// bins >= 2.
Histogram histogram(std::vector<double> values, std::size_t bins);

}  // namespace joulecast::report
