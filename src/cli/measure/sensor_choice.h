// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/measure/measure_options.h"
#include "power/sensor.h"

namespace joulecast::cli {

SensorOptions sensor_options(const SensorChoice& choice);

// "gpu0: energy counter: NVML: Not Supported (3); energy is integrated from power".
std::string sentence(const Missing& missing);

}  // namespace joulecast::cli
