// SPDX-License-Identifier: Apache-2.0
// Hardsigmoid relu6(x + 3) / 6 and Hardswish x hardsigmoid(x) (https://arxiv.org/abs/1905.02244), the sixth anywhere.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// x where `id` is relu6(x + 3).
std::optional<ValueId> shifted_relu6(const Rewriter& graph, ValueId id, Group& inside) {
  const Node* relu6 = made_by(graph, id, ActivationKind::kRelu6);
  const auto sum = relu6 == nullptr ? std::nullopt : offset(graph, relu6->inputs[0]);
  if (!sum || !is_about(sum->by, 3.0)) return std::nullopt;
  inside.add(id);
  inside.add(relu6->inputs[0]);
  return sum->x;
}

std::optional<ValueId> hardsigmoid_argument(const Rewriter& graph, ValueId id, Group& inside) {
  const Node* gate = made_by(graph, id, ActivationKind::kHardSigmoid);
  if (gate == nullptr) return std::nullopt;
  inside.add(id);
  return gate->inputs[0];
}

}  // namespace

bool fold_hard_gate(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (!is(node, BinaryKind::kMul) && !is(node, BinaryKind::kDiv)) return false;
  Group inside;
  const Product factors = product(graph, node, inside);
  if (!factors.complete || factors.factors.empty() || factors.factors.size() > 2) return false;
  const bool sixth = is_about(factors.scalar, 1.0 / 6.0);
  if (!sixth && factors.scalar != 1.0) return false;
  const bool swish = factors.factors.size() == 2;
  for (std::size_t side = 0; side < factors.factors.size(); ++side) {
    Group all = inside;
    const ValueId gate = factors.factors[side];
    const auto x = sixth ? shifted_relu6(graph, gate, all) : hardsigmoid_argument(graph, gate, all);
    if (!x || (!sixth && !swish) || (swish && *x != factors.factors[1 - side]) || !all.closed(graph, node)) continue;
    graph.replace(root, Activation{swish ? ActivationKind::kHardSwish : ActivationKind::kHardSigmoid}, {*x});
    return true;
  }
  return false;
}

}  // namespace joulecast::passes
