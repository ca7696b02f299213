// SPDX-License-Identifier: Apache-2.0
// torch.nn.Linear on more than two axes: MatMul(x, Transpose(weight)), then Add(bias).
#include <utility>

#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

bool is_matrix(const Rewriter& graph, ValueId id) {
  return graph.is_parameter(id) && graph.source_type(id).shape.size() == 2;
}

// The matrix behind a transposition of its two axes.
ValueId transposed_matrix(const Rewriter& graph, ValueId id) {
  const Node* node = made_by<Transpose>(graph, id);
  if (node == nullptr || !is_matrix(graph, input(*node, 0))) return kNoValue;
  const IntList& order = as<Transpose>(*node)->order;
  return order.empty() || order == IntList{1, 0} ? node->inputs[0] : kNoValue;
}

// A parameter of `outputs` entries, or what is put together from one: Swin V2 sets the keys' part of it to zero.
bool is_bias(const Rewriter& graph, ValueId id, std::int64_t outputs) {
  const Sketch& sketch = graph.sketch(id);
  return sketch.weight && sketch.rank == std::size_t{1} && sketch.length && std::cmp_equal(*sketch.length, outputs);
}

}  // namespace

bool fold_linear_weight(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* op = as<MatMul>(node);
  if (op == nullptr || op->transpose_a) return false;
  const ValueId transposed = transposed_matrix(graph, input(node, 1));
  const ValueId weight = transposed != kNoValue ? transposed : input(node, 1);
  if (!is_matrix(graph, weight)) return false;
  const bool in_out = (transposed == kNoValue) != op->transpose_b;
  graph.replace(root, Linear{.weight_in_out = in_out}, {node.inputs[0], weight});
  return true;
}

bool fold_linear_bias(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (!is(node, BinaryKind::kAdd)) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const ValueId bias = node.inputs[side];
    const Node* linear = made_by<Linear>(graph, node.inputs[1 - side]);
    if (linear == nullptr || input(*linear, 2) != kNoValue) continue;
    const Shape weight = graph.source_type(input(*linear, 1)).shape;
    if (weight.size() != 2 || !read_once(graph, node.inputs[1 - side])) continue;
    if (!is_bias(graph, bias, weight[as<Linear>(*linear)->weight_in_out ? 1 : 0])) continue;
    graph.replace(root, Linear{*as<Linear>(*linear)}, {linear->inputs[0], linear->inputs[1], bias});
    return true;
  }
  return false;
}

}  // namespace joulecast::passes
