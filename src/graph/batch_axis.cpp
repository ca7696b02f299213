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

std::int64_t batch_of(const Graph& graph, const TypeTable& types) {
  if (graph.inputs.empty()) return 1;
  const BatchAxis batch = batch_axis(graph);
  const bool behind = batch.input != nullptr && batch.axis != 0;
  if (behind) return types.type(batch.input->value).shape[batch.axis];
  const Shape& shape = types.type(graph.inputs[0].value).shape;
  return shape.empty() ? 1 : shape[0];
}

}  // namespace joulecast
