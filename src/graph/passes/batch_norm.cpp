// SPDX-License-Identifier: Apache-2.0
// Batch normalisation written out over parameters: (x - mean) / sqrt(variance + epsilon); scale and shift follow in
// norm_affine.cpp. x * scale + shift alone, as torchvision's FrozenBatchNorm2d computes it, is what was run and stays.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {

bool fold_batch_norm(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  Group inside;
  const auto quotient = normalised(graph, node, inside);
  const Node* sub = quotient ? made_by(graph, quotient->n, BinaryKind::kSub) : nullptr;
  const auto sum = quotient ? offset(graph, quotient->v) : std::nullopt;
  if (sub == nullptr || !sum) return false;
  const auto mean = channel_vector(graph, sub->inputs[1]);
  const auto variance = channel_vector(graph, sum->x);
  if (!mean || !variance || mean->channels != variance->channels || mean->spatial != variance->spatial) return false;
  const ValueId x = sub->inputs[0];
  inside.add(quotient->n);
  inside.add(quotient->v);
  if (graph.sketch(x).rank != mean->spatial + 2 || !inside.closed(graph, node)) return false;
  graph.replace(root, BatchNorm{}, {x, kNoValue, kNoValue, as_vector(graph, *mean), as_vector(graph, *variance)});
  return true;
}

}  // namespace joulecast::passes
