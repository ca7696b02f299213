// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "power/nvml_gpu.h"
#include "power/sensor.h"

namespace joulecast {

// Traffic over PCIe of one GPU. Each direction blocks the caller for 20 ms, so it has a lane of its own. Null where
// there is none.
std::unique_ptr<Sensor> open_nvml_pcie(const NvmlGpu& gpu, const SensorOptions& options, std::vector<Missing>& missing);

}  // namespace joulecast
