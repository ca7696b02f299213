// SPDX-License-Identifier: Apache-2.0
// Energy and power do not add.
#include <algorithm>

#include "joulecast/units.h"

using namespace joulecast;

[[maybe_unused]] static Seconds take(Seconds s) {
  return s;
}

int main() {
#ifdef MUST_NOT_COMPILE
  [[maybe_unused]] const auto result = Joules{1.0} + Watts{1.0};
#else
  [[maybe_unused]] const auto result = Joules{1.0} + Watts{1.0} * Seconds{1.0};
#endif
  return take(Seconds{}).value() > 0.0 ? 1 : 0;
}
