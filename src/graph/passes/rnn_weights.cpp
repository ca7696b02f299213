// SPDX-License-Identifier: Apache-2.0
// The weights of LSTM and GRU: exporters cut torch's parameters into gates, reorder them and put them together again in
// the graph, once for every layer and direction. Nothing of that is run in torch.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// The first parameter behind the slices and concatenations.
ValueId first_parameter(const Rewriter& graph, ValueId id) {
  for (int steps = 0; steps < 16; ++steps) {
    if (graph.is_parameter(id)) return id;
    const Node* node = graph.producer(id);
    if (node == nullptr) return kNoValue;
    id = input(*node, 0);
  }
  return kNoValue;
}

constexpr std::size_t kProjection = 7;

// Shape of input i, as operators.h says it; `parameter` is what the first gate was cut from.
std::optional<Shape> weight_shape(const Rnn& op, std::size_t i, const Shape& parameter) {
  // Anything larger is no layer; and the products below stay small.
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  const bool sensible = op.hidden > 0 && op.hidden < kMost && op.directions > 0 && op.directions <= 2;
  if (!sensible || parameter.empty()) return std::nullopt;
  const std::int64_t gates = gate_count(op.kind) * op.hidden;
  if (i == 3) return Shape{op.directions, 2 * gates};
  if (parameter.size() < 2) return std::nullopt;
  if (i == kProjection) return Shape{op.directions, parameter[parameter.size() - 2], op.hidden};
  return Shape{op.directions, gates, parameter.back()};
}

}  // namespace

bool fold_rnn_weights(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* op = as<Rnn>(node);
  if (op == nullptr) return false;
  std::vector<ValueId> inputs = node.inputs;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (i > 3 && i != kProjection) continue;
    if (inputs[i] == kNoValue || !graph.sketch(inputs[i]).weight || graph.is_parameter(inputs[i])) continue;
    const ValueId parameter = first_parameter(graph, inputs[i]);
    if (parameter == kNoValue) continue;
    const TensorType type = graph.source_type(parameter);
    const auto shape = weight_shape(*op, i, type.shape);
    if (shape) inputs[i] = graph.assembled(inputs[i], parameter, TensorType{type.element, *shape});
  }
  if (inputs == node.inputs) return false;
  graph.replace(root, Rnn{*op}, std::move(inputs));
  return true;
}

}  // namespace joulecast::passes
