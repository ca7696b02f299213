// SPDX-License-Identifier: Apache-2.0
#include "predict/nvfp4.h"

#include <variant>
#include <vector>

namespace joulecast {
namespace {

bool is_layer_weight(const Node& node, std::size_t input) {
  return input == 1 && (std::holds_alternative<Linear>(node.op) || std::holds_alternative<MatMul>(node.op));
}

}  // namespace

Bytes quantise_weights(const Graph& graph, TypeTable& types) {
  std::vector<bool> by_layer(graph.values.size());
  std::vector<bool> otherwise(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      (is_layer_weight(node, i) ? by_layer : otherwise)[index(node.inputs[i])] = true;
    }
  }
  Bytes scales;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const ValueId id{static_cast<std::uint32_t>(i)};
    TensorType type = types.type(id);
    if (graph.values[i].kind != ValueKind::kParameter || !by_layer[i] || otherwise[i]) continue;
    if (type.element != ElementType::kBFloat16 || type.shape.size() != 2) continue;
    type.element = ElementType::kFloat4;
    types.set_type(id, type);
    scales += Bytes{static_cast<double>(type.elements()) / 16.0};
  }
  return scales;
}

}  // namespace joulecast
