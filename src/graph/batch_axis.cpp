// SPDX-License-Identifier: Apache-2.0
#include "graph/batch_axis.h"

namespace joulecast {

BatchAxis batch_axis(const Graph& graph) {
  BatchAxis first;
  for (const GraphInput& input : graph.inputs) {
    for (std::size_t axis = 0; axis < input.dimensions.size(); ++axis) {
      const Dimension& dimension = input.dimensions[axis];
      if (dimension.extent) continue;
      if (dimension.symbol == "batch") return {&input, axis};
      if (axis == 0 && first.input == nullptr) first = {&input, 0};
    }
  }
  return first;
}

}  // namespace joulecast
