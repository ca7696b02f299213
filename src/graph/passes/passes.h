// SPDX-License-Identifier: Apache-2.0
// Every pass: tries its idiom with node `root` as the last one and answers whether it folded it.
#pragma once

#include "graph/passes/rewrite.h"

namespace joulecast::passes {

bool fold_same_type_cast(Rewriter& graph, std::size_t root);
bool fold_identity_transpose(Rewriter& graph, std::size_t root);
bool fold_strided_pool(Rewriter& graph, std::size_t root);
bool fold_indexing(Rewriter& graph, std::size_t root);
bool fold_decomposed_matmul(Rewriter& graph, std::size_t root);
bool fold_linear_weight(Rewriter& graph, std::size_t root);
bool fold_linear_bias(Rewriter& graph, std::size_t root);
bool fold_conv_bias(Rewriter& graph, std::size_t root);
bool fold_quantized_weight(Rewriter& graph, std::size_t root);
bool fold_clip(Rewriter& graph, std::size_t root);
bool fold_hard_gate(Rewriter& graph, std::size_t root);
bool fold_gelu(Rewriter& graph, std::size_t root);
bool fold_gelu_tanh(Rewriter& graph, std::size_t root);
bool fold_gate(Rewriter& graph, std::size_t root);
bool fold_logarithm(Rewriter& graph, std::size_t root);
bool fold_rsqrt(Rewriter& graph, std::size_t root);
bool fold_layer_norm(Rewriter& graph, std::size_t root);
bool fold_layer_norm_channels(Rewriter& graph, std::size_t root);
bool fold_rms_norm(Rewriter& graph, std::size_t root);
bool fold_group_norm(Rewriter& graph, std::size_t root);
bool fold_batch_norm(Rewriter& graph, std::size_t root);
bool fold_applied_norm(Rewriter& graph, std::size_t root);
bool fold_norm_cast(Rewriter& graph, std::size_t root);
bool fold_norm_scale(Rewriter& graph, std::size_t root);
bool fold_norm_shift(Rewriter& graph, std::size_t root);
bool fold_attention(Rewriter& graph, std::size_t root);
bool fold_global_pool(Rewriter& graph, std::size_t root);
bool fold_pixel_shuffle(Rewriter& graph, std::size_t root);
bool fold_rnn_weights(Rewriter& graph, std::size_t root);
bool fold_roll(Rewriter& graph, std::size_t root);

}  // namespace joulecast::passes
