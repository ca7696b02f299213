// SPDX-License-Identifier: Apache-2.0
// Walks every operation of a typed graph, those in the bodies of control flow included.
//
//   for_each_operation(graph, types, [&](const Visit& visit) { use(visit.node.op, visit.repetitions); });
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "joulecast/cost.h"
#include "joulecast/graph.h"

namespace joulecast {

// One node where it stands. Valid during the visit only.
struct Visit {
  const Graph& graph;  // the graph or body that holds the node
  const Node& node;
  const TypeTable& types;    // of that graph
  std::int64_t repetitions;  // how often the node runs when the whole graph runs once; saturates
  bool repetitions_known;    // false inside a loop whose trip count depends on data: it counts as 1
};

// How often the body of a Loop or Scan runs; 1 for every other operator. Nothing where it depends on data.
// Requires: types is what infer_types made of this graph.
std::optional<std::int64_t> repetitions(const Graph& graph, const Node& node, const TypeTable& types);

// The body of an If that counts: the one its condition takes where that is known, else the dearer by flops, then bytes.
std::uint32_t counted_body(const Graph& graph, const Node& node, const TypeTable& types);

// In execution order. Control flow nodes are visited before what is inside them. Bodies that never run are left out.
void for_each_operation(const Graph& graph, const TypeTable& types, const std::function<void(const Visit&)>& visitor);

// Running mean and variance of a BatchNorm: in memory like weights, but no optimizer updates them.
bool is_statistic(const Node& node, std::size_t input);

// The costs of all operations, each as often as it runs. Parameters count once each, however often they are read.
Cost total_cost(const Graph& graph, const TypeTable& types);

}  // namespace joulecast
