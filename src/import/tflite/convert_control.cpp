// SPDX-License-Identifier: Apache-2.0
// Loops, branches, calls, variables, and operators that are not built in.
#include <fmt/format.h>

#include "import/tflite/convert_operators.h"
#include "import/tflite/flex.h"

namespace joulecast::tflite {

namespace {

// States that begin as zeros, as every runtime begins them.
bool is_zeros(OperatorConverter& op, const TensorView& tensor) {
  const bool real = is_floating(tensorflow::element_type(data_type(tensor.type)));
  return tensor.constant && real && op.subgraph().model().is_zeros(tensor.contents);
}

Result<std::string_view> loop_variable(OperatorConverter& op, std::size_t i, bool filled) {
  if (filled) return op.step("TensorListReserve", {});
  if (!is_zeros(op, op.input_tensor(i))) return op.input(i);
  std::vector<std::int32_t> extents;
  for (const std::int64_t extent : op.input_tensor(i).shape) extents.push_back(static_cast<std::int32_t>(extent));
  JC_ASSIGN_OR_RETURN(const std::string_view shape, op.ints(extents));
  JC_ASSIGN_OR_RETURN(const std::string_view zero,
                      op.subgraph().add_constant("zero", 1, {}, std::string_view("\0\0\0\0", 4)));
  return op.step("Fill", {shape, zero});
}

}  // namespace

// The loop's variables. Constants of condition and body come behind them; lists are made tensors again.
Result<void> convert_while(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(const auto* loop, op.subgraph().model().loop(op.options().integer(0), op.options().integer(1)));
  std::vector<std::string_view> inputs;
  std::vector<std::pair<std::int32_t, std::string_view>> lists;
  for (std::size_t i = 0; i < op.op().inputs.size(); ++i) {
    if (!op.has(i)) return invalid(fmt::format("variable {} is missing", i));
    const bool filled = i < loop->filled.size() && loop->filled[i];
    JC_ASSIGN_OR_RETURN(const std::string_view variable, loop_variable(op, i, filled));
    inputs.push_back(variable);
    if (!filled || i >= op.op().outputs.size()) continue;
    const std::string output = fmt::format("{}:{}", op.subgraph().node_name(op.op()), i);
    JC_ASSIGN_OR_RETURN(const std::string_view list, op.step("TensorListStack", {op.subgraph().model().keep(output)}));
    lists.emplace_back(op.op().outputs[i], list);
  }
  for (const ModelConverter::Hoisted& one : loop->hoisted) {
    JC_ASSIGN_OR_RETURN(const std::string_view constant, op.subgraph().add_weight(one.tensor, one.shape));
    inputs.push_back(constant);
  }
  JC_RETURN_IF_ERROR(op.finish("While", std::move(inputs),
                               Attributes().function("cond", loop->condition).function("body", loop->body)));
  for (const auto& [tensor, list] : lists) op.subgraph().rename(tensor, list);
  return {};
}

Result<void> convert_if(OperatorConverter& op) {
  ModelConverter& model = op.subgraph().model();
  JC_ASSIGN_OR_RETURN(const std::string_view then_function, model.function(op.options().integer(0)));
  JC_ASSIGN_OR_RETURN(const std::string_view else_function, model.function(op.options().integer(1)));
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish("If", std::move(inputs),
                   Attributes().function("then_branch", then_function).function("else_branch", else_function));
}

Result<void> convert_call(OperatorConverter& op) {
  const auto place = static_cast<std::int64_t>(op.options().number<std::uint32_t>(0, 0));
  JC_ASSIGN_OR_RETURN(const std::string_view function, op.subgraph().model().function(place));
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish("PartitionedCall", std::move(inputs), Attributes().function("f", function));
}

// Which variable it is tells nothing: its readers declare the shape.
Result<void> convert_variable(OperatorConverter& op) {
  return op.finish("NoOp", {});
}

// What one run leaves for the next: weights are constants here.
Result<void> convert_read_variable(OperatorConverter& op) {
  const TensorView& out = op.output_tensor(0);
  if (!out.known_rank || !checked_elements(out.shape)) return op.opaque("READ_VARIABLE");
  Attributes attributes;
  attributes.type("dtype", data_type(out.type)).shape_list("_output_shapes", {{true, out.shape}}).flag("_state", true);
  JC_ASSIGN_OR_RETURN(const std::string_view handle, op.input(0));
  return op.finish("ReadVariableOp", {handle}, std::move(attributes));
}

// "FlexErf" is TensorFlow's Erf with all its attributes.
Result<void> convert_custom(OperatorConverter& op) {
  std::string_view name = op.op().custom;
  if (name.empty()) name = "CUSTOM";
  const auto bytes = name.starts_with("Flex") ? flex_node(op.op().custom_options) : std::nullopt;
  if (!bytes) return op.opaque(name);
  JC_ASSIGN_OR_RETURN(tensorflow::NodeView node, tensorflow::read_node_def(*bytes));
  JC_ASSIGN_OR_RETURN(node.inputs, op.inputs());
  node.name = op.subgraph().node_name(op.op());
  JC_RETURN_IF_ERROR(op.subgraph().model().count_node(node.inputs.size()));
  op.subgraph().nodes.push_back(std::move(node));
  return {};
}

}  // namespace joulecast::tflite
