// SPDX-License-Identifier: Apache-2.0
#include "predict/trained.h"

#include <algorithm>

namespace joulecast {

std::vector<bool> trained_values(const Graph& graph, const TypeTable& types) {
  std::vector<bool> out(graph.values.size());
  const auto floats = [&](ValueId id) { return id != kNoValue && is_floating(types.type(id).element); };
  const auto is_parameter = [&](ValueId id) { return graph.value(id).kind == ValueKind::kParameter; };
  const auto is_input = [&](ValueId id) { return graph.value(id).kind == ValueKind::kInput; };
  const bool part = std::none_of(graph.values.begin(), graph.values.end(),
                                 [](const Value& value) { return value.kind == ValueKind::kParameter; });
  for (const Node& node : graph.nodes) {
    const bool trains_alone = !std::holds_alternative<Binary>(node.op);
    const bool has_body = std::holds_alternative<If>(node.op) || std::holds_alternative<Loop>(node.op) ||
                          std::holds_alternative<Scan>(node.op);  // which may have parameters of its own
    const auto trains = [&](ValueId id) {
      if (!floats(id)) return false;
      return is_parameter(id) ? trains_alone : out[index(id)] || (part && is_input(id));
    };
    const bool parameters_alone = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id != kNoValue && floats(id) && is_parameter(id);
    });
    const bool any = has_body || (parameters_alone && !node.inputs.empty()) ||
                     std::any_of(node.inputs.begin(), node.inputs.end(), trains);
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) out[index(id)] = any && floats(id);
    }
  }
  return out;
}

}  // namespace joulecast
