// SPDX-License-Identifier: Apache-2.0
#include "dataset/operation.h"

#include <fmt/format.h>

namespace joulecast {

ValueId OperationBuilder::add(ValueKind kind, std::string_view prefix, const TensorType& type) {
  Value value;
  value.name = fmt::format("{}{}", prefix, node_.inputs.size());
  value.kind = kind;
  value.type = type;
  const ValueId id = graph_.add_value(std::move(value));
  node_.inputs.push_back(id);
  return id;
}

OperationBuilder& OperationBuilder::input(const Shape& shape, ElementType element) {
  const ValueId id = add(ValueKind::kInput, "x", {element, shape});
  GraphInput input{.value = id, .element = element, .dimensions = {}};
  for (const std::int64_t extent : shape) input.dimensions.push_back({.extent = extent, .symbol = {}});
  graph_.inputs.push_back(std::move(input));
  return *this;
}

OperationBuilder& OperationBuilder::parameter(const Shape& shape, ElementType element) {
  add(ValueKind::kParameter, "w", {element, shape});
  return *this;
}

OperationBuilder& OperationBuilder::scalar(double value) {
  const ValueId id = add(ValueKind::kConstant, "c", {element_, {}});
  graph_.values[index(id)].contents = static_cast<std::uint32_t>(graph_.contents.size());
  graph_.contents.push_back({.ints = {}, .reals = {value}});
  return *this;
}

OperationBuilder& OperationBuilder::integers(IntList values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  const ValueId id = add(ValueKind::kConstant, "c", {ElementType::kInt64, shape});
  graph_.values[index(id)].contents = static_cast<std::uint32_t>(graph_.contents.size());
  graph_.contents.push_back({.ints = {values.begin(), values.end()}, .reals = {}});
  return *this;
}

OperationBuilder& OperationBuilder::no_input() {
  node_.inputs.push_back(kNoValue);
  return *this;
}

Graph OperationBuilder::build(Operator op) && {
  Value out;
  out.name = "y";
  const ValueId id = graph_.add_value(std::move(out));
  node_.op = std::move(op);
  node_.outputs.push_back(id);
  graph_.nodes.push_back(std::move(node_));
  graph_.outputs.push_back(id);
  return std::move(graph_);
}

Graph linear_operation(std::int64_t m, std::int64_t n, std::int64_t k, ElementType element, bool bias) {
  OperationBuilder builder(element);
  builder.input({m, k}).parameter({n, k});
  if (bias) builder.parameter({n});
  return std::move(builder).build(Linear{});
}

Graph linear_operation(std::int64_t m, std::int64_t n, std::int64_t k, ElementType element, ElementType weight) {
  OperationBuilder builder(element);
  builder.input({m, k}).parameter({n, k}, weight);
  return std::move(builder).build(Linear{});
}

Graph attention_operation(const AttentionShape& shape, ElementType element, ElementType kv_element) {
  OperationBuilder builder(element);
  builder.input({shape.batch, shape.heads, shape.queries, shape.head})
      .input({shape.batch, shape.kv_heads, shape.keys, shape.head}, kv_element)
      .input({shape.batch, shape.kv_heads, shape.keys, shape.head}, kv_element);
  return std::move(builder).build(Attention{.causal = shape.causal, .window = shape.window});
}

}  // namespace joulecast
