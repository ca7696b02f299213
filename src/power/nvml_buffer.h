// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "power/nvml_gpu.h"
#include "power/sensor.h"

namespace joulecast {

// The driver's own ring of samples of one GPU: power, and where there is no MIG utilisation of GPU and memory, each
// with the driver's time. Drained twice in the time that the shortest ring is seen
// to hold; what was lost all the same is told as absent. Null where the
// driver keeps none.
std::unique_ptr<Sensor> open_nvml_buffer(const NvmlGpu& gpu, const SensorOptions& options,
                                         std::vector<Missing>& missing);

}  // namespace joulecast
