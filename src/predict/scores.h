// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "joulecast/graph.h"
#include "joulecast/predict.h"
#include "joulecast/tensor.h"

namespace joulecast {

// Scores of attention that no kernel does whole (lower_attention.h), in bytes.
struct Scores {
  double kept = 0.0;     // for backward: what the softmax made, and where it differs what is multiplied
  double at_once = 0.0;  // the most that live together
};

// Of a node that is no attention: nothing. A mask of booleans, which becomes one of numbers, counts with them.
Scores scores_of(const Node& node, const TypeTable& types, const PrepareOptions& options);

}  // namespace joulecast
