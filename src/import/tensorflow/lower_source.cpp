// SPDX-License-Identifier: Apache-2.0
// Constants, variables, and operators that pass tensors through.
#include <fmt/format.h>

#include "import/raw_data.h"
#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

// Weights are parameters. Scalars and integers are constants: no optimizer updates them, whatever kept them as such.
ValueKind kind_of(const TensorType& type) {
  const bool quantized = bit_width(type.element) <= 8 && type.element != ElementType::kBool &&
                         type.elements() > static_cast<std::int64_t>(kMaxKnownElements);
  const bool weight = is_floating(type.element) && !type.shape.empty();
  return weight || quantized ? ValueKind::kParameter : ValueKind::kConstant;
}

Result<TensorType> variable_type(const NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t data_type, node.data_type("dtype", 0));
  JC_ASSIGN_OR_RETURN(const PartialShape shape, node.shape("shape"));
  TensorType out{element_type(data_type), {}};
  if (!shape.known_rank) return unsupported("the shape of the variable is not in the file");
  for (const std::int64_t extent : shape.extents) {
    if (extent < 0) return unsupported("the shape of the variable is not in the file");
    out.shape.push_back(extent);
  }
  return out;
}

}  // namespace

Result<void> lower_const(NodeContext& node) {
  const AttributeView* attribute = node.find("value");
  if (attribute == nullptr) return node.wrong_attribute("value", "is missing");
  JC_ASSIGN_OR_RETURN(const AttributeValue value, read_attribute(attribute->value));
  if (value.kind != AttributeValue::Kind::kTensor) return node.wrong_attribute("value", "is no tensor");
  auto tensor = read_tensor(value.string);
  if (!tensor) return tl::unexpected(std::move(tensor).error().in("attribute 'value'"));
  if (tensor->type.element == ElementType::kUnknown)
    return node.wrong_attribute("value", "has an unknown element type");
  JC_ASSIGN_OR_RETURN(const bool weight, node.flag("_weight", false));  // other files say it, TensorFlow's do not
  const ValueKind kind = weight ? ValueKind::kParameter : kind_of(tensor->type);
  Source source{node.output_name(0), tensor->type, std::move(tensor->contents), kind};
  return node.output(0, Tensor::of(node.importer().add_source(std::move(source))));
}

// VarHandleOp; Variable and VariableV2 are read without another node.
Result<void> lower_variable(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const TensorType type, variable_type(node));
  if (type.element == ElementType::kUnknown) return node.opaque();
  const Source& source = node.importer().add_source({node.output_name(0), type, std::nullopt, kind_of(type)});
  Tensor tensor = Tensor::of(source);
  if (node.node().op == "VarHandleOp") tensor.kind = Tensor::Kind::kHandle;
  return node.output(0, tensor);
}

// A variable that came from nowhere we know has the shape that the reader declares.
Result<void> lower_read_variable(NodeContext& node) {
  Tensor tensor = node.input(0);
  if (tensor.kind == Tensor::Kind::kHandle) {
    tensor.kind = Tensor::Kind::kSource;
    return node.output(0, tensor);
  }
  if (tensor.is_tensor()) return node.output(0, tensor);
  JC_ASSIGN_OR_RETURN(const std::int64_t data_type, node.data_type("dtype", 0));
  JC_ASSIGN_OR_RETURN(const PartialShape shape, node.output_shape(0));
  TensorType type{element_type(data_type), shape.extents};
  if (!shape.known_rank || type.element == ElementType::kUnknown || !checked_elements(type.shape)) {
    return unsupported("reads a variable that the file does not describe");
  }
  JC_ASSIGN_OR_RETURN(const bool state, node.flag("_state", false));  // other files say it, TensorFlow's do not
  const ValueKind kind = state ? ValueKind::kConstant : kind_of(type);
  const Source& source = node.importer().add_source({node.output_name(0), type, std::nullopt, kind});
  return node.output(0, Tensor::of(source));
}

// One that is no input of the network: a flag of training, or a value that is fed by hand.
Result<void> lower_placeholder(NodeContext&) {
  return unsupported("is needed, but is no input of the signature");
}

Result<void> lower_identity(NodeContext& node) {
  return node.output(0, node.input(0));
}

// Of a loop from before TensorFlow 2: its body stands in the graph itself, and nothing says how often it runs.
Result<void> lower_loop_edge(NodeContext& node) {
  node.importer().note("a loop from before TensorFlow 2 is counted as one round of its body");
  return lower_identity(node);
}

Result<void> lower_identity_n(NodeContext& node) {
  for (std::size_t i = 0; i < node.input_count(); ++i) JC_RETURN_IF_ERROR(node.output(i, node.input(i)));
  return {};
}

// What is done for its effect alone.
Result<void> lower_nothing(NodeContext&) {
  return {};
}

Result<void> lower_call(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const FunctionView* function, node.function("f"));
  JC_ASSIGN_OR_RETURN(const auto outputs,
                      node.importer().call(*function, node.inputs(), node.scope(), node.node().name));
  for (std::size_t i = 0; i < outputs.size(); ++i) JC_RETURN_IF_ERROR(node.output(i, outputs[i]));
  return {};
}

}  // namespace joulecast::tensorflow
