// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "power/sensor.h"

namespace joulecast {

// Energy of Intel's and AMD's CPUs and their memory: the counters of the kernel's powercap interface (RAPL).
Result<Found> find_rapl(const SensorOptions& options);

}  // namespace joulecast
