// SPDX-License-Identifier: Apache-2.0
// What pools of fixed and of fitted windows share.
#pragma once

#include "graph/infer_context.h"

namespace joulecast {

// Sets the output and, of a max pool, the places of the maxima. Errors: kInvalidInput for places of another kind.
Result<void> set_pooled(PoolKind kind, const Shape& shape, InferContext& context);

// One flop for each of the `met` elements of all windows, a comparison or an addition; 2 for Lp (power and addition).
// Max pooling saves the place of each maximum as int64, as PyTorch does, and backward reads only these.
Cost pooling_cost(PoolKind kind, double met, const CostContext& context);

}  // namespace joulecast
