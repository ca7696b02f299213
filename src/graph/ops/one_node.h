// SPDX-License-Identifier: Apache-2.0
// For tests: a graph of one operator, its types propagated and its cost counted.
//
//   const auto out = run_one_node(Linear{}, {f32({8, 3}), weight({4, 3})});
//   ASSERT_TRUE(out) << out.error().text();
//   EXPECT_EQ(out->shape(), (Shape{8, 4}));
//   EXPECT_EQ(out->cost.forward_flops, Flops{2 * 8 * 4 * 3});
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/cost.h"
#include "joulecast/graph.h"

namespace joulecast {

struct OneNodeInput {
  std::optional<TensorType> type;  // nothing: an optional input that is absent
  bool parameter = false;
  std::optional<Contents> contents;
};

inline OneNodeInput tensor(ElementType element, const Shape& shape) {
  return {TensorType{element, shape}, false, std::nullopt};
}
inline OneNodeInput f32(const Shape& shape) {
  return tensor(ElementType::kFloat32, shape);
}
inline OneNodeInput i64(const Shape& shape) {
  return tensor(ElementType::kInt64, shape);
}
inline OneNodeInput weight(const Shape& shape) {
  return {TensorType{ElementType::kFloat32, shape}, true, std::nullopt};
}
inline OneNodeInput absent() {
  return {};
}
// A vector of known integers.
inline OneNodeInput known(std::vector<std::int64_t> values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  return {TensorType{ElementType::kInt64, shape}, false, Contents{std::move(values), {}}};
}
inline OneNodeInput known_scalar(std::int64_t value) {
  return {TensorType{ElementType::kInt64, {}}, false, Contents{{value}, {}}};
}
inline OneNodeInput known_reals(std::vector<double> values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  return {TensorType{ElementType::kFloat32, shape}, false, Contents{{}, std::move(values)}};
}
inline OneNodeInput known_tensor(ElementType element, const Shape& shape, Contents contents) {
  return {TensorType{element, shape}, false, std::move(contents)};
}

struct OneNodeResult {
  std::vector<TensorType> types;                  // one an output
  std::vector<std::optional<Contents>> contents;  // likewise; nothing where they depend on data
  Cost cost;

  [[nodiscard]] const Shape& shape(std::size_t i = 0) const { return types[i].shape; }
  [[nodiscard]] ElementType element(std::size_t i = 0) const { return types[i].element; }
  // Known integers of output i; empty where nothing is known.
  [[nodiscard]] std::vector<std::int64_t> ints(std::size_t i = 0) const {
    return contents[i] ? contents[i]->ints : std::vector<std::int64_t>{};
  }
};

inline Graph one_node_graph(Operator op, const std::vector<OneNodeInput>& inputs, std::size_t outputs) {
  Graph graph;
  Node node{std::move(op), {}, {}, "node"};
  for (const OneNodeInput& input : inputs) {
    if (!input.type) {
      node.inputs.push_back(kNoValue);
      continue;
    }
    Value value{"x" + std::to_string(graph.values.size()), ValueKind::kInput, *input.type, std::nullopt};
    if (input.parameter) value.kind = ValueKind::kParameter;
    if (input.contents) {
      value.kind = ValueKind::kConstant;
      value.contents = static_cast<std::uint32_t>(graph.contents.size());
      graph.contents.push_back(*input.contents);
    }
    const bool is_input = value.kind == ValueKind::kInput;
    const ValueId id = graph.add_value(std::move(value));
    node.inputs.push_back(id);
    if (!is_input) continue;
    GraphInput graph_input{id, input.type->element, {}};
    for (const std::int64_t extent : input.type->shape) graph_input.dimensions.push_back({extent, ""});
    graph.inputs.push_back(std::move(graph_input));
  }
  for (std::size_t i = 0; i < outputs; ++i) {
    node.outputs.push_back(graph.add_value({"y" + std::to_string(i), ValueKind::kComputed, {}, std::nullopt}));
    graph.outputs.push_back(node.outputs.back());
  }
  graph.nodes.push_back(std::move(node));
  return graph;
}

inline Result<OneNodeResult> run_one_node(Operator op, const std::vector<OneNodeInput>& inputs,
                                          std::size_t outputs = 1) {
  const Graph graph = one_node_graph(std::move(op), inputs, outputs);
  JC_RETURN_IF_ERROR(validate(graph));
  JC_ASSIGN_OR_RETURN(const TypeTable types, infer_types(graph, {}));
  OneNodeResult out;
  for (const ValueId id : graph.nodes[0].outputs) {
    out.types.push_back(types.type(id));
    const Contents* contents = types.known(id);
    out.contents.push_back(contents != nullptr ? std::optional(*contents) : std::nullopt);
  }
  out.cost = operator_cost(CostContext(graph, graph.nodes[0], types));
  return out;
}

// The error's text; empty where the operator accepts its inputs.
inline std::string error_of(Operator op, const std::vector<OneNodeInput>& inputs, std::size_t outputs = 1) {
  const auto out = run_one_node(std::move(op), inputs, outputs);
  return out ? std::string() : out.error().text();
}

// GoogleTest prints shapes and quantities by these; the name is its own.
inline void PrintTo(const Shape& shape, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << text(shape);
}
template <int E, int T, int D, int W>
void PrintTo(Quantity<E, T, D, W> quantity, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << quantity.value();
}

}  // namespace joulecast
