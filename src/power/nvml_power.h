// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "power/nvml_gpu.h"
#include "power/sensor.h"

namespace joulecast {

// Energy counter and power of one GPU, in one call a reading. Sources, as far as the chip has them:
//   nvml-counter         total energy since the driver was loaded (Volta and newer)
//   nvml-instant         field POWER_INSTANT; nvml-module-instant where only the whole module (CPU and GPU) is known
//   nvml-average         field POWER_AVERAGE, a running mean of one second
//   nvml-power-usage     nvmlDeviceGetPowerUsage, only where there is no nvml-instant: what it means depends on chip
//   and
//                        driver
// Null where the GPU gives none of them. What is left out is told in `missing`.
std::unique_ptr<Sensor> open_nvml_power(const NvmlGpu& gpu, const SensorOptions& options,
                                        std::vector<Missing>& missing);

}  // namespace joulecast
