// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "power/sensor.h"

namespace joulecast {

// Meters that a command reads: IPMI ("ipmitool dcmi power reading"), a plug, a USB meter. Each of options.meters is
// "NAME=COMMAND" or a command; it is run once a second by the shell and has five seconds.
Result<Found> find_meter_commands(const SensorOptions& options);

// The first number of a text that has a unit of power (mW, W, Watts, kW) behind it, else the only number there is,
// taken as watts. Absent where there is none or it is not clear which.
std::optional<double> watts_in(std::string_view text);

}  // namespace joulecast
