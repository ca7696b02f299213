// SPDX-License-Identifier: Apache-2.0
// The steady part of a run: without start-up and tail, what was left out, and how its readings scatter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analysis/account.h"
#include "analysis/phases.h"
#include "series/change_point.h"
#include "series/warning.h"

namespace joulecast {

struct SteadyRun {
  std::string device, source;   // the source of power that the change points are of
  double from_s = 0, to_s = 0;  // since the command's begin
  double cut_head_s = 0, cut_tail_s = 0;
  std::size_t readings = 0, head_readings = 0, tail_readings = 0;
  DeviceAccount account;  // of what is left
  // The channel of three deviations around the mean of the readings that are left.
  double power_w = 0;
  std::optional<double> deviation_w;
  std::size_t outside = 0;
  std::optional<double> kept_power_w;  // the mean of those inside
  // Of the energy of what is left: what idling as long would have drawn.
  std::optional<double> idle_share;
  series::Warnings warnings;

  [[nodiscard]] double seconds() const { return to_s - from_s; }
};

// By change points of power within the command. Errors: kNotFound where the device has no power or energy counter;
// kInvalidInput with too few readings.
Result<SteadyRun> steady_run(const Recording& recording, const Accountant& accountant, const std::string& device,
                             const Phase& command, std::optional<double> idle_power_w,
                             const series::ChangePointOptions& options = {});

}  // namespace joulecast
