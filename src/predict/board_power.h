// SPDX-License-Identifier: Apache-2.0
// What a board can draw: beyond it a reading is a slip, or of more than the board.
#pragma once

#include "joulecast/gpu.h"
#include "joulecast/result.h"

namespace joulecast {

// That it can be set to; the default one where the catalogue does not know.
Watts highest_limit(const Gpu& gpu);

// Without work; 0.12 of the default limit where the catalogue does not know.
Watts idle_power(const Gpu& gpu);

// Errors: kInvalidInput for less than half of what the GPU draws idle, and for more than one and a half times its
// highest limit.
Result<void> check_mean_power(const Gpu& gpu, Watts power);

}  // namespace joulecast
