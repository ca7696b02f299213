// SPDX-License-Identifier: Apache-2.0
// Automatic mixed precision as PyTorch runs it: which operators work in halves, which insist on FP32, and the casts
// between them, each a kernel of its own.
#pragma once

#include "joulecast/graph.h"

namespace joulecast {

// The graph as torch.autocast("cuda", half) executes it, with its casts as nodes. Parameters stay FP32 and are cast
// once; activations are cast for every reader, since autocast only remembers parameters. A softmax reads halves and
// answers in FP32. Requires: validate(graph).
// Bodies of control flow are left as they are. `norms`: what layer and group norms work in. Source: PyTorch's
// documentation, "Automatic Mixed Precision package", CUDA Ops that autocast to float16 / float32.
Graph autocast(const Graph& graph, ElementType half, ElementType norms = ElementType::kFloat32);

}  // namespace joulecast
