// SPDX-License-Identifier: Apache-2.0
#include "graph/walk.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"

namespace joulecast {
namespace {

const Contents* known_input(const Node& node, const TypeTable& types, std::size_t i) {
  return i < node.inputs.size() && node.inputs[i] != kNoValue ? types.known(node.inputs[i]) : nullptr;
}

std::optional<std::int64_t> known_integer(const Contents* contents) {
  if (contents == nullptr || contents->ints.size() != 1) return std::nullopt;
  return contents->ints[0];
}

// A body that says at the end of every repetition that it goes on, runs as often as its trip count says; one that
// decides on data may stop before.
bool goes_on(const Graph& graph, const Loop& op, const TypeTable& types) {
  const Graph& body = graph.bodies[op.body];
  if (body.outputs.empty()) return false;
  const auto condition = known_integer(types.body(op.body).known(body.outputs[0]));
  return condition && *condition != 0;
}

std::optional<std::int64_t> loop_trips(const Graph& graph, const Loop& op, const Node& node, const TypeTable& types) {
  const auto condition = known_integer(known_input(node, types, 1));
  if (condition && *condition == 0) return 0;
  const auto trips = known_integer(known_input(node, types, 0));
  // While loops carry INT64_MAX as trip count.
  if (!trips || *trips > kMaxElements) return std::nullopt;
  if (*trips <= 0) return 0;
  const bool starts = condition || node.inputs.size() < 2 || node.inputs[1] == kNoValue;
  return starts && goes_on(graph, op, types) ? trips : std::nullopt;
}

std::optional<std::int64_t> scan_trips(const Scan& op, const Node& node, const TypeTable& types) {
  const auto first = static_cast<std::size_t>(op.states);
  const Shape& shape = types.type(node.inputs[first]).shape;
  return shape.empty() ? std::nullopt : std::optional(shape[0]);
}

Cost scaled(const Cost& cost, double factor) {
  Cost out;
  out.forward_flops = factor * cost.forward_flops;
  out.backward_flops = factor * cost.backward_flops;
  out.forward_read = factor * cost.forward_read;
  out.forward_written = factor * cost.forward_written;
  out.backward_read = factor * cost.backward_read;
  out.backward_written = factor * cost.backward_written;
  out.saved = factor * cost.saved;
  return out;  // without the parameters: running twice does not need them twice
}

class Walk {
 public:
  explicit Walk(const std::function<void(const Visit&)>& visitor) : visitor_(visitor) {}

  void run(const Graph& graph, const TypeTable& types, std::int64_t times, bool known) {
    for (const Node& node : graph.nodes) {
      visitor_(Visit{graph, node, types, times, known});
      inside(graph, node, types, times, known);
    }
  }

 private:
  void inside(const Graph& graph, const Node& node, const TypeTable& types, std::int64_t times, bool known) {
    std::uint32_t body = 0;
    if (std::holds_alternative<If>(node.op)) {
      body = counted_body(graph, node, types);
    } else if (const auto* loop = std::get_if<Loop>(&node.op)) {
      body = loop->body;
    } else if (const auto* scan = std::get_if<Scan>(&node.op)) {
      body = scan->body;
    } else {
      return;
    }
    const auto trips = repetitions(graph, node, types);
    if (trips == 0) return;
    run(graph.bodies[body], types.body(body), saturating_product(times, trips.value_or(1)), known && trips);
  }

  const std::function<void(const Visit&)>& visitor_;
};

// Marks the parameters that this graph and its bodies read and counts them.
void count_parameters(const Graph& graph, Cost& cost) {
  std::vector<bool> used(graph.values.size(), false);
  std::vector<bool> trained(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      used[index(node.inputs[i])] = true;
      if (!is_statistic(node, i)) trained[index(node.inputs[i])] = true;
    }
  }
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (value.kind != ValueKind::kParameter || !used[i]) continue;
    cost.parameters += value.type.bytes();
    if (trained[i]) cost.parameter_count += value.type.elements();
  }
  for (const Graph& body : graph.bodies) count_parameters(body, cost);
}

}  // namespace

bool is_statistic(const Node& node, std::size_t input) {
  return input >= 3 && std::holds_alternative<BatchNorm>(node.op);
}

std::optional<std::int64_t> repetitions(const Graph& graph, const Node& node, const TypeTable& types) {
  if (const auto* op = std::get_if<Loop>(&node.op)) return loop_trips(graph, *op, node, types);
  if (const auto* op = std::get_if<Scan>(&node.op)) return scan_trips(*op, node, types);
  return 1;
}

std::uint32_t counted_body(const Graph& graph, const Node& node, const TypeTable& types) {
  const If& op = std::get<If>(node.op);
  if (const auto condition = known_integer(known_input(node, types, 0))) {
    return *condition != 0 ? op.then_body : op.else_body;
  }
  const auto key = [&](std::uint32_t body) {
    const Cost cost = total_cost(graph.bodies[body], types.body(body));
    return std::pair((cost.forward_flops + cost.backward_flops).value(),
                     (cost.forward_read + cost.forward_written).value());
  };
  return key(op.else_body) > key(op.then_body) ? op.else_body : op.then_body;
}

void for_each_operation(const Graph& graph, const TypeTable& types, const std::function<void(const Visit&)>& visitor) {
  Walk(visitor).run(graph, types, 1, true);
}

Cost total_cost(const Graph& graph, const TypeTable& types) {
  Cost sum;
  for_each_operation(graph, types, [&](const Visit& visit) {
    const Cost cost = operator_cost(CostContext(visit.graph, visit.node, visit.types));
    sum += scaled(cost, static_cast<double>(visit.repetitions));
  });
  count_parameters(graph, sum);
  return sum;
}

}  // namespace joulecast
