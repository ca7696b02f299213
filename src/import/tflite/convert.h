// SPDX-License-Identifier: Apache-2.0
// A TensorFlow Lite model as a graph of TensorFlow: its operators as nodes, its other subgraphs as functions, so that
// both are lowered by the same functions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "import/tensorflow/attribute_writer.h"
#include "import/tensorflow/importer.h"
#include "import/tflite/model.h"

namespace joulecast::tflite {

using tensorflow::Attributes;

class SubgraphConverter;

struct Converted {
  tensorflow::GraphView graph;
  tensorflow::Interface interface;
  std::deque<std::string> texts;  // what the graph has views of
};

// The DataType of TensorFlow for a TensorType of the schema; 0 where there is none.
std::int64_t data_type(std::int64_t tensor_type);

// What all subgraphs share.
class ModelConverter {
 public:
  ModelConverter(const ModelView& model, Converted& out) : model_(model), out_(out) {}

  Result<void> run();

  // A constant that a loop reads: it becomes a variable of the loop that never changes, so that whoever looks at the
  // loop sees where it comes from.
  struct Hoisted {
    TensorView tensor;
    Shape shape;
  };
  struct Loop {
    std::string_view condition, body;  // functions
    std::vector<Hoisted> hoisted;      // what they take behind the loop's own variables
    std::vector<bool> filled;          // by variable: the list of what the steps made
  };
  // The function that a subgraph becomes.
  Result<std::string_view> function(std::int64_t subgraph);
  Result<const Loop*> loop(std::int64_t condition, std::int64_t body);

  // Keeps a text as long as the graph.
  std::string_view keep(std::string text) { return out_.texts.emplace_back(std::move(text)); }
  std::deque<std::string>& texts() { return out_.texts; }
  Result<void> count_node(std::size_t inputs);
  // Whether contents are zeros, as far as looking at them costs little.
  bool is_zeros(std::string_view contents);

 private:
  Result<const SubgraphView*> choose(const SignatureView*& signature) const;
  Result<void> add_ports(SubgraphConverter& main, const SignatureView& names);
  // A subgraph that is called from one that is being converted.
  Result<const SubgraphView*> enter(std::int64_t subgraph);
  Result<tensorflow::FunctionView> make_function(SubgraphConverter& converter, std::string name);
  Result<Loop> make_loop(std::int64_t condition, std::int64_t body);

  const ModelView& model_;
  Converted& out_;
  std::map<std::int64_t, std::string_view> functions_;
  std::map<std::pair<std::int64_t, std::int64_t>, Loop> loops_;
  std::vector<std::int64_t> active_;
  std::size_t nodes_ = 0, entries_ = 0, looked_at_ = 0;
};

enum class Hoist : std::uint8_t { kNothing, kWeights, kConstants };

// One subgraph while its operators become nodes.
class SubgraphConverter {
 public:
  SubgraphConverter(ModelConverter& model, const SubgraphView& subgraph, Hoist hoist)
      : model_(model), subgraph_(subgraph), hoist_(hoist) {}

  // First, then run().
  Result<void> name_tensors();
  Result<void> run();

  // "node" or "node:1"; the tensor is an argument, computed or constant.
  Result<std::string_view> reference(std::int64_t tensor);
  // A constant, or what is only decompressed from one, as if it had been stored in `shape` (its extents in another
  // order); nothing where it is computed.
  Result<std::optional<std::string_view>> constant(std::int64_t tensor, const Shape& shape, std::size_t depth = 0);
  // A constant that stands nowhere in the file.
  Result<std::string_view> add_constant(std::string_view name, std::int64_t type, const Shape& shape,
                                        std::string_view contents);
  Result<std::string_view> add_weight(const TensorView& tensor, const Shape& shape);
  Result<void> add(std::string_view name, std::string_view op, std::vector<std::string_view> inputs,
                   Attributes attributes, bool opaque = false);

  // The tensor has another name from here on.
  void rename(std::int64_t tensor, std::string_view name) { names_[static_cast<std::size_t>(tensor)] = name; }
  // Of a loop's body: the variables that are a tensor of which every step replaces one slice. They become lists.
  std::vector<bool> find_filled();

  std::string_view free_name(std::string_view wanted);
  // Of the node that computes the operator's first output.
  [[nodiscard]] std::string_view node_name(const OperatorView& op) const;
  [[nodiscard]] std::string_view argument(std::size_t i) const { return arguments_[i]; }
  [[nodiscard]] const SubgraphView& subgraph() const { return subgraph_; }
  [[nodiscard]] ModelConverter& model() { return model_; }

  std::vector<tensorflow::NodeView> nodes;
  std::vector<std::pair<std::string_view, ModelConverter::Hoisted>> hoisted;  // by the name of the argument

 private:
  struct Producer {
    const OperatorView* op = nullptr;
    std::size_t output = 0;
  };
  struct Step {
    std::size_t variable = 0;
    std::int32_t item = 0;
  };
  [[nodiscard]] std::optional<std::int32_t> item_of(std::size_t variable, const OperatorView& join) const;
  [[nodiscard]] const OperatorView* made_by(std::int32_t tensor, std::string_view name, std::size_t inputs) const;
  Result<void> convert(const OperatorView& op);
  Result<std::string_view> constant_node(const TensorView& tensor, const Shape& shape);

  ModelConverter& model_;
  const SubgraphView& subgraph_;
  Hoist hoist_;
  std::vector<std::string_view> names_;      // of arguments and computed tensors
  std::vector<std::string_view> arguments_;  // in the subgraph's order
  std::vector<Producer> producers_;
  std::map<const OperatorView*, Step> steps_;  // what joins a filled tensor anew
  std::map<std::pair<std::int64_t, std::string>, std::string_view> constants_;
  std::unordered_set<std::string_view> taken_;
  std::size_t last_suffix_ = 0;
};

// One operator while it becomes nodes.
class OperatorConverter {
 public:
  OperatorConverter(SubgraphConverter& subgraph, const OperatorView& op, std::string_view target)
      : subgraph_(subgraph), op_(op), target_(target) {}

  [[nodiscard]] const OperatorView& op() const { return op_; }
  [[nodiscard]] const FlatTable& options() const { return op_.options; }
  [[nodiscard]] std::string_view target() const { return target_; }  // the operator of TensorFlow that it is
  [[nodiscard]] SubgraphConverter& subgraph() { return subgraph_; }

  [[nodiscard]] bool has(std::size_t i) const { return i < op_.inputs.size() && op_.inputs[i] >= 0; }
  // Requires of both: has(i); that there is output i.
  [[nodiscard]] const TensorView& input_tensor(std::size_t i) const;
  [[nodiscard]] const TensorView& output_tensor(std::size_t i) const;
  [[nodiscard]] Result<std::string_view> input(std::size_t i);
  Result<std::vector<std::string_view>> inputs();  // those that are not left out
  // Input i with its axes in another order: a constant is taken as if it stood so in the file.
  Result<std::string_view> permuted(std::size_t i, const std::vector<std::size_t>& order);
  Result<std::string_view> ints(const std::vector<std::int32_t>& values);  // a vector
  Result<std::string_view> number(std::int32_t value);                     // a scalar

  // A node before the last one.
  Result<std::string_view> step(std::string_view op, std::vector<std::string_view> inputs, Attributes attributes = {});
  // The node that computes the outputs.
  Result<void> finish(std::string_view op, std::vector<std::string_view> inputs, Attributes attributes = {});
  // The same with an activation (ActivationFunctionType of the schema) behind it.
  Result<void> finish_active(std::int64_t activation, std::string_view op, std::vector<std::string_view> inputs,
                             Attributes attributes = {});
  // One that is kept under its own name.
  Result<void> opaque(std::string_view name);

 private:
  SubgraphConverter& subgraph_;
  const OperatorView& op_;
  std::string_view target_;
};

}  // namespace joulecast::tflite
