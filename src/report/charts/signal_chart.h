// SPDX-License-Identifier: Apache-2.0
// A chart of readings over time: what those of clocks, limits, temperatures and memory have in common.
#pragma once

#include <string>
#include <vector>

#include "report/charts/charts.h"

namespace joulecast::report {

struct SignalOf {
  Signal signal;
  const char* kind;  // "set", "in force": told apart by dashes where a chart has several
};
struct SignalChart {
  const char* id;
  const char* title;
  const char* axis;  // with the unit
  const char* unit;
  double step;  // SI units of one unit of the axis
  bool zero;    // whether the axis begins there
  std::vector<SignalOf> signals;
};
// Empty where none of the signals was read.
Charts signal_chart(const RunView& run, const SignalChart& what);

}  // namespace joulecast::report
