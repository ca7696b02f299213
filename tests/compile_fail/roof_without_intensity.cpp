// SPDX-License-Identifier: Apache-2.0
// Bandwidth is no roof until it is multiplied by an intensity.
#include <algorithm>

#include "joulecast/units.h"

using namespace joulecast;

[[maybe_unused]] static Seconds take(Seconds s) {
  return s;
}

int main() {
#ifdef MUST_NOT_COMPILE
  [[maybe_unused]] const auto result = std::min(FlopsPerSecond{1.0}, BytesPerSecond{1.0});
#else
  [[maybe_unused]] const auto result = std::min(FlopsPerSecond{1.0}, BytesPerSecond{1.0} * FlopsPerByte{1.0});
#endif
  return take(Seconds{}).value() > 0.0 ? 1 : 0;
}
