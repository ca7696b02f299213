// SPDX-License-Identifier: Apache-2.0
// What a reading can be, generously: beyond it a cell is garbage, not a measurement.
#pragma once

#include <string_view>

#include "joulecast/units.h"

namespace joulecast {

struct PossibleRange {
  double least, most;
  std::string_view unit;
};
constexpr PossibleRange possible(Seconds) {
  return {1e-9, 1e6, "s"};  // about a cycle; eleven days
}
constexpr PossibleRange possible(Watts) {
  return {0.1, 1e5, "W"};  // a rack full of boards stays below
}
constexpr PossibleRange possible(Joules) {
  return {1e-10, 1e11, "J"};  // the product of both
}
constexpr PossibleRange possible(Hertz) {
  return {1e-6, 1e12, "Hz"};  // clocks, and throughputs
}
constexpr PossibleRange possible(Bytes) {
  return {1.0, 1e15, "bytes"};
}

}  // namespace joulecast
