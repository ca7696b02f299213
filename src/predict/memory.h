// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "joulecast/gpu.h"
#include "joulecast/predict.h"

namespace joulecast {

// Peak of the allocator: parameters, gradients, optimizer state and the live activations, in the order of the nodes.
// Training keeps what backward needs until the loss, then frees it in reverse; inference frees after the last reader.
// `saved`: what the operators keep for backward besides values of the graph.
MemoryPlan plan_memory(const Graph& graph, const TypeTable& types, Bytes saved, const PrepareOptions& options);

// What the driver shows on top of the allocator's bytes: segments, CUDA context, cuBLAS workspace. The interval is the
// spread of published contexts, not a fit.
Interval<Bytes> device_memory(const MemoryPlan& plan, const Gpu& gpu, Mode mode);

// The smallest MIG slice that holds `memory` (D3.5 equation 2 with closed upper bounds). Nothing where the GPU has no
// slices or none is large enough.
std::optional<std::string> smallest_mig_profile(const Gpu& gpu, Bytes memory);

}  // namespace joulecast
