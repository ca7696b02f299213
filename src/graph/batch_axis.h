// SPDX-License-Identifier: Apache-2.0
// Which extent of the inputs --batch stands for.
#pragma once

#include "joulecast/graph.h"

namespace joulecast {

struct BatchAxis {
  const GraphInput* input = nullptr;  // none: no extent of the inputs is open there
  std::size_t axis = 0;
};

// The first open extent that is called "batch", else the first one of an axis 0.
BatchAxis batch_axis(const Graph& graph);
// What that extent is, or the first one of the first input where the model or a shape fixes it; 1 where there is none.
std::int64_t batch_of(const Graph& graph, const TypeTable& types);

}  // namespace joulecast
