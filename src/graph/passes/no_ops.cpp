// SPDX-License-Identifier: Apache-2.0
// Nodes that do nothing whatever is bound: x.to(its own type) launches no kernel in PyTorch, an exporter writes it
// down.
#include <numeric>

#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

bool passes_through(const Node& node) {
  return node.outputs.size() == 1 && node.outputs[0] != kNoValue && input(node, 0) != kNoValue;
}

}  // namespace

bool fold_same_type_cast(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* cast = as<Cast>(node);
  if (cast == nullptr || !passes_through(node) || cast->to == ElementType::kUnknown) return false;
  return graph.sketch(node.inputs[0]).element == cast->to && graph.bypass(root);
}

bool fold_identity_transpose(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* transpose = as<Transpose>(node);
  if (transpose == nullptr || !passes_through(node) || transpose->order.empty()) return false;
  IntList identity(transpose->order.size());
  std::iota(identity.begin(), identity.end(), 0);
  return transpose->order == identity && graph.bypass(root);
}

}  // namespace joulecast::passes
