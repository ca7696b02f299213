// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "power/nvml_gpu.h"
#include "power/sensor.h"

namespace joulecast {

// Clocks, temperature, utilisation, P-state, limits, event (throttle) reasons and used memory of one GPU; each left
// out, and told in `missing`, where the chip or driver has it not. Null where it has nothing.
std::unique_ptr<Sensor> open_nvml_state(const NvmlGpu& gpu, const SensorOptions& options,
                                        std::vector<Missing>& missing);

}  // namespace joulecast
