// SPDX-License-Identifier: Apache-2.0
// The list of passes and the walk over the nodes.
#include "graph/passes/passes.h"

#include <array>

#include "joulecast/passes.h"

namespace joulecast {
namespace passes {
namespace {

using Pass = bool (*)(Rewriter&, std::size_t);

// Tried in this order at every node. Larger idioms are made of smaller ones, whose roots come earlier in the graph. A
// line each.
// clang-format off
constexpr std::array kPasses{
    fold_same_type_cast,
    fold_identity_transpose,
    fold_strided_pool,
    fold_quantized_weight,
    fold_decomposed_matmul,
    fold_linear_weight,
    fold_linear_bias,
    fold_conv_bias,
    fold_clip,
    fold_hard_gate,
    fold_gelu,
    fold_gelu_tanh,
    fold_gate,
    fold_logarithm,
    fold_rsqrt,
    fold_layer_norm,
    fold_rms_norm,
    fold_batch_norm,
    fold_applied_norm,
    fold_group_norm,
    fold_norm_cast,
    fold_norm_scale,
    fold_norm_shift,
    fold_layer_norm_channels,
    fold_attention,
    fold_global_pool,
    fold_pixel_shuffle,
    fold_roll,
    fold_rnn_weights,
    fold_indexing,
};
// clang-format on
// A node may be folded more than once: a product becomes a linear, the linear takes its bias. Far above what happens.
constexpr int kMaxFolds = 8;

bool fold_once(Rewriter& rewriter, std::size_t node) {
  for (const Pass pass : kPasses) {
    if (pass(rewriter, node)) return true;
  }
  return false;
}

void fold(Graph& graph) {
  Rewriter rewriter(graph);
  for (std::size_t i = 0; i < rewriter.node_count(); ++i) {
    if (rewriter.dead(i)) continue;
    rewriter.resolve(i);
    for (int folds = 0; folds < kMaxFolds && !rewriter.dead(i) && fold_once(rewriter, i); ++folds) {
    }
    if (!rewriter.dead(i)) rewriter.finish(i);
  }
  rewriter.compact();
}

}  // namespace
}  // namespace passes

Graph simplify(Graph graph) {
  // Bodies nest no deeper than kMaxBodyDepth, yet a worklist asks for no such promise.
  std::vector<Graph*> open{&graph};
  while (!open.empty()) {
    Graph& next = *open.back();
    open.pop_back();
    passes::fold(next);
    for (Graph& body : next.bodies) open.push_back(&body);
  }
  return graph;
}

}  // namespace joulecast
