// SPDX-License-Identifier: Apache-2.0
// Layers over time, and those that repeat another layer.
#include <fmt/format.h>

#include <algorithm>

#include "import/keras/cells.h"
#include "import/keras/lowerings.h"
#include "import/tensorflow/rnn.h"

namespace joulecast::keras {
namespace {

struct Cell {
  RnnKind kind = RnnKind::kLstm;
  std::int64_t gates = 4, units = 1;
  bool two_biases = false;
};

// Of an LSTM or GRU that cuDNN has.
Result<Cell> read_cell(LayerContext& layer) {
  const std::string_view class_name = layer.layer().class_name;
  const bool own = class_name.starts_with("CuDNN");  // of version 2, never anything else
  Cell out = class_name.ends_with("LSTM") ? Cell{RnnKind::kLstm, 4, 1, own} : Cell{RnnKind::kGru, 3, 1, true};
  JC_ASSIGN_OR_RETURN(out.units, layer.integer("units"));
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (out.units > kMost) return layer.wrong("units", fmt::format("is {}", out.units));
  return out;
}

// The name of an activation, whatever form the file has it in.
std::string_view activation_name(const LayerContext& layer, std::string_view key) {
  const Json* found = layer.config().find(key);
  if (found == nullptr) return {};
  if (found->is(JsonKind::kText)) return found->text();
  const Json* config = found->find("config");
  return config == nullptr ? std::string_view() : config->text();
}

// The key that makes Keras run a loop instead of cuDNN's kernel; empty where none does.
Result<std::string_view> rules_cudnn_out(LayerContext& layer) {
  const std::string_view class_name = layer.layer().class_name;
  if (class_name.starts_with("CuDNN")) return std::string_view();
  if (activation_name(layer, "activation") != "tanh") return std::string_view("activation");
  if (activation_name(layer, "recurrent_activation") != "sigmoid") return std::string_view("recurrent_activation");
  JC_ASSIGN_OR_RETURN(const double dropout, layer.real("recurrent_dropout", 0.0));
  if (dropout != 0.0) return std::string_view("recurrent_dropout");
  JC_ASSIGN_OR_RETURN(const bool unroll, layer.flag("unroll", false));
  if (unroll) return std::string_view("unroll");
  JC_ASSIGN_OR_RETURN(const bool biased, layer.flag("use_bias", true));
  if (!biased) return std::string_view("use_bias");
  JC_ASSIGN_OR_RETURN(const bool after, layer.flag("reset_after", false));
  return class_name == "GRU" && !after ? std::string_view("reset_after") : std::string_view();
}

// The weights as the operator has them.
Result<std::vector<ValueId>> weights_of(LayerContext& layer, const Cell& cell, std::int64_t in) {
  const std::int64_t rows = cell.gates * cell.units;
  JC_ASSIGN_OR_RETURN(const Tensor kernel, layer.weight("kernel", Shape{in, rows}));
  JC_ASSIGN_OR_RETURN(const Tensor recurrence, layer.weight("recurrent_kernel", Shape{cell.units, rows}));
  tensorflow::Canvas& canvas = layer.node().canvas();
  std::vector<ValueId> out{canvas.reshaped(*kernel.source, Shape{1, rows, in}),
                           canvas.reshaped(*recurrence.source, Shape{1, rows, cell.units}), kNoValue};
  const std::int64_t elements = cell.two_biases ? 2 * rows : rows;
  const Shape shape = cell.two_biases ? Shape{2, rows} : Shape{rows};
  JC_ASSIGN_OR_RETURN(const Tensor bias, layer.weight("bias", shape));
  out[2] = canvas.reshaped(*bias.source, Shape{1, elements});
  return out;
}

// x [batch, time, in], states [batch, units].
Result<void> recurrent(LayerContext& layer, const Cell& cell) {
  JC_ASSIGN_OR_RETURN(const bool backwards, layer.flag("go_backwards", false));
  JC_ASSIGN_OR_RETURN(const bool sequences, layer.flag("return_sequences", false));
  JC_ASSIGN_OR_RETURN(const bool states, layer.flag("return_state", false));
  JC_ASSIGN_OR_RETURN(const std::int64_t in, layer.extent(layer.input(), -1));
  Tensor x = layer.input();
  if (backwards) {
    JC_ASSIGN_OR_RETURN(x, layer.apply("ReverseV2", {x, layer.ints({1})}));
  }
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> weights, weights_of(layer, cell, in));
  std::vector<ValueId> inputs{layer.plain(x), weights[0], weights[1], weights[2], kNoValue};
  const bool lstm = cell.kind == RnnKind::kLstm;
  for (std::size_t i = 1; i < std::min<std::size_t>(layer.node().input_count(), lstm ? 3 : 2); ++i) {
    inputs.push_back(layer.add(Unsqueeze{{0}}, {layer.plain(layer.input(i))}).id);
  }
  const Rnn op{cell.kind, cell.units, 1, true};
  const auto made = layer.node().steps(op, std::move(inputs), lstm ? 3 : 2, "rnn");
  if (sequences) {
    const Tensor steps = layer.add(Squeeze{{1}}, {made[0]});
    JC_RETURN_IF_ERROR(layer.finish(layer.add(Transpose{{1, 0, 2}}, {steps.id})));
  } else {
    JC_RETURN_IF_ERROR(layer.finish(layer.add(Squeeze{{0}}, {made[1]})));
  }
  for (std::size_t i = 1; states && i < made.size(); ++i) {
    JC_RETURN_IF_ERROR(layer.finish(layer.add(Squeeze{{0}}, {made[i]}), i));
  }
  return {};
}

}  // namespace

namespace {

Result<void> steps_of(LayerContext& layer, Layer& cell, std::string_view why) {
  layer.node().importer().note(tensorflow::told_as_steps(layer.layer().name, layer.layer().class_name, why));
  return lower_steps(layer, cell);
}

}  // namespace

Result<void> lower_recurrent(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  if (rank != 3) return invalid(fmt::format("is called on an input of {} axes", rank));
  if (layer.layer().class_name == "SimpleRNN") return steps_of(layer, layer.layer(), tensorflow::kNeverCudnn);
  JC_ASSIGN_OR_RETURN(const std::string_view key, rules_cudnn_out(layer));
  if (!key.empty()) return steps_of(layer, layer.layer(), fmt::format("its '{}' rules cuDNN's kernel out", key));
  layer.node().importer().note(
      "LSTM and GRU are taken as cuDNN's kernels, which Keras runs on a GPU unless their masks have gaps");
  JC_ASSIGN_OR_RETURN(const Cell cell, read_cell(layer));
  return recurrent(layer, cell);
}

Result<void> lower_conv_lstm(LayerContext& layer) {
  return steps_of(layer, layer.layer(), tensorflow::kNeverCudnn);
}

// RNN around a cell, or around several that are stacked.
Result<void> lower_rnn(LayerContext& layer) {
  const Json* cell = layer.config().find("cell");
  if (cell == nullptr || !cell->is(JsonKind::kObject)) return layer.opaque();
  JC_ASSIGN_OR_RETURN(Layer * part, part_of(layer.layer(), "cell", *cell));
  if (!state_count(*part)) return layer.opaque();
  return steps_of(layer, *part, tensorflow::kNeverCudnn);
}

namespace {

Result<Tensor> merged(LayerContext& layer, std::string_view mode, const Tensor& a, const Tensor& b) {
  if (mode == "concat") return layer.apply("ConcatV2", {a, b, layer.ints({-1})});
  if (mode == "mul") return layer.apply("Mul", {a, b});
  JC_ASSIGN_OR_RETURN(const Tensor sum, layer.apply("AddV2", {a, b}));
  return mode == "ave" ? layer.apply("RealDiv", {sum, layer.number(2.0)}) : Result<Tensor>(sum);
}

}  // namespace

// A layer in both directions. The one that goes back is reversed again, so that steps of equal time meet.
Result<void> lower_bidirectional(LayerContext& layer) {
  const Json* inner = layer.config().find("layer");
  if (inner == nullptr) return layer.wrong("layer", "is missing");
  const Json* other = layer.config().find("backward_layer");
  JC_ASSIGN_OR_RETURN(Layer * forward, part_of(layer.layer(), "forward", *inner));
  JC_ASSIGN_OR_RETURN(Layer * backward, part_of(layer.layer(), "backward", other == nullptr ? *inner : *other));
  const Json* sequences = forward->config->find("return_sequences");
  const Json* goes_back = backward->config->find("go_backwards");
  const bool reversed = goes_back != nullptr && goes_back->truth();
  Tensor x = layer.input();
  JC_ASSIGN_OR_RETURN(const std::vector<Tensor> first, layer.call(*forward, {x}));
  if (!reversed) {
    JC_ASSIGN_OR_RETURN(x, layer.apply("ReverseV2", {x, layer.ints({1})}));
  }
  JC_ASSIGN_OR_RETURN(std::vector<Tensor> second, layer.call(*backward, {x}));
  if (first.empty() || second.empty()) return layer.opaque();
  if (sequences != nullptr && sequences->truth()) {
    JC_ASSIGN_OR_RETURN(second[0], layer.apply("ReverseV2", {second[0], layer.ints({1})}));
  }
  const Json* mode = layer.config().find("merge_mode");
  if (mode == nullptr) {
    JC_RETURN_IF_ERROR(layer.finish(first[0], 0));
    return layer.finish(second[0], 1);
  }
  JC_ASSIGN_OR_RETURN(const Tensor out, merged(layer, mode->text(), first[0], second[0]));
  JC_RETURN_IF_ERROR(layer.finish(out));
  for (std::size_t i = 1; i < first.size(); ++i) JC_RETURN_IF_ERROR(layer.finish(first[i], i));
  for (std::size_t i = 1; i < second.size(); ++i) JC_RETURN_IF_ERROR(layer.finish(second[i], first.size() + i - 1));
  return {};
}

// One that changes its layer in training alone.
Result<void> lower_wrapped(LayerContext& layer) {
  const Json* inner = layer.config().find("layer");
  if (inner == nullptr) return layer.wrong("layer", "is missing");
  JC_ASSIGN_OR_RETURN(Layer * part, part_of(layer.layer(), "layer", *inner));
  JC_ASSIGN_OR_RETURN(const std::vector<Tensor> out, layer.call(*part, layer.node().inputs()));
  for (std::size_t i = 0; i < out.size(); ++i) JC_RETURN_IF_ERROR(layer.finish(out[i], i));
  return {};
}

// Each step by itself: the steps become part of the batch and are parted again.
Result<void> lower_time_distributed(LayerContext& layer) {
  const Json* inner = layer.config().find("layer");
  if (inner == nullptr) return layer.wrong("layer", "is missing");
  JC_ASSIGN_OR_RETURN(Layer * part, part_of(layer.layer(), "layer", *inner));
  const auto by_itself = [&](std::string_view name) { return part->class_name == name; };
  if (by_itself("Dense") || by_itself("Activation") || by_itself("Dropout") || by_itself("ReLU")) {
    JC_ASSIGN_OR_RETURN(const std::vector<Tensor> out, layer.call(*part, {layer.input()}));
    return out.empty() ? layer.opaque() : layer.finish(out[0]);
  }
  const auto shape = layer.extents(layer.input());
  if (!shape || shape->size() < 3 || std::count(shape->begin() + 2, shape->end(), -1) > 0) return layer.opaque();
  IntList flat{-1};
  for (std::size_t i = 2; i < shape->size(); ++i) flat.push_back((*shape)[i]);
  JC_ASSIGN_OR_RETURN(const Tensor steps, layer.apply("Reshape", {layer.input(), layer.ints(std::move(flat))}));
  JC_ASSIGN_OR_RETURN(const std::vector<Tensor> out, layer.call(*part, {steps}));
  const auto made = out.empty() ? std::nullopt : layer.extents(out[0]);
  if (!made || made->empty() || std::count(made->begin() + 1, made->end(), -1) > 0) return layer.opaque();
  if ((*shape)[1] > 0) {
    IntList parted{-1, (*shape)[1]};
    parted.insert(parted.end(), made->begin() + 1, made->end());
    JC_ASSIGN_OR_RETURN(const Tensor whole, layer.apply("Reshape", {out[0], layer.ints(std::move(parted))}));
    return layer.finish(whole);
  }
  const Tensor lead = layer.add(ShapeOf{0, 2, false}, {layer.plain(layer.input())});
  const Tensor rest = layer.ints(IntList(made->begin() + 1, made->end()));
  const Tensor target = layer.add(Concat{0}, {lead.id, layer.plain(rest)});
  return layer.finish(layer.add(Reshape{.allow_zero = true}, {layer.plain(out[0]), target.id}));
}

}  // namespace joulecast::keras
