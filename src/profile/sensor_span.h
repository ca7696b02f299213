// SPDX-License-Identifier: Apache-2.0
// How long a case has to run for a power sensor to see enough of it.
#pragma once

#include <optional>
#include <string>

#include "joulecast/units.h"
#include "recording/recording.h"

namespace joulecast::profile {

struct SensorSpan {
  Seconds span{0};     // of all windows together
  std::string reason;  // "nvml-instant, class B: mean of 100 ms, every 100 ms"
};

// Relative standard error of the power that is aimed at by the span alone.
inline constexpr double kPowerTarget = 0.02;

// Both edges of what is read come up to an update late, so the relative error of a mean is update / (sqrt(6) span). A
// sensor that sees a share of the time needs as much more; one that averages over a second, that second before; one
// that trails its load, ten seconds (series::correct). Absent where no source of the device tells power: time alone is
// measured then. Only channels and head are looked at.
std::optional<SensorSpan> span_for_power(const Recording& recording, const std::string& device);

}  // namespace joulecast::profile
