// SPDX-License-Identifier: Apache-2.0
// What a GPU is like where the scenario does not say: by architecture and, for the meaning of its power readings,
// driver.
#pragma once

#include <cstdint>
#include <string>

#include "scenario.h"

namespace joulecast::nvml {

// Sensor and counter as the architecture and the driver have them; `name` tells the GA100 from its family.
void set_sensor_defaults(GpuSpec& gpu, const std::string& driver);

// Classes of the survey "Accurate and Convenient Energy Measurements for GPUs" (SC24): 'A' 25 of 100 ms, 'B' 100 of
// 100 ms, 'C' a mean of 1 s, 'D' 10 of 20 ms, 'E' an RC curve. False for another letter.
bool set_sensor_class(Sensor& sensor, char sensor_class);

// Of the architecture's data centre chip, and of a GA10x where the Ampere is none.
struct ComputeCapability {
  std::int32_t major = 0, minor = 0;
};
ComputeCapability compute_capability(const GpuSpec& gpu);

// Everything else that follows from what the scenario said: clocks, identity, MIG. `index` counts all GPUs.
void complete(GpuSpec& gpu, std::size_t index);

}  // namespace joulecast::nvml
