// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "predict/work.h"

namespace joulecast {

// One line people recognise: "conv 32x64x56x56 -> 128, 3x3 s2", "linear 32x2048 -> 1000", "relu 25.7M, 206MB". Work
// that moves other bytes or has other extents reads differently, to the three digits that are shown.
std::string describe(const Work& work);

// Flops of matrix work, bytes of the rest: what "larger than anything measured" is judged by.
double work_size(const Work& work);

}  // namespace joulecast
