// SPDX-License-Identifier: Apache-2.0
// Recurrent layers as TensorFlow runs them where cuDNN has no such layer: a loop over time, lowered as one of its
// files.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/keras/cells.h"
#include "import/keras/lowerings.h"

namespace joulecast::keras {
namespace {

using tensorflow::FunctionView;
using tensorflow::NodeView;

struct CellClass {
  std::string_view layer, cell;
};
constexpr std::array kCells{
    CellClass{"ConvLSTM1D", "ConvLSTMCell"},
    CellClass{"ConvLSTM2D", "ConvLSTMCell"},
    CellClass{"ConvLSTM3D", "ConvLSTMCell"},
    CellClass{"GRU", "GRUCell"},
    CellClass{"GRUCell", "GRUCell"},
    CellClass{"LSTM", "LSTMCell"},
    CellClass{"LSTMCell", "LSTMCell"},
    CellClass{"SimpleRNN", "SimpleRNNCell"},
    CellClass{"SimpleRNNCell", "SimpleRNNCell"},
    CellClass{"StackedRNNCells", "StackedRNNCells"},
};

}  // namespace

std::string_view cell_class(std::string_view class_name) {
  const auto* const it =
      std::find_if(kCells.begin(), kCells.end(), [&](const CellClass& one) { return one.layer == class_name; });
  return it == kCells.end() ? std::string_view() : it->cell;
}

Result<std::vector<Layer*>> stacked_cells(Layer& layer) {
  constexpr std::size_t kMostCells = 1000;
  JC_ASSIGN_OR_RETURN(const auto members, layer.config->array("cells"));
  if (members.empty() || members.size() > kMostCells) return unsupported(fmt::format("has {} cells", members.size()));
  std::vector<Layer*> out;
  for (std::size_t i = 0; i < members.size(); ++i) {
    JC_ASSIGN_OR_RETURN(Layer * cell, part_of(layer, fmt::format("cell_{}", i), members[i].value));
    out.push_back(cell);
  }
  return out;
}

namespace {

// The extents of each state, batch aside.
Result<std::vector<Shape>> state_shapes(LayerContext& layer, Layer& cell, const Tensor& x) {
  const std::string_view kind = cell_class(cell.class_name);
  std::vector<Shape> out;
  if (kind == "StackedRNNCells") {
    JC_ASSIGN_OR_RETURN(const std::vector<Layer*> cells, stacked_cells(cell));
    for (Layer* one : cells) {
      JC_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, state_shapes(layer, *one, x));
      out.insert(out.end(), shapes.begin(), shapes.end());
    }
    return out;
  }
  if (kind == "ConvLSTMCell") {
    JC_ASSIGN_OR_RETURN(const Shape image, conv_lstm_state(layer, x));
    return std::vector<Shape>(2, image);
  }
  JC_ASSIGN_OR_RETURN(const std::int64_t units, cell.config->integer("units"));
  if (units < 1 || units > kMaxElements) return invalid(fmt::format("has a cell of {} units", units));
  return std::vector<Shape>(kind == "LSTMCell" ? 2 : 1, Shape{units});
}

// Zeros [batch, ...].
Tensor zero_state(LayerContext& layer, const Tensor& x, const Shape& extents) {
  const Tensor batch = layer.add(ShapeOf{0, 1, false}, {layer.plain(x)});
  const Tensor rest = layer.ints(IntList(extents.begin(), extents.end()));
  const Tensor shape = layer.add(Concat{0}, {batch.id, layer.plain(rest)});
  return layer.add(Fill{layer.node().canvas().element(x), 0.0}, {shape.id});
}

// Axes 0 and 1 changed.
Result<Tensor> turned(LayerContext& layer, const Tensor& x) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(x));
  IntList order;
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i < 2 ? 1 - i : i));
  return layer.apply("Transpose", {x, layer.ints(std::move(order))});
}

constexpr std::size_t kStates = 4;  // variables before the states

// The functions of the loop. Variables: time, steps, the list of inputs, that of outputs, states.
class LoopFunctions {
 public:
  LoopFunctions(Layer& cell, std::string_view name, std::size_t states) : call_{&cell, nullptr, {}} {
    condition.name = body.name = keep(std::string(name));
    for (const char* const variable : {"time", "steps", "list", "made"}) add_variable(variable);
    for (std::size_t i = 0; i < states; ++i) add_variable(fmt::format("state_{}", i));
    condition.outputs.push_back({"go", 0, {}, {}});
    condition.nodes.push_back(node("less", "Less", {"time", "steps"}));
    condition.returns.emplace_back("go", "less");
    add_body(states);
  }
  LoopFunctions(const LoopFunctions&) = delete;
  LoopFunctions& operator=(const LoopFunctions&) = delete;

  FunctionView condition, body;

 private:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  void add_variable(std::string name) {
    const std::string_view kept = keep(std::move(name));
    condition.inputs.push_back({kept, 0, {}, {}});
    body.inputs.push_back({kept, 0, {}, {}});
    body.outputs.push_back({kept, 0, {}, {}});
  }

  static NodeView node(std::string_view name, std::string_view op, std::vector<std::string_view> inputs) {
    NodeView out;
    out.name = name;
    out.op = op;
    out.inputs = std::move(inputs);
    return out;
  }

  void add_body(std::size_t states) {
    constexpr std::int64_t kInt32 = 3;
    static constexpr std::string_view kOne("\1\0\0\0", 4);
    body.nodes.push_back(node("one", "Const", {}));
    body.nodes.back().attributes = tensorflow::Attributes().tensor("value", kInt32, {}, kOne).written_to(texts_);
    body.nodes.push_back(node("next", "AddV2", {"time", "one"}));
    body.nodes.push_back(node("x", "TensorListGetItem", {"list", "time"}));
    NodeView step = call_node(call_, "step", texts_);
    step.op = keep(fmt::format("keras.{}", cell_class(call_.layer->class_name)));
    step.inputs = {"x"};
    body.returns = {{"time", "next"}, {"steps", "steps"}, {"list", "list"}, {"made", "filled"}};
    for (std::size_t i = 0; i < states; ++i) {
      step.inputs.push_back(body.inputs[kStates + i].name);
      body.returns.emplace_back(body.inputs[kStates + i].name, keep(fmt::format("step:{}", i + 1)));
    }
    body.nodes.push_back(std::move(step));
    body.nodes.push_back(node("filled", "TensorListSetItem", {"made", "time", "step"}));
  }

  Call call_;
  std::deque<std::string> texts_;
};

Tensor list_of(const Tensor& tensor) {
  Tensor out = tensor;
  out.kind = Tensor::Kind::kList;
  return out;
}

// What the loop begins with.
Result<std::vector<Tensor>> initial_variables(LayerContext& layer, Layer& cell, const Tensor& x) {
  const Tensor& given = layer.input();
  const auto shape = layer.extents(given);
  const bool known = shape && shape->size() > 1 && (*shape)[1] > 0;
  const Tensor length = layer.add(ShapeOf{1, 2, false}, {layer.plain(given)});
  const Tensor steps =
      known ? Tensor::value(layer.node().int_scalar((*shape)[1])) : layer.add(Squeeze{{0}}, {length.id});
  std::vector<Tensor> out{Tensor::value(layer.node().int_scalar(0)), steps, list_of(Tensor::value(layer.plain(x))),
                          list_of(Tensor{})};
  JC_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, state_shapes(layer, cell, given));
  const bool all_given = layer.node().input_count() == shapes.size() + 1;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    out.push_back(all_given ? layer.input(i + 1) : zero_state(layer, given, shapes[i]));
  }
  return out;
}

}  // namespace

Result<std::size_t> state_count(Layer& cell) {
  const std::string_view kind = cell_class(cell.class_name);
  if (kind.empty()) return unsupported(fmt::format("'{}' is a cell of the model's own", cell.class_name));
  if (kind != "StackedRNNCells") return kind == "LSTMCell" || kind == "ConvLSTMCell" ? 2U : 1U;
  std::size_t out = 0;
  JC_ASSIGN_OR_RETURN(const std::vector<Layer*> cells, stacked_cells(cell));
  for (Layer* one : cells) {
    JC_ASSIGN_OR_RETURN(const std::size_t count, state_count(*one));
    out += count;
  }
  return out;
}

namespace {

// Which state the result of a step is: the first one of the last cell.
Result<std::size_t> result_state(Layer& cell) {
  if (cell_class(cell.class_name) != "StackedRNNCells") return 0U;
  JC_ASSIGN_OR_RETURN(const std::vector<Layer*> cells, stacked_cells(cell));
  JC_ASSIGN_OR_RETURN(const std::size_t all, state_count(cell));
  JC_ASSIGN_OR_RETURN(const std::size_t of_last, state_count(*cells.back()));
  JC_ASSIGN_OR_RETURN(const std::size_t in_last, result_state(*cells.back()));
  return all - of_last + in_last;
}

}  // namespace

Result<void> lower_steps(LayerContext& layer, Layer& cell) {
  JC_ASSIGN_OR_RETURN(const bool backwards, layer.flag("go_backwards", false));
  JC_ASSIGN_OR_RETURN(const bool sequences, layer.flag("return_sequences", false));
  JC_ASSIGN_OR_RETURN(const bool with_states, layer.flag("return_state", false));
  Tensor x = layer.input();
  if (backwards) {
    JC_ASSIGN_OR_RETURN(x, layer.apply("ReverseV2", {x, layer.ints({1})}));
  }
  JC_ASSIGN_OR_RETURN(const Tensor steps, turned(layer, x));
  JC_ASSIGN_OR_RETURN(const std::vector<Tensor> variables, initial_variables(layer, cell, steps));
  const LoopFunctions functions(cell, layer.layer().name, variables.size() - kStates);
  NodeView view;
  view.name = layer.node().node().name;
  NodeContext loop(layer.node().importer(), layer.node().scope(), view, ~std::uint64_t{0}, variables);
  JC_RETURN_IF_ERROR(tensorflow::lower_loop(loop, functions.condition, functions.body));
  const std::vector<Tensor> made = loop.take_outputs();
  if (made.size() != variables.size()) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const std::size_t result, result_state(cell));
  JC_ASSIGN_OR_RETURN(const Tensor out,
                      sequences ? turned(layer, Tensor::value(made[3].id)) : Result<Tensor>(made[kStates + result]));
  JC_RETURN_IF_ERROR(layer.finish(out));
  for (std::size_t i = kStates; with_states && i < made.size(); ++i) {
    JC_RETURN_IF_ERROR(layer.finish(made[i], i - kStates + 1));
  }
  return {};
}

}  // namespace joulecast::keras
