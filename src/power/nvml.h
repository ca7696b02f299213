// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "power/sensor.h"

namespace joulecast {

// NVIDIA GPUs, through NVML.
Result<Found> find_nvml(const SensorOptions& options);

}  // namespace joulecast
