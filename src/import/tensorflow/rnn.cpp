// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/rnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "import/text.h"

namespace joulecast::tensorflow {
namespace {

std::string_view node_of(std::string_view tensor) {
  return tensor.substr(0, tensor.find(':'));
}

// Looks at the cell: one product of the step's input, one of the state, both with weights from outside.
class CellReader {
 public:
  CellReader(const NodeContext& node, const FunctionView& body) : node_(node), body_(body) {
    for (std::size_t i = 0; i < body.inputs.size(); ++i) arguments_.emplace(body.inputs[i].name, i);
    for (const NodeView& one : body.nodes) nodes_.emplace(one.name, &one);
  }

  std::optional<RnnLayer> run() const {
    std::optional<RnnLayer> out = read_cell();
    if (!out || !is_layer(*out)) return std::nullopt;
    read_biases(*out);
    return out;
  }

  // The sentence for a cell whose loop is no layer; empty where there is no cell.
  [[nodiscard]] std::string steps_told() const {
    std::optional<RnnLayer> cell = read_cell();
    if (!cell || is_layer(*cell)) return {};
    const std::string_view names[] = {"SimpleRNN", "", "GRU", "LSTM"};
    const std::string_view name = cell->gates > 4 ? "" : names[cell->gates - 1];
    return name.empty() ? std::string() : told_as_steps(loop_name(), name, why_no_layer(*cell));
  }

 private:
  std::optional<RnnLayer> read_cell() const {
    RnnLayer out;
    std::size_t products = 0;
    for (const NodeView& one : body_.nodes) {
      if (one.op != "MatMul" || one.inputs.size() < 2) continue;
      if (++products > 2 || !read_product(one, out)) return std::nullopt;
    }
    if (products != 2 || out.weight == nullptr || out.recurrence == nullptr || !read_sizes(out)) return std::nullopt;
    return out;
  }

  // Of one gate, a simple recurrent layer, cuDNN has no kernel that Keras runs.
  bool is_layer(RnnLayer& cell) const {
    return (cell.gates == 4 || cell.gates == 3) && read_states(cell) && cudnn_has(cell);
  }

  // Of loops whose nodes stand in the graph itself, what their nodes' names begin with.
  std::string loop_name() const {
    const std::string_view name = node_.node().name;
    return printable(name.substr(0, name.find("/LoopCond")));
  }

  std::string_view why_no_layer(const RnnLayer& cell) const {
    if (cell.gates == 1) return kNeverCudnn;
    const bool masked = count_of("SelectV2") + count_of("Select") > 0;
    return masked ? "in an exported file a mask rules cuDNN's kernel out, which Keras runs on a GPU unless the mask "
                    "has gaps"
                  : "what its cell computes rules cuDNN's kernel out";
  }

  std::ptrdiff_t count_of(std::string_view op) const {
    return std::count_if(body_.nodes.begin(), body_.nodes.end(), [&](const NodeView& one) { return one.op == op; });
  }

  // Behind what only passes a tensor through; nullptr where that is an argument.
  const NodeView* origin(std::string_view tensor, std::optional<std::size_t>& argument) const {
    for (std::size_t steps = 0; steps <= body_.nodes.size(); ++steps) {
      const std::string_view name = node_of(tensor);
      if (const auto it = arguments_.find(name); it != arguments_.end()) {
        argument = it->second;
        return nullptr;
      }
      const auto it = nodes_.find(name);
      if (it == nodes_.end()) return nullptr;
      const NodeView& one = *it->second;
      const bool passes = one.op == "Identity" || one.op == "ReadVariableOp" || one.op == "Cast";
      if (!passes || one.inputs.empty()) return &one;
      tensor = one.inputs[0];
    }
    return nullptr;
  }

  const Source* source(std::string_view tensor) const {
    std::optional<std::size_t> argument;
    if (origin(tensor, argument) != nullptr || !argument || *argument >= node_.input_count()) return nullptr;
    const Tensor& found = node_.input(*argument);
    const bool weight = found.is_source() || found.kind == Tensor::Kind::kHandle;
    return weight && found.source->kind == ValueKind::kParameter ? found.source : nullptr;
  }

  bool read_product(const NodeView& product, RnnLayer& out) const {
    const Source* weight = source(product.inputs[1]);
    if (weight == nullptr || weight->type.shape.size() != 2) return false;
    std::optional<std::size_t> argument;
    const NodeView* step = origin(product.inputs[0], argument);
    if (step == nullptr && argument) {
      out.state = *argument;
      out.recurrence = weight;
      return node_.input(*argument).is_tensor();
    }
    // Of a list or array, or of a tensor with the steps along its first axis.
    if (step == nullptr || step->inputs.empty()) return false;
    const bool array = step->op == "TensorArrayReadV3" && step->inputs.size() > 2;  // handle, index, flow
    if (!array && step->op != "TensorListGetItem" && step->op != "GatherV2") return false;
    if (origin(step->inputs[array ? 2 : 0], argument) != nullptr || !argument) return false;
    out.list = *argument;
    out.weight = weight;
    const Tensor& list = node_.input(*argument);
    return (list.kind == Tensor::Kind::kList || list.is_value()) && list.id != kNoValue && list.layout.plain();
  }

  static bool read_sizes(RnnLayer& out) {
    const Shape& weight = out.weight->type.shape;
    const Shape& recurrence = out.recurrence->type.shape;
    out.input = weight[0];
    out.hidden = recurrence[0];
    if (out.hidden < 1 || weight[1] != recurrence[1] || weight[1] % out.hidden != 0) return false;
    out.gates = weight[1] / out.hidden;
    out.kind = out.gates == 4 ? RnnKind::kLstm : RnnKind::kGru;
    return out.gates > 0;
  }

  // What Keras asks for before it takes cuDNN's kernel, as far as the body tells: sigmoids at the gates, tanh at the
  // candidate and the cell. Converters put biases where they are not seen.
  bool cudnn_has(const RnnLayer& layer) const {
    const bool lstm = layer.kind == RnnKind::kLstm;
    return count_of("Sigmoid") == (lstm ? 3 : 2) && count_of("Tanh") == (lstm ? 2 : 1);
  }

  // Variables of floating type that the body changes: the state, and of an LSTM the cell.
  bool read_states(RnnLayer& out) const {
    std::size_t states = 0;
    for (std::size_t i = 0; i < node_.input_count(); ++i) {
      const Tensor& tensor = node_.input(i);
      if (!tensor.is_tensor() || !is_floating(node_.canvas().element(tensor)) || passed_through(i)) continue;
      ++states;
      if (i != out.state) out.cell = i;
    }
    const bool lstm = out.kind == RnnKind::kLstm;
    if (!lstm && states == 1) out.cell.reset();
    return states == (lstm ? 2U : 1U) && lstm == out.cell.has_value();
  }

  bool passed_through(std::size_t i) const {
    for (const auto& [name, tensor] : body_.returns) {
      if (i >= body_.outputs.size() || name != body_.outputs[i].name) continue;
      std::optional<std::size_t> argument;
      return origin(tensor, argument) == nullptr && argument == i;
    }
    return false;
  }

  // What else the cell reads from outside, if it is as long as biases are: once, or for input and recurrence each.
  void read_biases(RnnLayer& out) const {
    std::int64_t elements = 0;
    std::vector<const Source*> found;
    for (std::size_t i = 0; i < node_.input_count(); ++i) {
      const Tensor& tensor = node_.input(i);
      if (tensor.source == nullptr || tensor.source->kind != ValueKind::kParameter) continue;
      if (tensor.source == out.weight || tensor.source == out.recurrence) continue;
      found.push_back(tensor.source);
      elements += tensor.source->type.elements();
    }
    const std::int64_t rows = out.weight->type.shape[1];
    if (elements == rows || elements == 2 * rows) out.biases = found;
  }

  const NodeContext& node_;
  const FunctionView& body_;
  std::unordered_map<std::string_view, std::size_t> arguments_;
  std::unordered_map<std::string_view, const NodeView*> nodes_;
};

// The biases as one weight [1, elements].
ValueId bias_value(NodeContext& node, const RnnLayer& layer) {
  if (layer.biases.empty()) return kNoValue;
  std::int64_t elements = 0;
  for (const Source* source : layer.biases) elements += source->type.elements();
  const Shape shape{1, elements};
  if (layer.biases.size() == 1) return node.canvas().reshaped(*layer.biases[0], shape);
  Source whole{layer.biases[0]->name, {layer.biases[0]->type.element, shape}, std::nullopt, ValueKind::kParameter};
  return node.canvas().reshaped(node.importer().add_source(std::move(whole)), shape);
}

// States of zeros are what every runtime begins with.
ValueId initial_state(NodeContext& node, std::size_t i) {
  const ValueId id = node.value(i);
  const Node* producer = node.canvas().producer(id);
  const auto* fill = producer == nullptr ? nullptr : std::get_if<Fill>(&producer->op);
  if (fill != nullptr && fill->value == 0.0) return kNoValue;
  return node.step(Unsqueeze{{0}}, {id}, "state");
}

// The input with the batch first, where it was only transposed for the loop.
ValueId batch_first_input(const NodeContext& node, ValueId x) {
  const Node* producer = node.canvas().producer(x);
  const auto* transpose = producer == nullptr ? nullptr : std::get_if<Transpose>(&producer->op);
  return transpose != nullptr && transpose->order == IntList{1, 0, 2} ? producer->inputs[0] : kNoValue;
}

}  // namespace

std::string told_as_steps(std::string_view name, std::string_view kind, std::string_view why) {
  return fmt::format("'{}' ({}) is a loop over its steps: {}", name, kind, why);
}

std::string steps_told(const NodeContext& node, const FunctionView& body) {
  return CellReader(node, body).steps_told();
}

std::optional<RnnLayer> find_rnn(const NodeContext& node, const FunctionView& body) {
  return CellReader(node, body).run();
}

Result<void> emit_rnn(NodeContext& node, const RnnLayer& layer) {
  node.importer().note(
      "loops that are an LSTM or GRU are taken as cuDNN's kernels, which Keras runs where it has a GPU; TensorFlow "
      "runs those of a file that was exported without one step by step");
  const Shape& weight = layer.weight->type.shape;
  ValueId x = node.input(layer.list).id;
  const ValueId batch_first = batch_first_input(node, x);
  if (batch_first != kNoValue) x = batch_first;
  const bool lstm = layer.kind == RnnKind::kLstm;
  std::vector<ValueId> inputs{x,
                              node.canvas().reshaped(*layer.weight, Shape{1, weight[1], layer.input}),
                              node.canvas().reshaped(*layer.recurrence, Shape{1, weight[1], layer.hidden}),
                              bias_value(node, layer),
                              kNoValue,
                              initial_state(node, layer.state)};
  if (lstm) inputs.push_back(initial_state(node, *layer.cell));
  const Rnn op{layer.kind, layer.hidden, 1, batch_first != kNoValue};
  const auto made = node.steps(op, std::move(inputs), lstm ? 3 : 2, "rnn");
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const Tensor& before = node.input(i);
    Tensor after = before;
    if (before.kind == Tensor::Kind::kList && before.id == kNoValue) {
      after = Tensor::value(node.step(Squeeze{{1}}, {made[0]}, "steps"));
      after.kind = Tensor::Kind::kList;
    } else if (i == layer.state) {
      after = Tensor::value(node.step(Squeeze{{0}}, {made[1]}, "last"));
    } else if (lstm && i == *layer.cell) {
      after = Tensor::value(node.step(Squeeze{{0}}, {made[2]}, "cell"));
    }
    JC_RETURN_IF_ERROR(node.output(i, after));
  }
  return {};
}

}  // namespace joulecast::tensorflow
