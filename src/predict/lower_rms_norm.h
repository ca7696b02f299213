// SPDX-License-Identifier: Apache-2.0
// RMSNorm as models write it out in Python, which PyTorch runs kernel by kernel.
#pragma once

#include <vector>

#include "joulecast/cost.h"
#include "joulecast/operators.h"
#include "predict/lower.h"

namespace joulecast {

// x.pow(2), its mean, epsilon, the root's reciprocal and a product, in FP32, to which halves are cast before and from
// which after; then the scale. Kernels are appended to `out`.
void rms_norm_by_hand(const RmsNorm& op, const CostContext& context, Mode mode, std::vector<LoweredOperation>& out);

}  // namespace joulecast
