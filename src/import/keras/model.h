// SPDX-License-Identifier: Apache-2.0
// The configuration of a Keras model (versions 2 and 3) as a graph in TensorFlow's form, whose nodes are calls of
// layers.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/json.h"
#include "import/tensorflow/importer.h"

namespace joulecast::keras {

// A layer, which may be called more than once: its weights are then the same.
struct Layer {
  std::string name, class_name;
  const Json* config = nullptr;  // an object
  bool of_keras = false;         // the file says that the class is one of Keras' own
  bool operation = false;        // an operation of keras.ops between layers, or one that a model's arithmetic makes
  std::string_view network;      // of a model that is used as a layer: the function that it became
  // Made when they are first asked for.
  std::map<std::string, tensorflow::Source> weights;
  std::map<std::string, std::unique_ptr<Layer>> parts;  // layers that this one wraps, by their role
};

struct Call {
  Layer* layer = nullptr;
  const Json* arguments = nullptr;  // of one call, as the file has them; nullptr in a chain of layers
  // What the readers of its outputs say of them; version 2 says nothing.
  std::vector<std::optional<TensorType>> outputs;
};

struct Model {
  tensorflow::GraphView graph;
  tensorflow::Interface interface;
  std::deque<Layer> layers;
  std::deque<Call> calls;
  std::deque<std::string> texts;
  std::string name;
};

// Names of operators in the graph are "keras." and the class, of operations "keras.ops." and the class; calls are found
// again by node_call(). `config` must outlive `out`. Errors: kInvalidInput for a configuration that is malformed,
// kUnsupported for networks that only a program has.
Result<void> read_model(const Json& config, Model& out);

// The call that a node stands for; nullptr for any other node.
const Call* node_call(const tensorflow::NodeView& node);
// A node of such a call, for layers in layers.
tensorflow::NodeView call_node(const Call& call, std::string_view name, std::deque<std::string>& texts);

// The inner layer that `config` describes ({"class_name": ..., "config": ...}); `owner` keeps it by `role`.
Result<Layer*> part_of(Layer& owner, const std::string& role, const Json& config);

// The object of attributes of a class, or of a function by its name; nullptr where there is none.
const Json* config_of(const Json& object);

// Keywords of calls whose tensors are no inputs: a mask says only what is not to be counted.
bool is_passed_over(std::string_view keyword);

// "float32"; also for what is no name of a type.
ElementType element_of(const Json* dtype);

}  // namespace joulecast::keras
