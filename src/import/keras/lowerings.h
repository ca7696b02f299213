// SPDX-License-Identifier: Apache-2.0
// The functions that lower one class of Keras, by family; layers.cpp lists them.
#pragma once

#include "import/keras/layer_context.h"

namespace joulecast::keras {

// lower_conv.cpp
Result<void> lower_conv_1d(LayerContext& layer);
Result<void> lower_conv_2d(LayerContext& layer);
Result<void> lower_conv_3d(LayerContext& layer);
Result<void> lower_conv_1d_transpose(LayerContext& layer);
Result<void> lower_conv_2d_transpose(LayerContext& layer);
Result<void> lower_conv_3d_transpose(LayerContext& layer);
Result<void> lower_depthwise_conv_1d(LayerContext& layer);
Result<void> lower_depthwise_conv_2d(LayerContext& layer);
Result<void> lower_separable_conv_1d(LayerContext& layer);
Result<void> lower_separable_conv_2d(LayerContext& layer);
Result<void> lower_max_pool_1d(LayerContext& layer);
Result<void> lower_max_pool_2d(LayerContext& layer);
Result<void> lower_max_pool_3d(LayerContext& layer);
Result<void> lower_average_pool_1d(LayerContext& layer);
Result<void> lower_average_pool_2d(LayerContext& layer);
Result<void> lower_average_pool_3d(LayerContext& layer);
Result<void> lower_global_average_pool(LayerContext& layer);
Result<void> lower_global_max_pool(LayerContext& layer);
Result<void> lower_pool(LayerContext& layer, std::string_view op);
Result<void> lower_conv_operation(LayerContext& layer);
Result<Tensor> convolved_input(LayerContext& cell, const Tensor& x, const std::string& name);
Result<Tensor> convolved_state(LayerContext& cell, const Tensor& h, const std::string& name);
Result<Shape> conv_lstm_state(LayerContext& layer, const Tensor& x);

// lower_activation.cpp
Result<Tensor> activation_named(LayerContext& layer, const Tensor& x, std::string_view name);
Result<void> lower_activation(LayerContext& layer);
Result<void> lower_activation_class(LayerContext& layer);
Result<void> lower_relu(LayerContext& layer);
Result<void> lower_leaky_relu(LayerContext& layer);
Result<void> lower_elu(LayerContext& layer);
Result<void> lower_prelu(LayerContext& layer);
Result<void> lower_layer_scale(LayerContext& layer);
Result<void> lower_softmax(LayerContext& layer);

// lower_norm.cpp
Result<void> lower_batch_norm(LayerContext& layer);
Result<void> lower_layer_norm(LayerContext& layer);
Result<void> lower_group_norm(LayerContext& layer);
Result<void> lower_rescaling(LayerContext& layer);
Result<void> lower_normalization(LayerContext& layer);

// lower_dense.cpp
Result<void> lower_dense(LayerContext& layer);
Result<void> lower_einsum_dense(LayerContext& layer);
Result<void> lower_multi_head_attention(LayerContext& layer);
Result<void> lower_grouped_query_attention(LayerContext& layer);
Result<void> lower_attention(LayerContext& layer);
Result<void> lower_additive_attention(LayerContext& layer);
Result<void> lower_embedding(LayerContext& layer);

// lower_recurrent.cpp
Result<void> lower_recurrent(LayerContext& layer);
Result<void> lower_rnn(LayerContext& layer);
Result<void> lower_conv_lstm(LayerContext& layer);
Result<void> lower_bidirectional(LayerContext& layer);
Result<void> lower_time_distributed(LayerContext& layer);
Result<void> lower_wrapped(LayerContext& layer);

// lower_cells.cpp
Result<void> lower_simple_cell(LayerContext& cell);
Result<void> lower_lstm_cell(LayerContext& cell);
Result<void> lower_gru_cell(LayerContext& cell);
Result<void> lower_conv_lstm_cell(LayerContext& cell);
Result<void> lower_stacked_cells(LayerContext& layer);

// lower_shape.cpp
Result<void> lower_zero_padding_1d(LayerContext& layer);
Result<void> lower_zero_padding_2d(LayerContext& layer);
Result<void> lower_zero_padding_3d(LayerContext& layer);
Result<void> lower_cropping_1d(LayerContext& layer);
Result<void> lower_cropping_2d(LayerContext& layer);
Result<void> lower_cropping_3d(LayerContext& layer);
Result<void> lower_up_sampling_1d(LayerContext& layer);
Result<void> lower_up_sampling_2d(LayerContext& layer);
Result<void> lower_up_sampling_3d(LayerContext& layer);
Result<void> lower_center_crop(LayerContext& layer);
Result<void> lower_resizing(LayerContext& layer);
Result<void> lower_resize(LayerContext& layer);
Result<void> lower_flatten(LayerContext& layer);
Result<void> lower_reshape(LayerContext& layer);
Result<void> lower_permute(LayerContext& layer);
Result<void> lower_repeat_vector(LayerContext& layer);
Result<void> lower_concatenate(LayerContext& layer);
Result<void> lower_merge(LayerContext& layer, std::string_view op);
Result<void> lower_tensorflow_function(LayerContext& layer);
Result<void> lower_average(LayerContext& layer);
Result<void> lower_dot(LayerContext& layer);
Result<void> lower_dropout(LayerContext& layer);
Result<void> lower_identity(LayerContext& layer);
Result<void> lower_get_item(LayerContext& layer);

// lower_operations.cpp
Result<void> lower_pointwise(LayerContext& layer, std::string_view op);
Result<void> lower_cast(LayerContext& layer);
Result<void> lower_clip(LayerContext& layer);
Result<void> lower_where(LayerContext& layer);
Result<void> lower_reduction(LayerContext& layer, std::string_view op);
Result<void> lower_variance(LayerContext& layer);
Result<void> lower_deviation(LayerContext& layer);
Result<void> lower_log_sum_exp(LayerContext& layer);
Result<void> lower_normalize(LayerContext& layer);
Result<void> lower_arg(LayerContext& layer, std::string_view op);
Result<void> lower_cumulate(LayerContext& layer, std::string_view op);
Result<void> lower_top_k(LayerContext& layer);
Result<void> lower_glu(LayerContext& layer);

// lower_operations_shape.cpp
Result<void> lower_new_shape(LayerContext& layer);
Result<void> lower_ravel(LayerContext& layer);
Result<void> lower_transpose(LayerContext& layer);
Result<void> lower_swap_axes(LayerContext& layer);
Result<void> lower_move_axis(LayerContext& layer);
Result<void> lower_expand_dims(LayerContext& layer);
Result<void> lower_squeeze(LayerContext& layer);
Result<void> lower_stack(LayerContext& layer);
Result<void> lower_unstack(LayerContext& layer);
Result<void> lower_split(LayerContext& layer);
Result<void> lower_slice(LayerContext& layer);
Result<void> lower_take(LayerContext& layer);
Result<void> lower_pad(LayerContext& layer);
Result<void> lower_flip(LayerContext& layer);
Result<void> lower_roll(LayerContext& layer);
Result<void> lower_tile(LayerContext& layer);
Result<void> lower_repeat(LayerContext& layer);
Result<void> lower_broadcast_to(LayerContext& layer);

// lower_operations_nn.cpp
Result<void> lower_einsum(LayerContext& layer);
Result<void> lower_tensordot(LayerContext& layer);
Result<void> lower_dot_operation(LayerContext& layer);
Result<void> lower_one_hot(LayerContext& layer);
Result<void> lower_dot_product_attention(LayerContext& layer);

}  // namespace joulecast::keras
