// SPDX-License-Identifier: Apache-2.0
// table[indices]: dynamo exports it as GatherND with a last axis of one index, TorchScript as Gather.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// The indices before an axis of 1 was put behind them.
ValueId before_last_axis(const Rewriter& graph, ValueId id) {
  const Node* node = made_by<Unsqueeze>(graph, id);
  if (node == nullptr) return kNoValue;
  const IntList axes = axes_of(graph, *node, as<Unsqueeze>(*node)->axes).value_or(IntList{});
  const auto rank = graph.sketch(input(*node, 0)).rank;
  const bool last = axes == IntList{-1} || (rank && axes == IntList{static_cast<std::int64_t>(*rank)});
  return last ? input(*node, 0) : kNoValue;
}

}  // namespace

bool fold_indexing(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* op = as<Gather>(node);
  if (op == nullptr || op->kind != GatherKind::kNd || op->batch_axes != 0) return false;
  const ValueId indices = before_last_axis(graph, input(node, 1));
  if (indices == kNoValue) return false;
  const ValueId table = input(node, 0);
  const bool matrix = graph.is_parameter(table) && graph.source_type(table).shape.size() == 2;
  const Operator look_up = matrix ? Operator{Embedding{}} : Operator{Gather{}};
  graph.replace(root, look_up, {table, indices});
  return true;
}

}  // namespace joulecast::passes
