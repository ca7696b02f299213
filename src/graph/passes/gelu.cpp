// SPDX-License-Identifier: Apache-2.0
// GELU, exact: 0.5 x (1 + erf(x / sqrt 2)), https://arxiv.org/abs/1606.08415, the factors in any order.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

constexpr double kInverseSqrtTwo = 0.70710678118654752;

// x where `id` is 1 + erf(x / sqrt 2).
std::optional<ValueId> erf_argument(const Rewriter& graph, ValueId id, Group& inside) {
  const auto one_more = offset(graph, id);
  if (!one_more || !is_about(one_more->by, 1.0)) return std::nullopt;
  const Node* erf = made_by(graph, one_more->x, UnaryKind::kErf);
  const auto scale = erf == nullptr ? std::nullopt : scaled(graph, erf->inputs[0]);
  if (!scale || !is_about(scale->by, kInverseSqrtTwo)) return std::nullopt;
  inside.add(id);
  inside.add(one_more->x);
  inside.add(erf->inputs[0]);
  return scale->x;
}

}  // namespace

bool fold_gelu(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (!is(node, BinaryKind::kMul) && !is(node, BinaryKind::kDiv)) return false;
  Group inside;
  const Product factors = product(graph, node, inside);
  if (!factors.complete || factors.factors.size() != 2 || !is_about(factors.scalar, 0.5)) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    Group all = inside;
    const auto x = erf_argument(graph, factors.factors[side], all);
    if (!x || *x != factors.factors[1 - side] || !all.closed(graph, node)) continue;
    graph.replace(root, Activation{ActivationKind::kGelu}, {*x});
    return true;
  }
  return false;
}

}  // namespace joulecast::passes
