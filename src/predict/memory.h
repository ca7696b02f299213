// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "joulecast/gpu.h"
#include "joulecast/predict.h"

namespace joulecast {

// Peak of the allocator: parameters, gradients, optimizer state and the live activations, in the order of the nodes.
// Training keeps what backward needs until the loss, then frees it in reverse while gradients come; inference frees
// after the last reader. The optimizer's step, which needs room of its own, comes when all gradients are there.
// `saved`: bytes that each node keeps for backward besides values of the graph.
MemoryPlan plan_memory(const Graph& graph, const TypeTable& types, std::span<const double> saved,
                       const PrepareOptions& options);

// Of the allocator alone, as torch.cuda.max_memory_allocated() tells it: workspaces of convolutions come on top, which
// are not counted.
Interval<Bytes> allocated_memory(const MemoryPlan& plan);

// What the driver shows on top of the allocator's bytes: segments, CUDA context, cuBLAS workspace. The interval is the
// spread of published contexts, not a fit.
Interval<Bytes> device_memory(const MemoryPlan& plan, const Gpu& gpu, Mode mode);

// The smallest MIG slice that holds `memory` (D3.5 equation 2 with closed upper bounds). Nothing where the GPU has no
// slices or none is large enough.
std::optional<std::string> smallest_mig_profile(const Gpu& gpu, Bytes memory);

}  // namespace joulecast
