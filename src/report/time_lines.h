// SPDX-License-Identifier: Apache-2.0
// Readings as lines over the time of the page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/chart.h"
#include "report/run_view.h"

namespace joulecast::report {

// One channel. Its parts are where readings follow one another; between them readings are known to be missing.
struct TimeLine {
  std::string device, source, kind;  // kind: what the signal is called where a chart has several
  std::vector<series::Series> parts;
};

// Lines of a signal in units of `unit` SI units, in the order of the channels; those without a reading are left out.
std::vector<TimeLine> time_lines(const RunView& run, Signal signal, double unit, const std::string& kind);

// A block a line, of at most about `points` points, with null between parts.
Json line_blocks(const std::vector<TimeLine>& lines, std::size_t points);

// The source that is the best for power of the device; empty where it has none.
std::string best_power_source(const RunView& run, const std::string& device);

}  // namespace joulecast::report
