// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/tflite/convert_operators.h"

namespace joulecast::tflite {

// x [..., in], weights [out, in], [bias]. Unless its axes are kept, x is made a matrix.
Result<void> convert_fully_connected(OperatorConverter& op) {
  const FlatTable& options = op.options();
  if (options.number<std::uint8_t>(1, 0) != 0) return op.opaque("FULLY_CONNECTED");  // weights shuffled for one CPU
  const Shape& weights = op.input_tensor(1).shape;
  if (weights.size() != 2) return invalid(fmt::format("weights {} are no matrix", text(weights)));
  JC_ASSIGN_OR_RETURN(std::string_view x, op.input(0));
  if (!options.flag(2) && op.input_tensor(0).shape.size() != 2) {
    JC_ASSIGN_OR_RETURN(const std::string_view rows, op.ints({-1, static_cast<std::int32_t>(weights[1])}));
    JC_ASSIGN_OR_RETURN(x, op.step("Reshape", {x, rows}));
  }
  JC_ASSIGN_OR_RETURN(const auto constant, op.subgraph().constant(op.op().inputs[1], Shape{weights[1], weights[0]}));
  std::vector<std::string_view> inputs{x};
  if (constant) inputs.push_back(*constant);
  if (!constant) {
    JC_ASSIGN_OR_RETURN(const std::string_view computed, op.input(1));
    inputs.push_back(computed);
  }
  if (op.has(2)) {
    JC_ASSIGN_OR_RETURN(const std::string_view bias, op.input(2));
    inputs.push_back(bias);
  }
  return op.finish_active(options.number<std::uint8_t>(0, 0), "MatMul", std::move(inputs),
                          Attributes().flag("transpose_b", !constant));
}

Result<void> convert_batch_matmul(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish("BatchMatMulV2", std::move(inputs),
                   Attributes().flag("adj_x", op.options().flag(0)).flag("adj_y", op.options().flag(1)));
}

}  // namespace joulecast::tflite
