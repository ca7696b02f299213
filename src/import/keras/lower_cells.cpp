// SPDX-License-Identifier: Apache-2.0
// Cells: what recurrent layers do in one step. Inputs: x, states. Outputs: the result, then the new states.
#include <fmt/format.h>

#include <algorithm>

#include "import/keras/cells.h"
#include "import/keras/lowerings.h"

namespace joulecast::keras {
namespace {

constexpr std::int64_t kMostUnits = std::int64_t{1} << 24;

Result<std::int64_t> units_of(LayerContext& cell, std::string_view key) {
  JC_ASSIGN_OR_RETURN(const std::int64_t units, cell.integer(key));
  if (units > kMostUnits) return cell.wrong(key, fmt::format("is {}", units));
  return units;
}

Result<void> needs_states(LayerContext& cell, std::size_t count) {
  if (cell.node().input_count() > count) return {};
  return invalid(fmt::format("is called without its {} states", count));
}

Result<Tensor> product(LayerContext& cell, const Tensor& x, const Tensor& weight) {
  return cell.apply("MatMul", {x, weight});
}

Result<Tensor> sum(LayerContext& cell, const Tensor& a, const Tensor& b) {
  return cell.apply("AddV2", {a, b});
}

Result<Tensor> times(LayerContext& cell, const Tensor& a, const Tensor& b) {
  return cell.apply("Mul", {a, b});
}

Result<std::vector<Tensor>> parts_of(LayerContext& cell, const Tensor& x, std::int64_t count) {
  return cell.apply_all("Split", {cell.ints({-1}), x}, Attributes().integer("num_split", count),
                        static_cast<std::size_t>(count));
}

Result<void> finish_states(LayerContext& cell, const std::vector<Tensor>& states) {
  JC_RETURN_IF_ERROR(cell.finish(states[0]));
  for (std::size_t i = 0; i < states.size(); ++i) JC_RETURN_IF_ERROR(cell.node().output(i + 1, states[i]));
  return {};
}

// Of what the four gates are given: input, forget, cell, output.
Result<void> lstm_states(LayerContext& cell, std::vector<Tensor> gates, const Tensor& carry) {
  for (const std::size_t gate : {0U, 1U, 3U}) {
    JC_ASSIGN_OR_RETURN(gates[gate], cell.activate(gates[gate], "recurrent_activation"));
  }
  JC_ASSIGN_OR_RETURN(gates[2], cell.activate(gates[2]));
  JC_ASSIGN_OR_RETURN(const Tensor kept, times(cell, gates[1], carry));
  JC_ASSIGN_OR_RETURN(const Tensor added, times(cell, gates[0], gates[2]));
  JC_ASSIGN_OR_RETURN(const Tensor c, sum(cell, kept, added));
  JC_ASSIGN_OR_RETURN(const Tensor shown, cell.activate(c));
  JC_ASSIGN_OR_RETURN(const Tensor h, times(cell, gates[3], shown));
  return finish_states(cell, {h, c});
}

// x * kernel + h * recurrent_kernel + bias, of `gates` times as many columns as units.
Result<Tensor> gate_inputs(LayerContext& cell, std::int64_t units, std::int64_t gates) {
  JC_ASSIGN_OR_RETURN(const std::int64_t in, cell.extent(cell.input(), -1));
  JC_ASSIGN_OR_RETURN(const bool biased, cell.flag("use_bias", true));
  JC_ASSIGN_OR_RETURN(const Tensor kernel, cell.weight("kernel", Shape{in, gates * units}));
  JC_ASSIGN_OR_RETURN(const Tensor recurrence, cell.weight("recurrent_kernel", Shape{units, gates * units}));
  JC_ASSIGN_OR_RETURN(const Tensor of_x, product(cell, cell.input(0), kernel));
  JC_ASSIGN_OR_RETURN(const Tensor of_h, product(cell, cell.input(1), recurrence));
  JC_ASSIGN_OR_RETURN(const Tensor both, sum(cell, of_x, of_h));
  if (!biased) return both;
  JC_ASSIGN_OR_RETURN(const Tensor bias, cell.weight("bias", Shape{gates * units}));
  return sum(cell, both, bias);
}

}  // namespace

Result<void> lower_simple_cell(LayerContext& cell) {
  JC_RETURN_IF_ERROR(needs_states(cell, 1));
  JC_ASSIGN_OR_RETURN(const std::int64_t units, units_of(cell, "units"));
  JC_ASSIGN_OR_RETURN(const Tensor z, gate_inputs(cell, units, 1));
  JC_ASSIGN_OR_RETURN(const Tensor h, cell.activate(z));
  return finish_states(cell, {h});
}

Result<void> lower_lstm_cell(LayerContext& cell) {
  JC_RETURN_IF_ERROR(needs_states(cell, 2));
  JC_ASSIGN_OR_RETURN(const std::int64_t units, units_of(cell, "units"));
  JC_ASSIGN_OR_RETURN(const Tensor z, gate_inputs(cell, units, 4));
  JC_ASSIGN_OR_RETURN(const std::vector<Tensor> gates, parts_of(cell, z, 4));
  return lstm_states(cell, gates, cell.input(2));
}

namespace {

struct Gru {
  std::int64_t in = 0, units = 0;
  bool biased = true, after = false;  // the reset gate after the product with the state
};

Result<Gru> read_gru(LayerContext& cell) {
  Gru out;
  JC_ASSIGN_OR_RETURN(out.units, units_of(cell, "units"));
  JC_ASSIGN_OR_RETURN(out.in, cell.extent(cell.input(), -1));
  JC_ASSIGN_OR_RETURN(out.biased, cell.flag("use_bias", true));
  JC_ASSIGN_OR_RETURN(out.after, cell.flag("reset_after", false));
  return out;
}

// With a bias of its own, as slices of the file's weights are here.
Result<Tensor> biased_product(LayerContext& cell, const Tensor& x, const std::string& name, const Shape& shape,
                              bool biased) {
  JC_ASSIGN_OR_RETURN(const Tensor weight, cell.weight(name, shape));
  JC_ASSIGN_OR_RETURN(const Tensor out, product(cell, x, weight));
  if (!biased) return out;
  JC_ASSIGN_OR_RETURN(const Tensor bias, cell.weight(name + "/bias", Shape{shape[1]}));
  return sum(cell, out, bias);
}

}  // namespace

// Gates: update, reset, candidate.
Result<void> lower_gru_cell(LayerContext& cell) {
  JC_RETURN_IF_ERROR(needs_states(cell, 1));
  JC_ASSIGN_OR_RETURN(const Gru gru, read_gru(cell));
  const Tensor& h = cell.input(1);
  const std::int64_t units = gru.units;
  const bool biased = gru.biased && gru.after;
  JC_ASSIGN_OR_RETURN(const Tensor of_x,
                      biased_product(cell, cell.input(0), "kernel", Shape{gru.in, 3 * units}, gru.biased));
  JC_ASSIGN_OR_RETURN(const std::vector<Tensor> x, parts_of(cell, of_x, 3));
  const std::int64_t at_once = gru.after ? 3 : 2;
  JC_ASSIGN_OR_RETURN(const Tensor of_h,
                      biased_product(cell, h, "recurrent_kernel", Shape{units, at_once * units}, biased));
  JC_ASSIGN_OR_RETURN(const std::vector<Tensor> y, parts_of(cell, of_h, at_once));
  JC_ASSIGN_OR_RETURN(Tensor z, sum(cell, x[0], y[0]));
  JC_ASSIGN_OR_RETURN(z, cell.activate(z, "recurrent_activation"));
  JC_ASSIGN_OR_RETURN(Tensor r, sum(cell, x[1], y[1]));
  JC_ASSIGN_OR_RETURN(r, cell.activate(r, "recurrent_activation"));
  JC_ASSIGN_OR_RETURN(Tensor candidate, times(cell, r, gru.after ? y[2] : h));
  if (!gru.after) {
    JC_ASSIGN_OR_RETURN(candidate, biased_product(cell, candidate, "candidate_kernel", Shape{units, units}, false));
  }
  JC_ASSIGN_OR_RETURN(candidate, sum(cell, x[2], candidate));
  JC_ASSIGN_OR_RETURN(candidate, cell.activate(candidate));
  JC_ASSIGN_OR_RETURN(const Tensor kept, times(cell, z, h));
  JC_ASSIGN_OR_RETURN(const Tensor rest, cell.apply("Sub", {cell.number(1.0), z}));
  JC_ASSIGN_OR_RETURN(const Tensor added, times(cell, rest, candidate));
  JC_ASSIGN_OR_RETURN(const Tensor out, sum(cell, kept, added));
  return finish_states(cell, {out});
}

// Each gate convolves the input and the state by itself.
Result<void> lower_conv_lstm_cell(LayerContext& cell) {
  JC_RETURN_IF_ERROR(needs_states(cell, 2));
  std::vector<Tensor> gates;
  for (const std::string gate : {"input", "forget", "cell", "output"}) {
    JC_ASSIGN_OR_RETURN(const Tensor of_x, convolved_input(cell, cell.input(0), "kernel/" + gate));
    JC_ASSIGN_OR_RETURN(const Tensor of_h, convolved_state(cell, cell.input(1), "recurrent_kernel/" + gate));
    JC_ASSIGN_OR_RETURN(const Tensor both, sum(cell, of_x, of_h));
    gates.push_back(both);
  }
  return lstm_states(cell, std::move(gates), cell.input(2));
}

// The result of each cell is the input of the next.
Result<void> lower_stacked_cells(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::vector<Layer*> cells, stacked_cells(layer.layer()));
  Tensor x = layer.input();
  std::size_t next = 1;
  std::vector<Tensor> states;
  for (Layer* cell : cells) {
    JC_ASSIGN_OR_RETURN(const std::size_t count, state_count(*cell));
    if (layer.node().input_count() < next + count) return invalid("is called without the states of its cells");
    std::vector<Tensor> inputs{x};
    for (std::size_t i = 0; i < count; ++i) inputs.push_back(layer.input(next++));
    JC_ASSIGN_OR_RETURN(const std::vector<Tensor> made, layer.call(*cell, std::move(inputs)));
    if (made.size() != count + 1) return unsupported("has a cell whose states are not known");
    x = made[0];
    states.insert(states.end(), made.begin() + 1, made.end());
  }
  JC_RETURN_IF_ERROR(layer.finish(x));
  for (std::size_t i = 0; i < states.size(); ++i) JC_RETURN_IF_ERROR(layer.node().output(i + 1, states[i]));
  return {};
}

}  // namespace joulecast::keras
