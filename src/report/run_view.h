// SPDX-License-Identifier: Apache-2.0
// One recording as the page looks at it.
#pragma once

#include <string>
#include <vector>

#include "analysis/account.h"
#include "analysis/phases.h"
#include "analysis/sensor_check.h"
#include "analysis/summary.h"
#include "recording/recording.h"
#include "report/chart.h"

namespace joulecast::report {

struct RunView {
  // Keeps references: recording and summary must live as long.
  RunView(std::string path, const Recording& recording, const RunSummary& summary);

  std::string path;
  const Recording& recording;
  const RunSummary& summary;
  Accountant accountant;
  Phases phases;
  std::vector<SensorCheck> sensors;  // one entry a channel

  // Time on the page begins with the command; a baseline lies before it.
  [[nodiscard]] double seconds(MonotonicUs time) const {
    return static_cast<double>(time - summary.commands.front().begin) * 1e-6;
  }
};

// Of field "time_s", from the first to the last moment of the recording: charts of one run stand below one another.
Json time_axis(const RunView& run);

}  // namespace joulecast::report
