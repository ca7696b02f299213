// SPDX-License-Identifier: Apache-2.0
// The functions that turn one operator of TensorFlow Lite into nodes, by family; operators.cpp lists them.
#pragma once

#include "import/tflite/convert.h"

namespace joulecast::tflite {

// convert_elementwise.cpp: what has the same inputs in TensorFlow
Result<void> convert_same(OperatorConverter& op);
Result<void> convert_binary(OperatorConverter& op);  // an activation may follow
Result<void> convert_cast(OperatorConverter& op);
Result<void> convert_typed(OperatorConverter& op);  // the type of the result is an attribute
Result<void> convert_dequantize(OperatorConverter& op);
Result<void> convert_gelu(OperatorConverter& op);
Result<void> convert_l2_normalization(OperatorConverter& op);

// convert_image.cpp
Result<void> convert_conv(OperatorConverter& op);
Result<void> convert_depthwise_conv(OperatorConverter& op);
Result<void> convert_transpose_conv(OperatorConverter& op);
Result<void> convert_conv_3d(OperatorConverter& op);
Result<void> convert_conv_3d_transpose(OperatorConverter& op);
Result<void> convert_pool(OperatorConverter& op);
Result<void> convert_block(OperatorConverter& op);

// convert_matrix.cpp
Result<void> convert_fully_connected(OperatorConverter& op);
Result<void> convert_batch_matmul(OperatorConverter& op);

// convert_shape.cpp
Result<void> convert_reshape(OperatorConverter& op);
Result<void> convert_squeeze(OperatorConverter& op);
Result<void> convert_concatenation(OperatorConverter& op);
Result<void> convert_split(OperatorConverter& op);
Result<void> convert_pack(OperatorConverter& op);
Result<void> convert_unpack(OperatorConverter& op);
Result<void> convert_strided_slice(OperatorConverter& op);
Result<void> convert_gather(OperatorConverter& op);
Result<void> convert_embedding_lookup(OperatorConverter& op);
Result<void> convert_one_hot(OperatorConverter& op);
Result<void> convert_reduce(OperatorConverter& op);

// convert_control.cpp
Result<void> convert_while(OperatorConverter& op);
Result<void> convert_if(OperatorConverter& op);
Result<void> convert_call(OperatorConverter& op);
Result<void> convert_variable(OperatorConverter& op);
Result<void> convert_read_variable(OperatorConverter& op);
Result<void> convert_custom(OperatorConverter& op);

// convert_recurrent.cpp
Result<void> convert_sequence_lstm(OperatorConverter& op);
Result<void> convert_sequence_rnn(OperatorConverter& op);

}  // namespace joulecast::tflite
