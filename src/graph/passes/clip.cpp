// SPDX-License-Identifier: Apache-2.0
// torch.nn.ReLU6 is exported as Clip(x, 0, 6).
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {

bool fold_clip(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (!is(node, ActivationKind::kClip) || node.inputs.size() != 3) return false;
  const auto low = scalar(graph, node.inputs[1]);
  if (!low || *low != 0.0 || !is_scalar(graph, node.inputs[2], 6.0)) return false;
  graph.replace(root, Activation{ActivationKind::kRelu6}, {node.inputs[0]});
  return true;
}

}  // namespace joulecast::passes
