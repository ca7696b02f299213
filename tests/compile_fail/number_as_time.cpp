// SPDX-License-Identifier: Apache-2.0
// A bare number is not a time.
#include <algorithm>

#include "joulecast/units.h"

using namespace joulecast;

[[maybe_unused]] static Seconds take(Seconds s) {
  return s;
}

int main() {
#ifdef MUST_NOT_COMPILE
  [[maybe_unused]] const auto result = take(2.0);
#else
  [[maybe_unused]] const auto result = take(Seconds{2.0});
#endif
  return take(Seconds{}).value() > 0.0 ? 1 : 0;
}
