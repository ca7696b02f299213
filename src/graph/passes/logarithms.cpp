// SPDX-License-Identifier: Apache-2.0
// Logarithms of what has an operator of its own: log(softmax(x)), log(1 + exp(x)), log(sigmoid(x)).
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

bool fold_softplus(Rewriter& graph, std::size_t root, ValueId exponential, Group inside) {
  const Node* exp = made_by(graph, exponential, UnaryKind::kExp);
  inside.add(exponential);
  if (exp == nullptr || !inside.closed(graph, graph.node(root))) return false;
  graph.replace(root, Activation{ActivationKind::kSoftplus}, {exp->inputs[0]});
  return true;
}

}  // namespace

bool fold_logarithm(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (is(node, UnaryKind::kLog1p)) return fold_softplus(graph, root, node.inputs[0], {});
  if (!is(node, UnaryKind::kLog) || !read_once(graph, node.inputs[0])) return false;
  if (const Node* softmax = made_by<Softmax>(graph, node.inputs[0]);
      softmax != nullptr && !as<Softmax>(*softmax)->log) {
    Softmax log = *as<Softmax>(*softmax);
    log.log = true;
    graph.replace(root, log, {input(*softmax, 0)});
    return true;
  }
  if (const Node* sigmoid = made_by(graph, node.inputs[0], ActivationKind::kSigmoid)) {
    graph.replace(root, Activation{ActivationKind::kLogSigmoid}, {sigmoid->inputs[0]});
    return true;
  }
  const auto one_more = offset(graph, node.inputs[0]);
  if (!one_more || !is_about(one_more->by, 1.0)) return false;
  Group inside;
  inside.add(node.inputs[0]);
  return fold_softplus(graph, root, one_more->x, inside);
}

}  // namespace joulecast::passes
