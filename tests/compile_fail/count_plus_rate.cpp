// SPDX-License-Identifier: Apache-2.0
// A number of flops is not a rate.
#include <algorithm>

#include "joulecast/units.h"

using namespace joulecast;

[[maybe_unused]] static Seconds take(Seconds s) {
  return s;
}

int main() {
#ifdef MUST_NOT_COMPILE
  [[maybe_unused]] const auto result = Flops{1.0} + FlopsPerSecond{1.0};
#else
  [[maybe_unused]] const auto result = Flops{1.0} / Seconds{1.0} + FlopsPerSecond{1.0};
#endif
  return take(Seconds{}).value() > 0.0 ? 1 : 0;
}
