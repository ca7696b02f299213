// SPDX-License-Identifier: Apache-2.0
// LayerNorm below opset 17: d = x - mean(x), d / sqrt(mean(d * d) + epsilon); scale and shift follow in
// norm_affine.cpp. Exporters for automatic mixed precision put casts inside, before the square; older ones compute d
// twice.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

ValueId through_cast(const Rewriter& graph, ValueId id, Group& inside) {
  const Node* cast = made_by<Cast>(graph, id);
  if (cast == nullptr) return id;
  inside.add(id);
  return input(*cast, 0);
}

// x where `id` is x - mean(x) over `axes`.
std::optional<ValueId> centred(const Rewriter& graph, ValueId id, const IntList& axes, Group& inside) {
  const Node* sub = made_by(graph, id, BinaryKind::kSub);
  const Node* mean = sub == nullptr ? nullptr : made_by<Reduce>(graph, sub->inputs[1]);
  if (mean == nullptr || as<Reduce>(*mean)->kind != ReduceKind::kMean || !as<Reduce>(*mean)->keep_axes) {
    return std::nullopt;
  }
  if (input(*mean, 0) != sub->inputs[0] || reduced_axes(graph, *mean) != axes) return std::nullopt;
  inside.add(id);
  inside.add(sub->inputs[1]);
  return sub->inputs[0];
}

}  // namespace

bool fold_layer_norm(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  Group inside;
  const auto quotient = normalised(graph, node, inside);
  const auto variance = quotient ? mean_square(graph, quotient->v, inside) : std::nullopt;
  if (!variance) return false;
  const auto x = centred(graph, quotient->n, variance->axes, inside);
  const ValueId squared = through_cast(graph, variance->y, inside);
  if (!x || (squared != quotient->n && centred(graph, squared, variance->axes, inside) != x)) return false;
  const auto axes = count_last_axes(variance->axes, graph.sketch(*x).rank);
  if (!axes || !inside.closed(graph, node)) return false;
  graph.replace(root, LayerNorm{.axes = *axes}, {*x});
  return true;
}

// torchvision's and timm's LayerNorm2d: permute, layer_norm over the last axis, permute back.
bool fold_layer_norm_channels(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* back = as<Transpose>(node);
  if (back == nullptr || back->order != IntList{0, 3, 1, 2}) return false;
  const Node* norm = made_by<LayerNorm>(graph, input(node, 0));
  if (norm == nullptr || !read_once(graph, node.inputs[0]) || *as<LayerNorm>(*norm) != LayerNorm{}) return false;
  const Node* there = made_by<Transpose>(graph, input(*norm, 0));
  if (there == nullptr || as<Transpose>(*there)->order != IntList{0, 2, 3, 1}) return false;
  std::vector<ValueId> inputs = norm->inputs;
  inputs[0] = input(*there, 0);
  graph.replace(root, LayerNorm{.channels_first = true}, std::move(inputs));
  return true;
}

}  // namespace joulecast::passes
