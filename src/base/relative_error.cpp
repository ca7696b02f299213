// SPDX-License-Identifier: Apache-2.0
#include "base/relative_error.h"

#include <fmt/format.h>

namespace joulecast {

std::string relative_error(double error, double value) {
  if (!(value > 0)) return {};
  constexpr double kLeast = 0.01, kTwoDigits = 0.1, kNearAll = 99.5, kAll = 100;
  const double percent = error / value * kAll;
  if (percent > kAll) return ">100 %";
  if (percent >= kNearAll) return "±100 %";
  if (percent < kLeast) return "<0.01 %";
  return percent < kTwoDigits ? fmt::format("±{:.2f} %", percent) : fmt::format("±{:.2g} %", percent);
}

}  // namespace joulecast
