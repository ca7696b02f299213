// SPDX-License-Identifier: Apache-2.0
// The lowering functions, by family, of what PyTorch has no equal operator for. Each turns one call into operators of
// ours; operators.cpp lists them. An error of kUnsupported leaves the call as it is, under its own name.
#pragma once

#include <type_traits>

#include "import/torch/aten/lowerings.h"

namespace joulecast::paddle {

using aten::Call;
using aten::Integer;

// A vector of numbers, which may be computed.
Result<ValueId> vector_of(Call& call, std::string_view name);
// An axis of x from the front.
Result<std::size_t> axis_of(const Call& call, std::string_view name, std::int64_t axis, std::size_t rank);

// lower_elementwise.cpp
Result<void> lower_binary_of(Call& call, BinaryKind kind);
template <BinaryKind kKind>
Result<void> lower_binary(Call& call) {
  return paddle::lower_binary_of(call, kKind);
}
Result<void> lower_not_equal(Call& call);
Result<void> lower_floor_divide(Call& call);
Result<void> lower_scale(Call& call);
Result<void> lower_increment(Call& call);
Result<void> lower_pow(Call& call);
Result<void> lower_add_n(Call& call);
Result<void> lower_cast(Call& call);
Result<void> lower_dropout(Call& call);
Result<void> lower_gelu(Call& call);
Result<void> lower_swiglu(Call& call);
Result<void> lower_masked_softmax(Call& call);
Result<void> lower_clip(Call& call);
// To or from the element type that the file declares.
Result<void> lower_quantized_of(Call& call, bool back);
template <typename Op>
Result<void> lower_quantized(Call& call) {
  return paddle::lower_quantized_of(call, std::is_same_v<Op, Dequantize>);
}

// lower_conv.cpp
Result<void> lower_conv(Call& call);
Result<void> lower_conv_transpose(Call& call);
Result<void> lower_deformable_conv(Call& call);
Result<void> lower_pool(Call& call);
Result<void> lower_max_pool_with_index(Call& call);
Result<void> lower_grid_sample(Call& call);
Result<void> lower_resize_of(Call& call, ResizeKind kind);
template <ResizeKind kKind>
Result<void> lower_resize(Call& call) {
  return paddle::lower_resize_of(call, kKind);
}

// lower_matmul.cpp
Result<void> lower_matmul(Call& call);
Result<void> lower_dot(Call& call);
Result<void> lower_mul(Call& call);
Result<void> lower_fc(Call& call);
Result<void> lower_flash_attention(Call& call);
Result<void> lower_rnn(Call& call);

// lower_norm.cpp
Result<void> lower_batch_norm(Call& call);
Result<void> lower_layer_norm(Call& call);
Result<void> lower_rms_norm(Call& call);
Result<void> lower_group_norm(Call& call);

// lower_shape.cpp
Result<void> lower_reshape(Call& call);
Result<void> lower_flatten_to_matrix(Call& call);
Result<void> lower_squeeze(Call& call);
Result<void> lower_unsqueeze(Call& call);
Result<void> lower_shape(Call& call);
Result<void> lower_split(Call& call);
Result<void> lower_slice(Call& call);
Result<void> lower_expand(Call& call);
Result<void> lower_expand_as(Call& call);
Result<void> lower_tile(Call& call);
Result<void> lower_pad(Call& call);
Result<void> lower_pad_axes(Call& call);
Result<void> lower_full(Call& call);
Result<void> lower_full_batch_size_like(Call& call);
Result<void> lower_linspace(Call& call);

// lower_index.cpp
Result<void> lower_lookup_table(Call& call);
Result<void> lower_gather(Call& call);
Result<void> lower_gather_nd(Call& call);
Result<void> lower_index_sample(Call& call);
Result<void> lower_scatter_rows(Call& call);
Result<void> lower_scatter_nd(Call& call);
Result<void> lower_one_hot(Call& call);
Result<void> lower_reduce_of(Call& call, ReduceKind kind);
template <ReduceKind kKind>
Result<void> lower_reduce(Call& call) {
  return paddle::lower_reduce_of(call, kKind);
}
Result<void> lower_arg_of(Call& call, ReduceKind kind);
template <ReduceKind kKind>
Result<void> lower_arg(Call& call) {
  return paddle::lower_arg_of(call, kKind);
}
Result<void> lower_argsort(Call& call);
Result<void> lower_cumulate(Call& call);

}  // namespace joulecast::paddle
