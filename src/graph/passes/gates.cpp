// SPDX-License-Identifier: Apache-2.0
// x times a gate of x: SiLU x sigmoid(x), quick GELU x sigmoid(1.702 x), Mish x tanh(softplus(x)).
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

constexpr double kQuickGelu = 1.702;  // https://arxiv.org/abs/1606.08415, section 2

// Which activation x * gate is.
std::optional<ActivationKind> gated(const Rewriter& graph, ValueId gate, ValueId x, Group& inside) {
  inside.add(gate);
  if (const Node* sigmoid = made_by(graph, gate, ActivationKind::kSigmoid)) {
    const ValueId argument = sigmoid->inputs[0];
    if (argument == x) return ActivationKind::kSilu;
    inside.add(argument);
    const auto scale = scaled(graph, argument);
    if (!scale || scale->x != x) return std::nullopt;
    if (scale->by == 1.0) return ActivationKind::kSilu;  // tf.nn.silu multiplies by its beta
    return is_about(scale->by, kQuickGelu) ? std::optional(ActivationKind::kQuickGelu) : std::nullopt;
  }
  const Node* tanh = made_by(graph, gate, ActivationKind::kTanh);
  if (tanh == nullptr) return std::nullopt;
  const Node* softplus = made_by(graph, tanh->inputs[0], ActivationKind::kSoftplus);
  inside.add(tanh->inputs[0]);
  const bool mish = softplus != nullptr && softplus->inputs[0] == x;
  return mish ? std::optional(ActivationKind::kMish) : std::nullopt;
}

}  // namespace

bool fold_gate(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (!is(node, BinaryKind::kMul)) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    Group inside;
    const ValueId x = node.inputs[1 - side];
    const auto kind = gated(graph, node.inputs[side], x, inside);
    if (!kind || !inside.closed(graph, node)) continue;
    graph.replace(root, Activation{*kind}, {x});
    return true;
  }
  return false;
}

}  // namespace joulecast::passes
