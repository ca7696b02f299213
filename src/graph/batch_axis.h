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

}  // namespace joulecast
