// SPDX-License-Identifier: Apache-2.0
// The lowering functions, by family. Each turns one node of TensorFlow into operators of ours; operators.cpp lists
// them.
#pragma once

#include <span>
#include <vector>

#include "import/tensorflow/node_context.h"

namespace joulecast::tensorflow {

// arrange.cpp: tensors that one operator reads, brought into one order of axes.
struct Arranged {
  std::vector<ValueId> values;
  Layout layout;
};
// For operators that broadcast.
Arranged arrange(NodeContext& node, std::span<const Tensor> tensors);
// All of the same rank.
Arranged arrange_equal(NodeContext& node, std::span<const Tensor> tensors);
// `axis` of a tensor counted from the front; nothing where it is not one.
std::optional<std::size_t> axis_of(std::int64_t axis, std::optional<std::size_t> rank);
// One vector entry for each axis of the tensor becomes one for each axis of the value.
ValueId held_vector(NodeContext& node, const Tensor& vector, const Layout& layout, std::size_t rank);

// lower_elementwise.cpp
Result<void> lower_same_shape(NodeContext& node, const Operator& op);
template <UnaryKind kKind>
Result<void> lower_unary(NodeContext& node) {
  return lower_same_shape(node, Unary{kKind});
}
template <ActivationKind kKind>
Result<void> lower_activation(NodeContext& node) {
  return lower_same_shape(node, Activation{kKind});
}
Result<void> lower_binary_of(NodeContext& node, BinaryKind kind);
template <BinaryKind kKind>
Result<void> lower_binary(NodeContext& node) {
  return lower_binary_of(node, kKind);
}
Result<void> lower_not_equal(NodeContext& node);
Result<void> lower_floor_div(NodeContext& node);
Result<void> lower_squared_difference(NodeContext& node);
Result<void> lower_erfc(NodeContext& node);
Result<void> lower_add_n(NodeContext& node);
Result<void> lower_bias_add(NodeContext& node);
Result<void> lower_clip(NodeContext& node);
Result<void> lower_select(NodeContext& node);
Result<void> lower_cast(NodeContext& node);
Result<void> lower_softmax_of(NodeContext& node, bool log);
template <bool kLog>
Result<void> lower_softmax(NodeContext& node) {
  return lower_softmax_of(node, kLog);
}
Result<void> lower_fake_quant(NodeContext& node);

// lower_source.cpp: constants, variables and what passes tensors through
Result<void> lower_const(NodeContext& node);
Result<void> lower_variable(NodeContext& node);
Result<void> lower_read_variable(NodeContext& node);
Result<void> lower_placeholder(NodeContext& node);
Result<void> lower_identity(NodeContext& node);
Result<void> lower_loop_edge(NodeContext& node);
Result<void> lower_identity_n(NodeContext& node);
Result<void> lower_nothing(NodeContext& node);
Result<void> lower_call(NodeContext& node);

// lower_conv.cpp
Result<void> lower_conv(NodeContext& node);
Result<void> lower_depthwise_conv(NodeContext& node);
Result<void> lower_kept(NodeContext& node);
Result<void> lower_conv_backprop(NodeContext& node);
Result<void> lower_pool_of(NodeContext& node, PoolKind kind);
template <PoolKind kKind>
Result<void> lower_pool(NodeContext& node) {
  return lower_pool_of(node, kKind);
}
Result<void> lower_batch_norm(NodeContext& node);
Result<void> lower_resize_of(NodeContext& node, ResizeKind kind);
template <ResizeKind kKind>
Result<void> lower_resize(NodeContext& node) {
  return lower_resize_of(node, kKind);
}
Result<void> lower_pixel_shuffle_of(NodeContext& node, bool inverse);
template <bool kInverse>
Result<void> lower_pixel_shuffle(NodeContext& node) {
  return lower_pixel_shuffle_of(node, kInverse);
}

// lower_matmul.cpp
Result<void> lower_matmul(NodeContext& node);
Result<void> lower_batch_matmul(NodeContext& node);
Result<void> lower_einsum(NodeContext& node);

// lower_reshape.cpp
Result<void> lower_reshape(NodeContext& node);

// lower_shape.cpp: reshaping and moving
Result<void> lower_expand_dims(NodeContext& node);
Result<void> lower_squeeze(NodeContext& node);
Result<void> lower_transpose(NodeContext& node);
Result<void> lower_broadcast_to(NodeContext& node);
Result<void> lower_tile(NodeContext& node);
Result<void> lower_concat(NodeContext& node);
Result<void> lower_pack(NodeContext& node);
Result<void> lower_unpack(NodeContext& node);
Result<void> lower_split(NodeContext& node);
Result<void> lower_split_v(NodeContext& node);
Result<void> lower_pad(NodeContext& node);
Result<void> lower_reverse(NodeContext& node);

// lower_slice.cpp
Result<void> lower_slice(NodeContext& node);
Result<void> lower_strided_slice(NodeContext& node);

// lower_size.cpp: what is computed of shapes
Result<void> lower_shape(NodeContext& node);
Result<void> lower_shape_n(NodeContext& node);
Result<void> lower_size(NodeContext& node);
Result<void> lower_rank(NodeContext& node);
Result<void> lower_range(NodeContext& node);
Result<void> lower_fill(NodeContext& node);
Result<void> lower_fill_like(NodeContext& node);
Result<void> lower_random(NodeContext& node);
Result<void> lower_broadcast_args(NodeContext& node);

// lower_index.cpp
Result<void> lower_triangle(NodeContext& node);
Result<void> lower_gather(NodeContext& node);
Result<void> lower_gather_nd(NodeContext& node);
Result<void> lower_resource_gather(NodeContext& node);
Result<void> lower_one_hot(NodeContext& node);
Result<void> lower_top_k(NodeContext& node);
Result<void> lower_cumulate(NodeContext& node);
Result<void> lower_reduce_of(NodeContext& node, ReduceKind kind);
template <ReduceKind kKind>
Result<void> lower_reduce(NodeContext& node) {
  return lower_reduce_of(node, kKind);
}
Result<void> lower_arg_of(NodeContext& node, ReduceKind kind);
template <ReduceKind kKind>
Result<void> lower_arg(NodeContext& node) {
  return lower_arg_of(node, kKind);
}

// lower_list.cpp: lists of tensors, which loops read and write
Result<void> lower_list_from_tensor(NodeContext& node);
Result<void> lower_list_reserve(NodeContext& node);
Result<void> lower_list_get_item(NodeContext& node);
Result<void> lower_list_set_item(NodeContext& node);
Result<void> lower_list_stack(NodeContext& node);
Result<void> lower_list_length(NodeContext& node);
Result<void> lower_array(NodeContext& node);
Result<void> lower_array_scatter(NodeContext& node);
Result<void> lower_array_read(NodeContext& node);
Result<void> lower_array_write(NodeContext& node);
Result<void> lower_array_gather(NodeContext& node);
Result<void> lower_array_size(NodeContext& node);

// lower_control.cpp
Result<void> lower_while(NodeContext& node);
// Requires: both take as many variables as the node has inputs, and the body returns as many.
Result<void> lower_loop(NodeContext& node, const FunctionView& condition, const FunctionView& body);
Result<void> lower_if(NodeContext& node);

}  // namespace joulecast::tensorflow
