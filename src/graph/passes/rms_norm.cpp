// SPDX-License-Identifier: Apache-2.0
// RMSNorm as Llama and T5 write it out in Python: x / sqrt(mean(x * x) + epsilon); the scale follows in
// norm_affine.cpp.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {

bool fold_rms_norm(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  Group inside;
  const auto quotient = normalised(graph, node, inside);
  const auto square = quotient ? mean_square(graph, quotient->v, inside) : std::nullopt;
  if (!square) return false;
  // T5 squares x.to(float32) but divides x itself.
  const Node* cast = made_by<Cast>(graph, square->y);
  const bool cast_inside = cast != nullptr && square->y != quotient->n;
  if (cast_inside) inside.add(square->y);
  const ValueId squared = cast_inside ? input(*cast, 0) : square->y;
  if (squared != quotient->n) return false;
  const auto axes = count_last_axes(square->axes, graph.sketch(squared).rank);
  if (!axes || !inside.closed(graph, node)) return false;
  graph.replace(root, RmsNorm{.axes = *axes, .by_hand = true}, {squared});
  return true;
}

}  // namespace joulecast::passes
