// SPDX-License-Identifier: Apache-2.0
// What a box plot shows of values.
#pragma once

#include <vector>

namespace joulecast::report {

// Quartiles by linear interpolation between sorted values; whiskers reach to the last values within 1.5 times the
// quartiles' distance (Tukey); what is beyond is drawn by itself.
struct Box {
  double low = 0, first = 0, median = 0, third = 0, high = 0;
  std::vector<double> beyond;  // rising
};
// Requires: at least one value.
Box box_of(std::vector<double> values);

}  // namespace joulecast::report
