// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/tflite/convert.h"

namespace joulecast::tflite {
namespace {

constexpr std::int64_t kInt32 = 3;  // DataType of TensorFlow
constexpr std::int64_t kFloat32 = 1;

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

const TensorView& OperatorConverter::input_tensor(std::size_t i) const {
  return subgraph_.subgraph().tensors[static_cast<std::size_t>(op_.inputs[i])];
}

const TensorView& OperatorConverter::output_tensor(std::size_t i) const {
  return subgraph_.subgraph().tensors[static_cast<std::size_t>(op_.outputs[i])];
}

Result<std::string_view> OperatorConverter::input(std::size_t i) {
  return subgraph_.reference(op_.inputs[i]);
}

Result<std::vector<std::string_view>> OperatorConverter::inputs() {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
    if (!has(i)) continue;
    JC_ASSIGN_OR_RETURN(const std::string_view one, input(i));
    out.push_back(one);
  }
  return out;
}

Result<std::string_view> OperatorConverter::permuted(std::size_t i, const std::vector<std::size_t>& order) {
  const Shape& shape = input_tensor(i).shape;
  if (shape.size() != order.size()) {
    return invalid(fmt::format("input {} has {} axes, {} are needed", i, shape.size(), order.size()));
  }
  Shape wanted;
  for (const std::size_t axis : order) wanted.push_back(shape[axis]);
  JC_ASSIGN_OR_RETURN(const auto constant, subgraph_.constant(op_.inputs[i], wanted));
  if (constant) return *constant;
  JC_ASSIGN_OR_RETURN(const std::string_view computed, input(i));
  JC_ASSIGN_OR_RETURN(const std::string_view axes, ints({order.begin(), order.end()}));
  return step("Transpose", {computed, axes});
}

Result<std::string_view> OperatorConverter::ints(const std::vector<std::int32_t>& values) {
  const std::string name = std::string(subgraph_.node_name(op_)) + "/ints";
  return subgraph_.add_constant(name, kInt32, Shape{static_cast<std::int64_t>(values.size())}, bytes_of(values));
}

Result<std::string_view> OperatorConverter::number(std::int32_t value) {
  return subgraph_.add_constant(std::string(subgraph_.node_name(op_)) + "/int", kInt32, {},
                                bytes_of(std::vector{value}));
}

Result<std::string_view> OperatorConverter::step(std::string_view op, std::vector<std::string_view> inputs,
                                                 Attributes attributes) {
  const std::string_view name = subgraph_.free_name(fmt::format("{}/{}", subgraph_.node_name(op_), op));
  JC_RETURN_IF_ERROR(subgraph_.add(name, op, std::move(inputs), std::move(attributes)));
  return name;
}

Result<void> OperatorConverter::finish(std::string_view op, std::vector<std::string_view> inputs,
                                       Attributes attributes) {
  return subgraph_.add(subgraph_.node_name(op_), op, std::move(inputs), std::move(attributes));
}

Result<void> OperatorConverter::finish_active(std::int64_t activation, std::string_view op,
                                              std::vector<std::string_view> inputs, Attributes attributes) {
  if (activation == 0) return finish(op, std::move(inputs), std::move(attributes));
  JC_ASSIGN_OR_RETURN(const std::string_view x, step(op, std::move(inputs), std::move(attributes)));
  switch (activation) {
    case 1:
      return finish("Relu", {x});
    case 2: {
      const std::string name(subgraph_.node_name(op_));
      JC_ASSIGN_OR_RETURN(const std::string_view low,
                          subgraph_.add_constant(name + "/low", kFloat32, {}, bytes_of(std::vector{-1.0F})));
      JC_ASSIGN_OR_RETURN(const std::string_view high,
                          subgraph_.add_constant(name + "/high", kFloat32, {}, bytes_of(std::vector{1.0F})));
      return finish("ClipByValue", {x, low, high});
    }
    case 3:
      return finish("Relu6", {x});
    case 4:
      return finish("Tanh", {x});
    case 5:
      return finish("Sign", {x});
    default:
      return unsupported(fmt::format("fused activation {}", activation));
  }
}

Result<void> OperatorConverter::opaque(std::string_view name) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> all, inputs());
  std::vector<tensorflow::PartialShape> shapes;
  for (std::size_t i = 0; i < op_.outputs.size(); ++i) {
    shapes.push_back({output_tensor(i).known_rank, output_tensor(i).shape});
  }
  Attributes attributes;
  attributes.type("T", data_type(output_tensor(0).type)).shape_list("_output_shapes", shapes);
  return subgraph_.add(subgraph_.node_name(op_), name, std::move(all), std::move(attributes), true);
}

}  // namespace joulecast::tflite
