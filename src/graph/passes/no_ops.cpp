// SPDX-License-Identifier: Apache-2.0
// Nodes that do nothing whatever is bound: x.to(its own type) launches no kernel in PyTorch, an exporter writes it
// down.
#include <algorithm>
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
  return graph.sketch(node.inputs[0]).element == cast->to && graph.bypass(root, node.inputs[0]);
}

bool fold_identity_transpose(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* transpose = as<Transpose>(node);
  if (transpose == nullptr || !passes_through(node) || transpose->order.empty()) return false;
  IntList identity(transpose->order.size());
  std::iota(identity.begin(), identity.end(), 0);
  return transpose->order == identity && graph.bypass(root, node.inputs[0]);
}

namespace {

// Offsets of a tensor [N, channels, 1, 1] in memory: range(N) * channels, an axis each, plus 0 .. channels - 1.
bool is_offset_of_pooled(const Rewriter& graph, ValueId id) {
  std::int64_t channels = 0;
  for (int terms = 0; terms < 5; ++terms) {
    const Node* add = made_by(graph, id, BinaryKind::kAdd);
    if (add == nullptr) break;
    const Shape shape = graph.source_type(add->inputs[1]).shape;
    if (shape.size() != 4 || shape[0] != 1 || shape[2] != 1 || shape[3] != 1) return false;
    channels = std::max(channels, shape[1]);
    id = add->inputs[0];
  }
  const Node* unsqueeze = made_by<Unsqueeze>(graph, id);
  const auto stride = unsqueeze == nullptr ? std::nullopt : scaled(graph, input(*unsqueeze, 0));
  return stride && made_by<Range>(graph, stride->x) != nullptr && channels > 0 &&
         stride->by == static_cast<double>(channels);
}

}  // namespace

// The dynamo exporter spells as_strided, here of a pooled tensor that already lies so, as a gather from the flat one.
bool fold_strided_pool(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* gather = as<Gather>(node);
  if (gather == nullptr || gather->kind != GatherKind::kSlices || gather->axis != 0) return false;
  const Node* flat = made_by<Reshape>(graph, input(node, 0));
  const Contents* shape = flat == nullptr ? nullptr : graph.known(input(*flat, 1));
  if (shape == nullptr || shape->ints != IntList{-1}) return false;
  const Node* pool = made_by<AdaptivePool>(graph, input(*flat, 0));
  if (pool == nullptr || as<AdaptivePool>(*pool)->size != Extents{1, 1}) return false;
  return is_offset_of_pooled(graph, input(node, 1)) && graph.bypass(root, flat->inputs[0]);
}

}  // namespace joulecast::passes
