// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "power/sensor.h"

namespace joulecast {

// AMD GPUs, through what their kernel driver shows in hwmon and in the card's folder: power, energy where the chip
// counts it, clocks, temperature, limit, use, memory. Devices are "amd0", ...; HIP_VISIBLE_DEVICES and
// ROCR_VISIBLE_DEVICES pick by number.
Result<Found> find_amdgpu(const SensorOptions& options);

}  // namespace joulecast
