// SPDX-License-Identifier: Apache-2.0
#include "import/keras/layers.h"

#include <algorithm>
#include <array>

#include "import/keras/lowered.h"
#include "import/keras/operations.h"

namespace joulecast::keras {
namespace {

using tensorflow::OperatorEntry;

Result<void> lower_unknown(LayerContext& layer) {
  return layer.opaque();
}

// Sorted by name.
constexpr auto kLayers = std::to_array<OperatorEntry>({
    {"Activation", 1, lowered<lower_activation>},
    {"ActivityRegularization", 1, lowered<lower_identity>},
    {"Add", 1, merged<"AddV2">},
    {"AdditiveAttention", 1, lowered<lower_additive_attention>},
    {"AlphaDropout", 1, lowered<lower_dropout>},
    {"Attention", 1, lowered<lower_attention>},
    {"Average", 1, lowered<lower_average>},
    {"AveragePooling1D", 1, lowered<lower_average_pool_1d>},
    {"AveragePooling2D", 1, lowered<lower_average_pool_2d>},
    {"AveragePooling3D", 1, lowered<lower_average_pool_3d>},
    {"AvgPool1D", 1, lowered<lower_average_pool_1d>},
    {"AvgPool2D", 1, lowered<lower_average_pool_2d>},
    {"AvgPool3D", 1, lowered<lower_average_pool_3d>},
    {"BatchNormalization", 1, lowered<lower_batch_norm>},
    {"BatchNormalizationV1", 1, lowered<lower_batch_norm>},
    {"Bidirectional", 1, lowered<lower_bidirectional>},
    {"CenterCrop", 1, lowered<lower_center_crop>},
    {"Concatenate", 1, lowered<lower_concatenate>},
    {"Conv1D", 1, lowered<lower_conv_1d>},
    {"Conv1DTranspose", 1, lowered<lower_conv_1d_transpose>},
    {"Conv2D", 1, lowered<lower_conv_2d>},
    {"Conv2DTranspose", 1, lowered<lower_conv_2d_transpose>},
    {"Conv3D", 1, lowered<lower_conv_3d>},
    {"Conv3DTranspose", 1, lowered<lower_conv_3d_transpose>},
    {"ConvLSTM1D", 1, lowered<lower_conv_lstm>},
    {"ConvLSTM2D", 1, lowered<lower_conv_lstm>},
    {"ConvLSTM3D", 1, lowered<lower_conv_lstm>},
    {"ConvLSTMCell", 1, lowered<lower_conv_lstm_cell>},
    {"Convolution1D", 1, lowered<lower_conv_1d>},
    {"Convolution1DTranspose", 1, lowered<lower_conv_1d_transpose>},
    {"Convolution2D", 1, lowered<lower_conv_2d>},
    {"Convolution2DTranspose", 1, lowered<lower_conv_2d_transpose>},
    {"Convolution3D", 1, lowered<lower_conv_3d>},
    {"Convolution3DTranspose", 1, lowered<lower_conv_3d_transpose>},
    {"Cropping1D", 1, lowered<lower_cropping_1d>},
    {"Cropping2D", 1, lowered<lower_cropping_2d>},
    {"Cropping3D", 1, lowered<lower_cropping_3d>},
    {"CuDNNGRU", 1, lowered<lower_recurrent>},
    {"CuDNNLSTM", 1, lowered<lower_recurrent>},
    {"Dense", 1, lowered<lower_dense>},
    {"DepthwiseConv1D", 1, lowered<lower_depthwise_conv_1d>},
    {"DepthwiseConv2D", 1, lowered<lower_depthwise_conv_2d>},
    {"Dot", 1, lowered<lower_dot>},
    {"Dropout", 1, lowered<lower_dropout>},
    {"ELU", 1, lowered<lower_elu>},
    {"EinsumDense", 1, lowered<lower_einsum_dense>},
    {"Embedding", 1, lowered<lower_embedding>},
    {"Flatten", 1, lowered<lower_flatten>},
    {"GRU", 1, lowered<lower_recurrent>},
    {"GRUCell", 1, lowered<lower_gru_cell>},
    {"GaussianDropout", 1, lowered<lower_dropout>},
    {"GaussianNoise", 1, lowered<lower_identity>},
    {"GlobalAveragePooling1D", 1, lowered<lower_global_average_pool>},
    {"GlobalAveragePooling2D", 1, lowered<lower_global_average_pool>},
    {"GlobalAveragePooling3D", 1, lowered<lower_global_average_pool>},
    {"GlobalAvgPool1D", 1, lowered<lower_global_average_pool>},
    {"GlobalAvgPool2D", 1, lowered<lower_global_average_pool>},
    {"GlobalAvgPool3D", 1, lowered<lower_global_average_pool>},
    {"GlobalMaxPool1D", 1, lowered<lower_global_max_pool>},
    {"GlobalMaxPool2D", 1, lowered<lower_global_max_pool>},
    {"GlobalMaxPool3D", 1, lowered<lower_global_max_pool>},
    {"GlobalMaxPooling1D", 1, lowered<lower_global_max_pool>},
    {"GlobalMaxPooling2D", 1, lowered<lower_global_max_pool>},
    {"GlobalMaxPooling3D", 1, lowered<lower_global_max_pool>},
    {"GroupNormalization", 1, lowered<lower_group_norm>},
    {"GroupQueryAttention", 1, lowered<lower_grouped_query_attention>},
    {"GroupedQueryAttention", 1, lowered<lower_grouped_query_attention>},
    {"Identity", 1, lowered<lower_identity>},
    {"InputLayer", 1, lowered<lower_identity>},
    {"LSTM", 1, lowered<lower_recurrent>},
    {"LSTMCell", 1, lowered<lower_lstm_cell>},
    {"LayerNormalization", 1, lowered<lower_layer_norm>},
    {"LayerScale", 1, lowered<lower_layer_scale>},
    {"LeakyReLU", 1, lowered<lower_leaky_relu>},
    {"Masking", 1, lowered<lower_identity>},
    {"MaxPool1D", 1, lowered<lower_max_pool_1d>},
    {"MaxPool2D", 1, lowered<lower_max_pool_2d>},
    {"MaxPool3D", 1, lowered<lower_max_pool_3d>},
    {"MaxPooling1D", 1, lowered<lower_max_pool_1d>},
    {"MaxPooling2D", 1, lowered<lower_max_pool_2d>},
    {"MaxPooling3D", 1, lowered<lower_max_pool_3d>},
    {"Maximum", 1, merged<"Maximum">},
    {"Minimum", 1, merged<"Minimum">},
    {"MultiHeadAttention", 1, lowered<lower_multi_head_attention>},
    {"Multiply", 1, merged<"Mul">},
    {"Normalization", 1, lowered<lower_normalization>},
    {"PReLU", 1, lowered<lower_prelu>},
    {"Permute", 1, lowered<lower_permute>},
    {"RMSNormalization", 1, lowered<lower_layer_norm>},
    {"RNN", 1, lowered<lower_rnn>},
    {"RandomBrightness", 1, lowered<lower_identity>},
    {"RandomContrast", 1, lowered<lower_identity>},
    {"RandomFlip", 1, lowered<lower_identity>},
    {"RandomRotation", 1, lowered<lower_identity>},
    {"RandomTranslation", 1, lowered<lower_identity>},
    {"RandomZoom", 1, lowered<lower_identity>},
    {"ReLU", 1, lowered<lower_relu>},
    {"RepeatVector", 1, lowered<lower_repeat_vector>},
    {"Rescaling", 1, lowered<lower_rescaling>},
    {"Reshape", 1, lowered<lower_reshape>},
    {"Resizing", 1, lowered<lower_resizing>},
    {"SeparableConv1D", 1, lowered<lower_separable_conv_1d>},
    {"SeparableConv2D", 1, lowered<lower_separable_conv_2d>},
    {"SeparableConvolution1D", 1, lowered<lower_separable_conv_1d>},
    {"SeparableConvolution2D", 1, lowered<lower_separable_conv_2d>},
    {"SimpleRNN", 1, lowered<lower_recurrent>},
    {"SimpleRNNCell", 1, lowered<lower_simple_cell>},
    {"Softmax", 1, lowered<lower_softmax>},
    {"SpatialDropout1D", 1, lowered<lower_dropout>},
    {"SpatialDropout2D", 1, lowered<lower_dropout>},
    {"SpatialDropout3D", 1, lowered<lower_dropout>},
    {"SpectralNormalization", 1, lowered<lower_wrapped>},
    {"StackedRNNCells", 1, lowered<lower_stacked_cells>},
    {"Subtract", 1, merged<"Sub">},
    {"SyncBatchNormalization", 1, lowered<lower_batch_norm>},
    {"TFOpLambda", 1, lowered<lower_tensorflow_function>},
    {"TimeDistributed", 1, lowered<lower_time_distributed>},
    {"UpSampling1D", 1, lowered<lower_up_sampling_1d>},
    {"UpSampling2D", 1, lowered<lower_up_sampling_2d>},
    {"UpSampling3D", 1, lowered<lower_up_sampling_3d>},
    {"ZeroPadding1D", 1, lowered<lower_zero_padding_1d>},
    {"ZeroPadding2D", 1, lowered<lower_zero_padding_2d>},
    {"ZeroPadding3D", 1, lowered<lower_zero_padding_3d>},
});

constexpr OperatorEntry kUnknown{"", 0, lowered<lower_unknown>};

}  // namespace

std::span<const OperatorEntry> layer_list() {
  return kLayers;
}

const OperatorEntry* layer_operator(std::string_view name) {
  constexpr std::string_view kPrefix = "keras.";
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  constexpr std::string_view kOperations = "ops.";
  if (name.starts_with(kOperations)) {
    const OperatorEntry* found = find_operation(name.substr(kOperations.size()));
    return found == nullptr ? &kUnknown : found;
  }
  const auto* const it =
      std::lower_bound(kLayers.begin(), kLayers.end(), name,
                       [](const OperatorEntry& entry, std::string_view n) { return entry.name < n; });
  return it != kLayers.end() && it->name == name ? it : &kUnknown;
}

}  // namespace joulecast::keras
