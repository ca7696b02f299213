// SPDX-License-Identifier: Apache-2.0
// The lowering functions, by family. Each turns one ONNX node into operators of ours; operators.cpp lists them.
#pragma once

#include "import/onnx/node_context.h"

namespace joulecast::onnx {

// lower_elementwise.cpp
template <UnaryKind kKind>
Result<void> lower_unary(NodeContext& node) {
  return node.emit(Unary{kKind}, {node.input(0)});
}
template <BinaryKind kKind>
Result<void> lower_binary(NodeContext& node) {
  return node.emit(Binary{kKind}, {node.input(0), node.input(1)});
}
template <ActivationKind kKind>
Result<void> lower_activation(NodeContext& node) {
  return node.emit(Activation{kKind}, {node.input(0)});
}
// Max, Min, Sum of any number of inputs.
Result<void> lower_chain_of(NodeContext& node, BinaryKind kind);
template <BinaryKind kKind>
Result<void> lower_chain(NodeContext& node) {
  return lower_chain_of(node, kKind);
}
Result<void> lower_mean(NodeContext& node);
Result<void> lower_mod(NodeContext& node);
Result<void> lower_bit_shift(NodeContext& node);
Result<void> lower_where(NodeContext& node);
Result<void> lower_cast(NodeContext& node);
Result<void> lower_cast_like(NodeContext& node);
Result<void> lower_identity(NodeContext& node);
Result<void> lower_dropout(NodeContext& node);

// lower_activation.cpp
Result<void> lower_clip(NodeContext& node);
Result<void> lower_gelu(NodeContext& node);
Result<void> lower_prelu(NodeContext& node);
Result<void> lower_swish(NodeContext& node);
Result<void> lower_swiglu(NodeContext& node);
Result<void> lower_softmax_of(NodeContext& node, bool log);
template <bool kLog>
Result<void> lower_softmax(NodeContext& node) {
  return lower_softmax_of(node, kLog);
}

// lower_conv.cpp
Result<void> lower_conv(NodeContext& node);
Result<void> lower_conv_transpose(NodeContext& node);
Result<void> lower_deform_conv(NodeContext& node);
Result<void> lower_conv_integer(NodeContext& node);
Result<void> lower_qlinear_conv(NodeContext& node);
Result<void> lower_fused_conv(NodeContext& node);
Result<void> lower_pool_of(NodeContext& node, PoolKind kind);
Result<void> lower_global_pool_of(NodeContext& node, PoolKind kind);
template <PoolKind kKind>
Result<void> lower_pool(NodeContext& node) {
  return lower_pool_of(node, kKind);
}
template <PoolKind kKind>
Result<void> lower_global_pool(NodeContext& node) {
  return lower_global_pool_of(node, kKind);
}

// lower_matmul.cpp
Result<void> lower_matmul(NodeContext& node);
Result<void> lower_gemm(NodeContext& node);
Result<void> lower_matmul_integer(NodeContext& node);
Result<void> lower_qlinear_matmul(NodeContext& node);
Result<void> lower_fused_matmul(NodeContext& node);
Result<void> lower_einsum(NodeContext& node);  // lower_einsum.cpp

// lower_norm.cpp
Result<void> lower_batch_norm(NodeContext& node);
Result<void> lower_layer_norm(NodeContext& node);
Result<void> lower_rms_norm(NodeContext& node);
Result<void> lower_group_norm(NodeContext& node);
Result<void> lower_instance_norm(NodeContext& node);
Result<void> lower_mean_variance_norm(NodeContext& node);
Result<void> lower_lp_norm(NodeContext& node);

// lower_shape.cpp: reshaping and moving
Result<void> lower_reshape(NodeContext& node);
Result<void> lower_flatten(NodeContext& node);
Result<void> lower_squeeze(NodeContext& node);
Result<void> lower_unsqueeze(NodeContext& node);
Result<void> lower_transpose(NodeContext& node);
Result<void> lower_expand(NodeContext& node);
Result<void> lower_tile(NodeContext& node);
Result<void> lower_concat(NodeContext& node);
Result<void> lower_split(NodeContext& node);
Result<void> lower_slice(NodeContext& node);
Result<void> lower_pad(NodeContext& node);
Result<void> lower_shape(NodeContext& node);
Result<void> lower_size(NodeContext& node);
template <bool kInverse>
Result<void> lower_pixel_shuffle(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t factor, node.integer("blocksize"));
  return node.emit(PixelShuffle{factor, kInverse}, {node.input(0)});
}

// lower_index.cpp: gathering, scattering, sorting, sampling
Result<void> lower_gather(NodeContext& node);
Result<void> lower_gather_elements(NodeContext& node);
Result<void> lower_gather_nd(NodeContext& node);
Result<void> lower_scatter_elements(NodeContext& node);
Result<void> lower_scatter_nd(NodeContext& node);
Result<void> lower_one_hot(NodeContext& node);
Result<void> lower_top_k(NodeContext& node);
Result<void> lower_cumulate(NodeContext& node);
Result<void> lower_triangle(NodeContext& node);
Result<void> lower_resize(NodeContext& node);
Result<void> lower_upsample(NodeContext& node);
Result<void> lower_grid_sample(NodeContext& node);

// lower_reduce.cpp
Result<void> lower_reduce_of(NodeContext& node, ReduceKind kind);
Result<void> lower_arg_of(NodeContext& node, ReduceKind kind);
template <ReduceKind kKind>
Result<void> lower_reduce(NodeContext& node) {
  return lower_reduce_of(node, kKind);
}
template <ReduceKind kKind>
Result<void> lower_arg(NodeContext& node) {
  return lower_arg_of(node, kKind);
}

// lower_fill.cpp: tensors made from nothing
Result<void> lower_constant(NodeContext& node);
Result<void> lower_constant_of_shape(NodeContext& node);
Result<void> lower_random(NodeContext& node);
Result<void> lower_random_like(NodeContext& node);
Result<void> lower_range(NodeContext& node);

// lower_quantize.cpp
Result<void> lower_quantize(NodeContext& node);
Result<void> lower_dequantize(NodeContext& node);
Result<void> lower_dynamic_quantize(NodeContext& node);
// Quantised elementwise operators of com.microsoft: a, scale, zero point, b, scale, zero point, ...
template <BinaryKind kKind>
Result<void> lower_qlinear_binary(NodeContext& node) {
  return node.emit(Binary{kKind}, {node.input(0), node.input(3)});
}

// lower_rnn.cpp
Result<void> lower_rnn_of(NodeContext& node, RnnKind kind);
template <RnnKind kKind>
Result<void> lower_rnn(NodeContext& node) {
  return lower_rnn_of(node, kKind);
}

// lower_attention.cpp, lower_contrib.cpp (com.microsoft)
Result<void> lower_attention(NodeContext& node);
Result<void> lower_ms_attention(NodeContext& node);
Result<void> lower_multi_head_attention(NodeContext& node);
Result<void> lower_group_query_attention(NodeContext& node);
Result<void> lower_skip_layer_norm(NodeContext& node);
Result<void> lower_skip_rms_norm(NodeContext& node);
Result<void> lower_embed_layer_norm(NodeContext& node);
Result<void> lower_bias_gelu(NodeContext& node);
Result<void> lower_fast_gelu(NodeContext& node);

// lower_detection.cpp
Result<void> lower_non_max_suppression(NodeContext& node);
Result<void> lower_non_zero(NodeContext& node);
Result<void> lower_roi_align(NodeContext& node);
Result<void> lower_unique(NodeContext& node);

// lower_sequence.cpp
Result<void> lower_sequence_empty(NodeContext& node);
Result<void> lower_sequence_construct(NodeContext& node);
Result<void> lower_sequence_insert(NodeContext& node);
Result<void> lower_sequence_erase(NodeContext& node);
Result<void> lower_sequence_at(NodeContext& node);
Result<void> lower_sequence_length(NodeContext& node);
Result<void> lower_concat_from_sequence(NodeContext& node);
Result<void> lower_split_to_sequence(NodeContext& node);

// lower_control.cpp
Result<void> lower_if(NodeContext& node);
Result<void> lower_loop(NodeContext& node);
Result<void> lower_scan(NodeContext& node);

}  // namespace joulecast::onnx
