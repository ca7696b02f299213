// SPDX-License-Identifier: Apache-2.0
// What an optimizer keeps and moves for each parameter.
#pragma once

#include "joulecast/predict.h"

namespace joulecast {

// Numbers kept beside the parameter and its gradient, from step to step. RMSprop without a moment.
double optimizer_states(Optimizer optimizer);

// Numbers that live only while the step runs. PyTorch on a GPU takes all parameters at once, one kernel after the other
// (torch.optim's "foreach", its default since 2.0, which is taken for every version), so that what is between two of
// them lies in memory; TensorFlow works in place.
double optimizer_buffers(Optimizer optimizer, Runtime runtime);

// Numbers read and written in a step, by TensorFlow 2 (TensorFlow 1's Adam makes 10 passes instead of 7). Counted from
// the kernels of torch.optim's foreach and, for TensorFlow, of its ApplyGradientDescent, ApplyMomentum and so on; what
// is read twice by one kernel counts once.
double optimizer_passes(Optimizer optimizer, Runtime runtime);

}  // namespace joulecast
