// SPDX-License-Identifier: Apache-2.0
// What tests of whole files ask of a graph. Open extents are a batch of 2 and sequences of 12.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "graph/walk.h"
#include "joulecast/cost.h"
#include "joulecast/graph.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast {

template <typename Op>
std::size_t count(const Graph& graph) {
  return static_cast<std::size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                                [](const Node& n) { return std::holds_alternative<Op>(n.op); }));
}

inline std::int64_t parameters(const Graph& graph) {
  std::int64_t out = 0;
  for (const Value& value : graph.values) out += value.kind == ValueKind::kParameter ? value.type.elements() : 0;
  return out;
}

inline constexpr std::int64_t kSteps = 12;  // length of sequences

inline Binding small_sizes(const Graph& graph) {
  Binding out;
  for (const auto& open : unbound_dimensions(graph, out)) out.symbols[open.symbol] = open.axis == 0 ? 2 : kSteps;
  return out;
}

// Of products, as Keras' layers are counted by hand.
inline double product_flops(const Graph& graph, const TypeTable& types) {
  double out = 0.0;
  for (const Node& node : graph.nodes) {
    const bool product = std::holds_alternative<Conv>(node.op) || std::holds_alternative<Linear>(node.op) ||
                         std::holds_alternative<MatMul>(node.op) || std::holds_alternative<Rnn>(node.op) ||
                         std::holds_alternative<Attention>(node.op);
    if (product) out += operator_cost(CostContext(graph, node, types)).forward_flops.value();
    const auto* loop = std::get_if<Loop>(&node.op);
    if (loop == nullptr) continue;
    const auto rounds = static_cast<double>(repetitions(graph, node, types).value_or(0));
    out += rounds * product_flops(graph.bodies[loop->body], types.body(loop->body));
  }
  return out;
}

// Channels first, where the file has them last.
inline Shape channels_first(const Shape& shape) {
  Shape out{shape[0], shape[shape.size() - 1]};
  for (std::size_t i = 1; i + 1 < shape.size(); ++i) out.push_back(shape[i]);
  return out;
}

// The file as predictions see it.
inline Graph simplified_import(const std::filesystem::path& path) {
  auto graph = import_model(path.string());
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? simplify(std::move(*graph)) : Graph{};
}

// `expected` is what the framework counted: FLOPs of products to a share of `tolerance` (null: not counted), the only
// output's shape with its channels last. Every operator is known.
inline void expect_as_counted(const Graph& graph, const nlohmann::json& expected, std::int64_t parameter_count,
                              double tolerance) {
  const auto types = infer_types(graph, small_sizes(graph));
  ASSERT_TRUE(types) << types.error().text();
  EXPECT_EQ(parameters(graph), parameter_count);
  if (const auto& flops = expected["product_flops"]; !flops.is_null()) {
    EXPECT_NEAR(product_flops(graph, *types), flops.get<double>(), tolerance * flops.get<double>());
  }
  ASSERT_EQ(graph.outputs.size(), 1U);
  Shape shape;
  for (const auto& extent : expected["output_shape"]) shape.push_back(extent.get<std::int64_t>());
  EXPECT_EQ(text(types->type(graph.outputs[0]).shape), text(shape.size() == 4 ? channels_first(shape) : shape));
  EXPECT_EQ(count<Opaque>(graph), 0U);
}

}  // namespace joulecast
