// SPDX-License-Identifier: Apache-2.0
// 1 / sqrt(x), as one exporter writes torch.rsqrt, and reciprocal(sqrt(x)), as the other does.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {

bool fold_rsqrt(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const bool division = is(node, BinaryKind::kDiv) && is_scalar(graph, node.inputs[0], 1.0);
  if (!division && !is(node, UnaryKind::kReciprocal)) return false;
  const ValueId under = division ? node.inputs[1] : node.inputs[0];
  const Node* sqrt = made_by(graph, under, UnaryKind::kSqrt);
  // What follows from shapes alone is no work of the network's.
  if (sqrt == nullptr || !read_once(graph, under) || graph.sketch(under).host) return false;
  graph.replace(root, Unary{UnaryKind::kRsqrt}, {sqrt->inputs[0]});
  return true;
}

}  // namespace joulecast::passes
