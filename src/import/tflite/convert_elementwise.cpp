// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/convert_operators.h"

namespace joulecast::tflite {

Result<void> convert_same(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish(op.target(), std::move(inputs));
}

Result<void> convert_binary(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish_active(op.options().number<std::uint8_t>(0, 0), op.target(), std::move(inputs));
}

Result<void> convert_cast(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  return op.finish("Cast", {x}, Attributes().type("DstT", data_type(op.output_tensor(0).type)));
}

Result<void> convert_typed(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  const std::int64_t type = data_type(op.output_tensor(0).type);
  return op.finish(op.target(), std::move(inputs),
                   Attributes().type("dtype", type).type("out_type", type).type("output_type", type));
}

// Weights of half precision are stored so and computed with as they are declared here.
Result<void> convert_dequantize(OperatorConverter& op) {
  const bool real = is_floating(tensorflow::element_type(data_type(op.input_tensor(0).type)));
  return real ? convert_cast(op) : convert_typed(op);
}

Result<void> convert_gelu(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  return op.finish("GELU", {x}, Attributes().flag("approximate", op.options().flag(0)));
}

// x / |x| along the last axis, as TensorFlow writes it out.
Result<void> convert_l2_normalization(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  JC_ASSIGN_OR_RETURN(const std::string_view last, op.ints({-1}));
  JC_ASSIGN_OR_RETURN(const std::string_view square, op.step("Square", {x}));
  JC_ASSIGN_OR_RETURN(const std::string_view sum, op.step("Sum", {square, last}, Attributes().flag("keep_dims", true)));
  JC_ASSIGN_OR_RETURN(const std::string_view scale, op.step("Rsqrt", {sum}));
  return op.finish_active(op.options().number<std::uint8_t>(0, 0), "Mul", {x, scale});
}

}  // namespace joulecast::tflite
