// SPDX-License-Identifier: Apache-2.0
// The lowering functions, by family. Each turns one call of an ATen operator into operators of ours; operators.cpp
// lists them. An error of kUnsupported leaves the call as it is, under its own name.
#pragma once

#include "import/torch/aten/call.h"

namespace joulecast::aten {

// lower_elementwise.cpp
template <UnaryKind kKind>
Result<void> lower_unary(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  return call.emit(Unary{kKind}, {x});
}
Result<void> lower_binary_of(Call& call, BinaryKind kind);
template <BinaryKind kKind>
Result<void> lower_binary(Call& call) {
  return lower_binary_of(call, kKind);
}
Result<void> lower_not_equal(Call& call);
Result<void> lower_reverse_sub(Call& call);
Result<void> lower_divide(Call& call);
Result<void> lower_floor_divide(Call& call);
Result<void> lower_where(Call& call);
Result<void> lower_masked_fill(Call& call);
Result<void> lower_lerp(Call& call);
Result<void> lower_add_product(Call& call);
Result<void> lower_to(Call& call);
Result<void> lower_type_as(Call& call);
template <ElementType kTo>
Result<void> lower_cast(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  return call.emit(Cast{kTo}, {x});
}
Result<void> lower_identity(Call& call);
Result<void> lower_copy(Call& call);
Result<void> lower_dropout(Call& call);
Result<void> lower_nothing(Call& call);
Result<void> lower_log_base_two(Call& call);

// lower_activation.cpp
template <ActivationKind kKind>
Result<void> lower_activation(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  return call.emit(Activation{kKind}, {x});
}
Result<void> lower_clamp(Call& call);
Result<void> lower_hardtanh(Call& call);
Result<void> lower_gelu(Call& call);
Result<void> lower_glu(Call& call);
Result<void> lower_prelu(Call& call);
Result<void> lower_softmax_of(Call& call, bool log);
template <bool kLog>
Result<void> lower_softmax(Call& call) {
  return lower_softmax_of(call, kLog);
}

// lower_conv.cpp
// A list of numbers with one entry an axis, none below 0; a single one stands for all.
Result<Extents> per_axis(const Call& call, std::string_view name, std::size_t axes, std::int64_t absent);
Result<void> lower_conv(Call& call);
Result<void> lower_conv_transpose(Call& call);
Result<void> lower_deform_conv(Call& call);
Result<void> lower_pool_of(Call& call, PoolKind kind, std::size_t axes);
template <PoolKind kKind, std::size_t kAxes>
Result<void> lower_pool(Call& call) {
  return lower_pool_of(call, kKind, kAxes);
}
Result<void> lower_adaptive_pool_of(Call& call, PoolKind kind, std::size_t axes);
template <PoolKind kKind, std::size_t kAxes>
Result<void> lower_adaptive_pool(Call& call) {
  return lower_adaptive_pool_of(call, kKind, kAxes);
}

// lower_matmul.cpp
Result<void> lower_linear(Call& call);
Result<void> lower_matmul(Call& call);
Result<void> lower_add_matmul(Call& call);
Result<void> lower_bilinear(Call& call);
Result<void> lower_trilinear(Call& call);
Result<void> lower_outer(Call& call);
Result<void> lower_grouped_mm(Call& call);
Result<void> lower_cdist(Call& call);
Result<void> lower_pdist(Call& call);
Result<void> lower_einsum(Call& call);

// lower_norm.cpp
Result<void> lower_batch_norm(Call& call);
Result<void> lower_layer_norm(Call& call);
Result<void> lower_rms_norm(Call& call);
Result<void> lower_group_norm(Call& call);
Result<void> lower_instance_norm(Call& call);
Result<void> lower_weight_norm(Call& call);

// lower_attention.cpp
Result<void> lower_attention(Call& call);
Result<void> lower_multi_head_attention(Call& call);
Result<void> lower_encoder_layer(Call& call);

// lower_shape.cpp: other extents for the same elements
Result<void> lower_view(Call& call);
Result<void> lower_view_as(Call& call);
Result<void> lower_flatten(Call& call);
Result<void> lower_unflatten(Call& call);
Result<void> lower_squeeze(Call& call);
Result<void> lower_unsqueeze(Call& call);
Result<void> lower_transpose(Call& call);
Result<void> lower_swap_last(Call& call);
Result<void> lower_permute(Call& call);
Result<void> lower_movedim(Call& call);
Result<void> lower_expand(Call& call);
Result<void> lower_expand_as(Call& call);
Result<void> lower_broadcast_tensors(Call& call);
Result<void> lower_repeat(Call& call);
Result<void> lower_repeat_interleave(Call& call);
Result<void> lower_sym_size(Call& call);
Result<void> lower_sym_numel(Call& call);
Result<void> lower_sym_stride(Call& call);
Result<void> lower_sym_storage_offset(Call& call);

// lower_move.cpp: parts and joins
Result<void> lower_cat(Call& call);
Result<void> lower_stack(Call& call);
Result<void> lower_split(Call& call);
Result<void> lower_split_with_sizes(Call& call);
Result<void> lower_chunk(Call& call);
Result<void> lower_tensor_split(Call& call);
Result<void> lower_unbind(Call& call);
Result<void> lower_slice(Call& call);
Result<void> lower_select(Call& call);
Result<void> lower_narrow(Call& call);
Result<void> lower_diff(Call& call);
Result<void> lower_pad(Call& call);
Result<void> lower_roll(Call& call);
Result<void> lower_flip(Call& call);
Result<void> lower_pixel_shuffle(Call& call);
Result<void> lower_pixel_unshuffle(Call& call);

// lower_loss.cpp
Result<void> lower_cross_entropy(Call& call);
Result<void> lower_nll(Call& call);
Result<void> lower_logistic_loss(Call& call);
Result<void> lower_distance_of(Call& call, UnaryKind each, ReduceKind all);
template <UnaryKind kEach, ReduceKind kAll>
Result<void> lower_distance(Call& call) {
  return lower_distance_of(call, kEach, kAll);
}

// lower_index.cpp: gathering, scattering, sorting
Result<void> lower_embedding(Call& call);
Result<void> lower_embedding_bag(Call& call);
Result<void> lower_index_select(Call& call);
Result<void> lower_gather(Call& call);
Result<void> lower_index(Call& call);
Result<void> lower_index_put(Call& call);
Result<void> lower_scatter(Call& call);
Result<void> lower_index_write(Call& call);
Result<void> lower_masked_scatter(Call& call);
Result<void> lower_histc(Call& call);
Result<void> lower_select_scatter(Call& call);
Result<void> lower_slice_scatter(Call& call);
Result<void> lower_one_hot(Call& call);
Result<void> lower_top_k(Call& call);
Result<void> lower_sort(Call& call);
Result<void> lower_argsort(Call& call);
Result<void> lower_cumulate(Call& call);
Result<void> lower_triangle(Call& call);

// lower_window.cpp: windows and other strided looks
Result<void> lower_im2col(Call& call);
Result<void> lower_col2im(Call& call);
Result<void> lower_unfold(Call& call);
Result<void> lower_diagonal(Call& call);
Result<void> lower_as_strided(Call& call);

// lower_resize.cpp
Result<void> lower_upsample_of(Call& call, ResizeKind kind);
template <ResizeKind kKind>
Result<void> lower_upsample(Call& call) {
  return lower_upsample_of(call, kKind);
}
Result<void> lower_grid_sample(Call& call);
Result<void> lower_affine_grid(Call& call);

// lower_reduce.cpp
Result<void> lower_reduce_of(Call& call, ReduceKind kind);
template <ReduceKind kKind>
Result<void> lower_reduce(Call& call) {
  return lower_reduce_of(call, kKind);
}
Result<void> lower_extreme_of(Call& call, ReduceKind value, ReduceKind place, BinaryKind pair);
Result<void> lower_max(Call& call);
Result<void> lower_min(Call& call);
Result<void> lower_arg_of(Call& call, ReduceKind kind);
template <ReduceKind kKind>
Result<void> lower_arg(Call& call) {
  return lower_arg_of(call, kKind);
}
Result<void> lower_variance_of(Call& call, bool root, bool with_mean);
template <bool kRoot, bool kWithMean>
Result<void> lower_variance(Call& call) {
  return lower_variance_of(call, kRoot, kWithMean);
}
Result<void> lower_vector_norm(Call& call);
Result<void> lower_cosine_similarity(Call& call);

// lower_fill.cpp: tensors made from nothing
Result<void> lower_full_of(Call& call, double value);
template <int kValue>
Result<void> lower_full(Call& call) {
  return lower_full_of(call, kValue);
}
Result<void> lower_full_like_of(Call& call, double value);
template <int kValue>
Result<void> lower_full_like(Call& call) {
  return lower_full_like_of(call, kValue);
}
Result<void> lower_arange(Call& call);
Result<void> lower_linspace(Call& call);
Result<void> lower_scalar_tensor(Call& call);
Result<void> lower_eye(Call& call);

// lower_rnn.cpp
Result<void> lower_rnn_of(Call& call, RnnKind kind);
template <RnnKind kKind>
Result<void> lower_rnn(Call& call) {
  return lower_rnn_of(call, kKind);
}
Result<void> lower_cell_of(Call& call, RnnKind kind);
template <RnnKind kKind>
Result<void> lower_cell(Call& call) {
  return lower_cell_of(call, kKind);
}

// lower_scalar.cpp: arithmetic on extents, as Python does it
Result<void> lower_scalar_binary_of(Call& call, BinaryKind kind);
template <BinaryKind kKind>
Result<void> lower_scalar_binary(Call& call) {
  return lower_scalar_binary_of(call, kKind);
}
template <UnaryKind kKind>
Result<void> lower_scalar_unary(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.operand("a", kNoValue));
  return call.emit(Unary{kKind}, {x});
}
Result<void> lower_scalar_not_equal(Call& call);
Result<void> lower_scalar_floor_divide(Call& call);
Result<void> lower_scalar_divide(Call& call);
Result<void> lower_scalar_whole(Call& call);
Result<void> lower_scalar_float(Call& call);
Result<void> lower_scalar_ite(Call& call);
Result<void> lower_scalar_identity(Call& call);

}  // namespace joulecast::aten
