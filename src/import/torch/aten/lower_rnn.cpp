// SPDX-License-Identifier: Apache-2.0
// lstm.input, gru.input, rnn_tanh.input, rnn_relu.input: all layers in one call, ours are one operator each.
#include <fmt/format.h>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

struct Layers {
  std::vector<ValueId>
      weights;  // a layer and direction: weight, recurrence, [bias, bias of the recurrence], [projection]
  bool biases = true, projects = false, batch_first = false;
  std::int64_t count = 1, directions = 1, hidden = 0;
  double dropout = 0.0;

  [[nodiscard]] std::size_t each() const { return (biases ? 4U : 2U) + (projects ? 1U : 0U); }
};

Result<Layers> read_layers(const Call& call) {
  Layers out;
  JC_ASSIGN_OR_RETURN(out.weights, call.tensors("params"));
  JC_ASSIGN_OR_RETURN(out.biases, call.flag("has_biases", true));
  JC_ASSIGN_OR_RETURN(out.count, call.number("num_layers", 1));
  JC_ASSIGN_OR_RETURN(out.dropout, call.real("dropout", 0.0));
  JC_ASSIGN_OR_RETURN(const bool both, call.flag("bidirectional", false));
  JC_ASSIGN_OR_RETURN(out.batch_first, call.flag("batch_first", false));
  out.directions = both ? 2 : 1;
  const auto fits = [&] {
    const std::size_t each = static_cast<std::size_t>(out.directions) * out.each();
    return out.weights.size() % each == 0 && out.weights.size() / each == static_cast<std::size_t>(out.count);
  };
  out.projects = !fits();
  if (out.count < 1 || !fits()) {
    return unsupported(fmt::format("{} weights for {} layers", out.weights.size(), out.count));
  }
  for (const ValueId id : out.weights) {
    if (id == kNoValue) return call.wrong("params", "has a None");
  }
  // The recurrence, or the projection, has the hidden states along its last axis.
  const TensorType* of_hidden = call.type(out.weights[out.projects ? out.each() - 1 : 1]);
  if (of_hidden == nullptr || of_hidden->shape.size() != 2) return unsupported("weights that are computed");
  out.hidden = of_hidden->shape[1];
  return out;
}

// Weight `which` of a layer, [directions, ...]. The passes make one parameter of it.
ValueId joined(Call& call, const Layers& layers, std::size_t layer, std::size_t which) {
  std::vector<ValueId> parts;
  const auto directions = static_cast<std::size_t>(layers.directions);
  for (std::size_t d = 0; d < directions; ++d) {
    const std::size_t at = (layer * directions + d) * layers.each();
    ValueId part = layers.weights[at + which];
    if (layers.biases && which == 2) part = call.step(Concat{0}, {part, layers.weights[at + 3]}, "biases");
    parts.push_back(call.step(Unsqueeze{{0}}, {part}, "direction"));
  }
  return parts.size() == 1 ? parts[0] : call.step(Concat{0}, std::move(parts), "directions");
}

// [time, directions, batch, hidden] -> [time, batch, directions * hidden].
ValueId beside_each_other(Call& call, ValueId y, std::int64_t directions) {
  if (directions == 1) return call.step(Squeeze{{1}}, {y}, "layer");
  const ValueId turned = call.step(Transpose{{0, 2, 1, 3}}, {y}, "turned");
  return call.step(Reshape{}, {turned, call.int_vector({0, 0, -1})}, "layer");
}

ValueId state_of(Call& call, const Layers& layers, ValueId states, std::int64_t layer) {
  if (states == kNoValue || layers.count == 1) return states;
  const ValueId from = call.int_vector({layer * layers.directions});
  const ValueId to = call.int_vector({(layer + 1) * layers.directions});
  return call.step(Slice{}, {states, from, to, call.int_vector({0})}, "state");
}

Result<std::vector<ValueId>> read_states(const Call& call) {
  JC_ASSIGN_OR_RETURN(std::vector<ValueId> out, call.tensors("hx"));
  out.resize(2, kNoValue);
  return out;
}

Result<void> emit_states(Call& call, std::size_t output, const std::vector<ValueId>& last) {
  if (last.size() == 1) return call.alias(output, last[0]);
  return call.used(output) ? call.emit_output(output, Concat{0}, last) : Result<void>{};
}

}  // namespace

Result<void> lower_rnn_of(Call& call, RnnKind kind) {
  if (call.has("batch_sizes")) return unsupported("a packed sequence");
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(const Layers layers, read_layers(call));
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> states, read_states(call));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (rank != 3) return unsupported("an input without a batch");
  const bool lstm = kind == RnnKind::kLstm;
  if (layers.projects && !lstm) return unsupported("a projection of other than an LSTM");
  if (layers.batch_first) x = call.step(Transpose{{1, 0, 2}}, {x}, "time_first");
  std::vector<ValueId> hidden;
  std::vector<ValueId> cells;
  const Rnn op{kind, layers.hidden, layers.directions, false};
  for (std::int64_t layer = 0; layer < layers.count; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    if (layer > 0 && layers.dropout > 0.0) x = call.step(Dropout{layers.dropout}, {x}, "dropout");
    std::vector<ValueId> inputs{x,
                                joined(call, layers, at, 0),
                                joined(call, layers, at, 1),
                                layers.biases ? joined(call, layers, at, 2) : kNoValue,
                                kNoValue,
                                state_of(call, layers, states[0], layer)};
    if (lstm) inputs.push_back(state_of(call, layers, states[1], layer));
    if (layers.projects) inputs.push_back(joined(call, layers, at, layers.each() - 1));
    const auto made = call.steps(op, std::move(inputs), lstm ? 3 : 2, "rnn");
    x = beside_each_other(call, made[0], layers.directions);
    hidden.push_back(made[1]);
    if (lstm) cells.push_back(made[2]);
  }
  JC_RETURN_IF_ERROR(emit_states(call, 1, hidden));
  if (lstm) JC_RETURN_IF_ERROR(emit_states(call, 2, cells));
  if (!layers.batch_first) return call.alias(0, x);
  return call.emit_output(0, Transpose{{1, 0, 2}}, {x});
}

// lstm_cell, gru_cell and the plain ones: a layer of one step.
Result<void> lower_cell_of(Call& call, RnnKind kind) {
  const bool lstm = kind == RnnKind::kLstm;
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
  std::vector<ValueId> states;
  if (lstm) {
    JC_ASSIGN_OR_RETURN(states, call.tensors("hx"));
  } else {
    JC_ASSIGN_OR_RETURN(states.emplace_back(), call.tensor("hx"));
  }
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("w_ih"));
  JC_ASSIGN_OR_RETURN(const ValueId recurrence, call.tensor("w_hh"));
  const TensorType* type = call.type(recurrence);
  if (type == nullptr || type->shape.size() != 2) return unsupported("weights that are computed");
  const Rnn op{kind, type->shape[1], 1, false};
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (rank != 2) return unsupported("an input without a batch");
  const auto in_front = [&](ValueId id) { return call.step(Unsqueeze{{0}}, {id}, "in_front"); };
  ValueId bias = kNoValue;
  if (call.has("b_ih") && call.has("b_hh")) {
    JC_ASSIGN_OR_RETURN(const ValueId input_bias, call.tensor("b_ih"));
    JC_ASSIGN_OR_RETURN(const ValueId hidden_bias, call.tensor("b_hh"));
    bias = in_front(call.step(Concat{0}, {input_bias, hidden_bias}, "biases"));
  }
  std::vector<ValueId> inputs{in_front(x), in_front(weight), in_front(recurrence), bias, kNoValue};
  for (const ValueId state : states) inputs.push_back(in_front(state));
  const auto made = call.steps(op, std::move(inputs), lstm ? 3 : 2, "cell");
  for (std::size_t i = 0; i < states.size(); ++i) {
    JC_RETURN_IF_ERROR(call.emit_output(i, Squeeze{{0}}, {made[i + 1]}));
  }
  return {};
}

}  // namespace joulecast::aten
