// SPDX-License-Identifier: Apache-2.0
// torch's dynamo exporter decomposes adaptive_avg_pool2d(x, 1) to x.mean([-1, -2], keepdim=True), the axes in exactly
// this order (torch/_decomp, as ATen does it). A mean over {2, 3} was written so by the model and stays.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {

bool fold_global_pool(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* reduce = as<Reduce>(node);
  if (reduce == nullptr || reduce->kind != ReduceKind::kMean || !reduce->keep_axes) return false;
  if (reduced_axes(graph, node) != IntList{-1, -2} || graph.sketch(input(node, 0)).rank != std::size_t{4}) return false;
  graph.replace(root, AdaptivePool{.kind = PoolKind::kAverage, .size = {1, 1}}, {node.inputs[0]});
  return true;
}

}  // namespace joulecast::passes
