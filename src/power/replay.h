// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "power/sensor.h"

namespace joulecast {

// A recording, played again as if its sensors were here: its readings come as far apart as they came, from now on. For
// trying things out, and to see again what a sensor once did. Only with options.replay; then nothing else is read.
// Errors: those of load_recording().
Result<Found> find_replay(const SensorOptions& options);

}  // namespace joulecast
