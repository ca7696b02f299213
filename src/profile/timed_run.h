// SPDX-License-Identifier: Apache-2.0
// One `run` of what a runner has prepared, believed only as far as it can be true.
#pragma once

#include <cstdint>
#include <optional>

#include "joulecast/result.h"
#include "joulecast/units.h"
#include "profile/runner.h"

namespace joulecast::profile {

// Nothing is ever run for more at once.
inline constexpr std::int64_t kMostIterations = 10'000'000;

// Iterations back to back, nothing running at either edge. Edges are of CLOCK_MONOTONIC.
struct TimedWindow {
  std::int64_t iterations = 0, begin_us = 0, end_us = 0;
  double host_s = 0;               // until the last call was issued
  std::optional<double> device_s;  // by events of the device; absent on processors

  [[nodiscard]] double clock_s() const;
  // Of one iteration: the device's where it tells, else the clock's.
  [[nodiscard]] double iteration_s() const;
};

// Errors: those of Runner::request(); kInvalidInput for a reply that cannot be true: of other iterations than were
// asked for, edges that are not between request and reply or in no order, times that are none.
Result<TimedWindow> timed_run(Runner& runner, std::int64_t iterations, Seconds timeout);

}  // namespace joulecast::profile
