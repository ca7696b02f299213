// SPDX-License-Identifier: Apache-2.0
// Networks whose layers multiply in NVIDIA's FP4 while everything else stays in BF16.
#pragma once

#include "joulecast/graph.h"
#include "joulecast/units.h"

namespace joulecast {

// Weights that only layers read (linear ones, and products with a parameter) become kFloat4. What an embedding shares
// with the last layer stays, and so does what is in bodies of control flow. Returns the size of the scales beside them:
// one byte for each 16 elements.
Bytes quantise_weights(const Graph& graph, TypeTable& types);

}  // namespace joulecast
