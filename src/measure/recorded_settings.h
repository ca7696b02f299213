// SPDX-License-Identifier: Apache-2.0
// Whether settings lasted through a run, by what was recorded of it: something else may have held others for a while.
#pragma once

#include <string>

#include "power/gpu_settings.h"
#include "recording/recording.h"

namespace joulecast {

// Why they did not, while the command ran; empty where nothing recorded speaks against it. Locks cannot be read, but
// clocks can.
std::string not_held_in(const Recording& recording, const GpuSettings& wanted);

}  // namespace joulecast
