// SPDX-License-Identifier: Apache-2.0
// What the normalisations share: their small vectors and their traffic.
#pragma once

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

// Scale, shift and the like (inputs `first` to `last`), each of the channels of axis 1 of x.
Result<void> check_channel_vectors(const InferContext& context, std::size_t first, std::size_t last);

// The flops of one element besides scale and shift, and how many numbers a group of elements shares.
struct NormWork {
  double forward_steps = 0.0, backward_steps = 0.0;
  double groups = 0.0;                // that many means, variances, ...
  double statistics_per_group = 2.0;  // mean and 1/deviation, kept for backward in at least 32 bits
};

// Inputs: x, [scale], [shift], [what takes no gradient]. Forward reads x once and writes it once; scale and shift are
// one flop an element each. Backward reads x, the output's gradient, the scale and the statistics and writes the
// gradients of x, scale and shift, 2 flops an element for the scale's and 1 for the shift's.
Cost norm_cost(const CostContext& context, const NormWork& work);

// x normalised with its own mean and variance. Forward, an element: 1 for the mean, 3 for the variance, 2 to
// normalise. Backward: 10 for (1/deviation) * (g - mean(g) - normalised * mean(g * normalised)), normalised once more.
Cost mean_variance_cost(const CostContext& context, double groups);

}  // namespace joulecast
