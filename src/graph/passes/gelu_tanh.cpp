// SPDX-License-Identifier: Apache-2.0
// GELU by tanh: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), https://arxiv.org/abs/1606.08415. Also with x taken
// out of the sum: sqrt(2 / pi) x (1 + 0.044715 x^2). The cube is a product, as exporters write torch's own gelu; with a
// Pow it is a model's own formula (transformers' NewGELU), which runs as its eight kernels.
#include <algorithm>

#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

constexpr double kSqrtTwoByPi = 0.79788456080286536;
constexpr double kCubeFactor = 0.044715;

// Whether `id` is 0.044715 x^power, the power written as a product.
bool is_power_term(const Rewriter& graph, ValueId id, ValueId x, std::size_t power, Group& inside) {
  const Product term = product(graph, id, inside);
  if (!term.complete || !is_about(term.scalar, kCubeFactor) || term.factors.empty()) return false;
  if (term.factors.size() != power) return false;
  return std::all_of(term.factors.begin(), term.factors.end(), [&](ValueId factor) { return factor == x; });
}

// Whether `id` is x + 0.044715 x^3.
bool is_cubic(const Rewriter& graph, ValueId id, ValueId x, Group& inside) {
  const Node* add = made_by(graph, id, BinaryKind::kAdd);
  const auto cube = add == nullptr ? std::nullopt : other_input(*add, x);
  inside.add(id);
  return cube && is_power_term(graph, *cube, x, 3, inside);
}

// Whether `id` is 1 + 0.044715 x^2.
bool is_quadratic(const Rewriter& graph, ValueId id, ValueId x, Group& inside) {
  const auto sum = offset(graph, id);
  inside.add(id);
  return sum && is_about(sum->by, 1.0) && is_power_term(graph, sum->x, x, 2, inside);
}

bool is_argument(const Rewriter& graph, ValueId id, ValueId x, Group& inside) {
  const Product argument = product(graph, id, inside);
  if (!argument.complete || !is_about(argument.scalar, kSqrtTwoByPi)) return false;
  if (argument.factors.size() == 1) return is_cubic(graph, argument.factors[0], x, inside);
  if (argument.factors.size() != 2) return false;
  const std::size_t other = argument.factors[0] == x ? 1 : 0;
  return argument.factors[1 - other] == x && is_quadratic(graph, argument.factors[other], x, inside);
}

// Whether `id` is 1 + tanh(...) of x.
bool is_gate(const Rewriter& graph, ValueId id, ValueId x, Group& inside) {
  const auto one_more = offset(graph, id);
  if (!one_more || !is_about(one_more->by, 1.0)) return false;
  const Node* tanh = made_by(graph, one_more->x, ActivationKind::kTanh);
  inside.add(id);
  inside.add(one_more->x);
  return tanh != nullptr && is_argument(graph, tanh->inputs[0], x, inside);
}

}  // namespace

bool fold_gelu_tanh(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (!is(node, BinaryKind::kMul) && !is(node, BinaryKind::kDiv)) return false;
  Group inside;
  const Product factors = product(graph, node, inside);
  if (!factors.complete || factors.factors.size() != 2 || !is_about(factors.scalar, 0.5)) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    Group all = inside;
    const ValueId x = factors.factors[1 - side];
    if (!is_gate(graph, factors.factors[side], x, all) || !all.closed(graph, node)) continue;
    graph.replace(root, Activation{ActivationKind::kGeluTanh}, {x});
    return true;
  }
  return false;
}

}  // namespace joulecast::passes
