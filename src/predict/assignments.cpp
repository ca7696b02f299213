// SPDX-License-Identifier: Apache-2.0
#include "predict/assignments.h"

#include <algorithm>

namespace joulecast {
namespace {

constexpr std::size_t kPositions = 1;  // input of a scatter

bool is_scatter(const Node& node) {
  return std::holds_alternative<Scatter>(node.op);
}

// What follows from shapes and constants. What has no input at all may be drawn at random.
std::vector<bool> fixed_values(const Graph& graph) {
  std::vector<bool> fixed(graph.values.size());
  for (std::size_t i = 0; i < fixed.size(); ++i) fixed[i] = graph.values[i].kind == ValueKind::kConstant;
  for (const Node& node : graph.nodes) {
    const auto known = [&](ValueId id) { return id == kNoValue || fixed[index(id)]; };
    const bool follows = std::holds_alternative<ShapeOf>(node.op) ||
                         (!node.inputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(), known));
    if (!follows) continue;
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) fixed[index(id)] = true;
    }
  }
  return fixed;
}

}  // namespace

std::vector<bool> scatter_positions(const Graph& graph) {
  std::vector<bool> out(graph.values.size());
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_scatter)) return out;
  out = fixed_values(graph);
  std::vector<bool> used(graph.values.size());
  const auto use = [&](ValueId id, bool as_position) {
    if (id == kNoValue) return;
    used[index(id)] = true;
    if (!as_position) out[index(id)] = false;
  };
  for (const ValueId id : graph.outputs) use(id, false);
  // Readers come behind what they read: backwards, all of a value's are known before the node that makes it.
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool makes_positions = std::all_of(node->outputs.begin(), node->outputs.end(), [&](ValueId id) {
      return id == kNoValue || (out[index(id)] && used[index(id)]);
    });
    for (std::size_t i = 0; i < node->inputs.size(); ++i)
      use(node->inputs[i], makes_positions || (is_scatter(*node) && i == kPositions));
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] && used[i];
  return out;
}

}  // namespace joulecast
