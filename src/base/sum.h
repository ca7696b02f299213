// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace joulecast {

// Neumaier's sum, which loses nothing: energy steps of millijoules are added to a week's megajoules, relative errors of
// a few parts in a thousand to sums of squares of any size.
class CompensatedSum {
 public:
  void add(double value) {
    const double sum = sum_ + value;
    lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
    sum_ = sum;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0.0, lost_ = 0.0;
};

}  // namespace joulecast
