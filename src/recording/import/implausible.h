// SPDX-License-Identifier: Apache-2.0
// Numbers in logs of others that are no readings.
#pragma once

#include "recording/recording.h"

namespace joulecast {

// Power and energy counters of GPUs: 0, what is below, and powers that the GPU cannot draw become absences
// (Absence::kImplausible), and a note of each channel says how many. Other devices and signals may well be 0.
void set_implausible_apart(Recording& run);

}  // namespace joulecast
