// SPDX-License-Identifier: Apache-2.0
#include "import/keras/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "import/keras/operations.h"
#include "import/text.h"

namespace joulecast::keras {
namespace {

using tensorflow::ArgumentView;
using tensorflow::FunctionView;
using tensorflow::NodeView;
using tensorflow::Port;

constexpr std::size_t kMaxReferences = 1'000'000;

// A tensor by the layer, the number of its call and the number of its output.
struct History {
  std::string_view layer;
  std::int64_t call = 0, output = 0;
  const Json* tensor = nullptr;  // its shape and type, where the file says them
};

// ["dense", 0, 0], and with arguments of the call behind it.
std::optional<History> history_of(const Json& value) {
  const auto members = value.members();
  if (!value.is(JsonKind::kArray) || members.size() < 3) return std::nullopt;
  const bool fits = members[0].value.is(JsonKind::kText) && members[1].value.is(JsonKind::kInteger) &&
                    members[2].value.is(JsonKind::kInteger);
  if (!fits) return std::nullopt;
  return History{members[0].value.text(), members[1].value.whole(), members[2].value.whole(), nullptr};
}

// All tensors that arguments name, in their order.
void find_histories(const Json& value, std::vector<History>& out) {
  if (const auto found = history_of(value)) {
    out.push_back(*found);
    const auto members = value.members();
    for (std::size_t i = 3; i < members.size(); ++i) find_histories(members[i].value, out);
    return;
  }
  for (const JsonMember& member : value.members()) {
    if (is_passed_over(member.key)) continue;
    if (member.value.is(JsonKind::kArray) || member.value.is(JsonKind::kObject)) find_histories(member.value, out);
    if (member.key == "keras_history" && !out.empty()) out.back().tensor = &value;
  }
}

Result<tensorflow::PartialShape> shape_of(const Json& list) {
  tensorflow::PartialShape out;
  out.known_rank = true;
  if (!list.is(JsonKind::kArray)) return invalid("its shape is no list");
  if (list.members().size() > kMaxRank) return unsupported(fmt::format("has more than {} axes", kMaxRank));
  Shape possible;
  for (const JsonMember& extent : list.members()) {
    const bool open = extent.value.is(JsonKind::kNull);
    if (!open && (!extent.value.is(JsonKind::kInteger) || extent.value.whole() < 0)) {
      return invalid("its shape has an entry that is no extent");
    }
    out.extents.push_back(open ? -1 : extent.value.whole());
    possible.push_back(open ? 1 : extent.value.whole());
  }
  if (!checked_elements(possible)) return invalid(fmt::format("{} is not the shape of a tensor", text(out.extents)));
  return out;
}

const Json* input_shape(const Json& config) {
  for (const std::string_view key : {"batch_shape", "batch_input_shape"}) {
    if (const Json* found = config.find(key)) return found;
  }
  return nullptr;
}

// Of a model whose first layer is a model.
const Json* nested_input_shape(const Json& config) {
  const Json* layers = config.find("layers");
  if (layers == nullptr) return nullptr;
  for (const JsonMember& member : layers->members()) {
    const Json* class_name = member.value.find("class_name");
    const Json* inner = config_of(member.value);
    if (class_name != nullptr && class_name->text() == "InputLayer" && inner != nullptr) return input_shape(*inner);
  }
  return nullptr;
}

// Names of nodes may not look like references to outputs.
std::string plain_name(std::string_view name) {
  std::string out(name.substr(0, kLongestInGraph));
  std::replace(out.begin(), out.end(), ':', '_');
  if (out.empty()) out = "layer";
  if (out[0] == '^') out[0] = '_';
  return out;
}

// HDF5 files name no modules; layers are then what can be trained.
void read_module(const Json& object, Layer& layer) {
  const Json* module = object.find("module");
  if (module == nullptr) {
    layer.operation = layer.config->find("trainable") == nullptr && find_operation(layer.class_name) != nullptr;
    return;
  }
  layer.of_keras = module->text().starts_with("keras.") && layer.class_name != "Lambda";
  layer.operation = module->text().starts_with("keras.src.ops.");
}

// One model: the outermost, or one that is a layer of another.
class NetworkReader {
 public:
  explicit NetworkReader(Model& model) : model_(model) {}

  Result<void> run(const Json& config) {
    const Json* layers = config.is(JsonKind::kArray) ? &config : config.find("layers");
    if (layers == nullptr || !layers->is(JsonKind::kArray)) return invalid("'layers' is missing");
    const bool functional = config.find("input_layers") != nullptr && config.find("output_layers") != nullptr;
    return functional ? read_functional(config, *layers) : read_sequential(config, *layers);
  }

  std::vector<NodeView> nodes;
  std::vector<Port> inputs, outputs;

 private:
  std::string_view keep(std::string text) { return model_.texts.emplace_back(std::move(text)); }
  std::string_view free_name(std::string_view wanted) {
    std::string name = plain_name(wanted);
    while (taken_.contains(name)) name = fmt::format("{}_{}", plain_name(wanted), ++last_suffix_);
    return *taken_.insert(keep(std::move(name))).first;
  }

  Result<std::string_view> add_input(std::string_view name, const Json& shape, const Json* dtype) {
    const std::string_view node = free_name(name);
    Port port{node, node, element_of(dtype), {}};
    auto read = shape_of(shape);
    if (!read) return tl::unexpected(std::move(read).error().in(fmt::format("input '{}'", printable(name))));
    port.shape = *read;
    inputs.push_back(port);
    NodeView placeholder;
    placeholder.name = node;
    placeholder.op = "Placeholder";
    nodes.push_back(std::move(placeholder));
    return node;
  }

  Result<Layer*> add_layer(const Json& object) {
    JC_ASSIGN_OR_RETURN(const std::string_view class_name, object.string("class_name"));
    const Json* config = config_of(object);
    if (config == nullptr) return invalid(fmt::format("layer of class '{}' has no 'config'", printable(class_name)));
    const Json* name = object.find("name") != nullptr ? object.find("name") : config->find("name");
    Layer& layer = model_.layers.emplace_back();
    layer.name = printable(name == nullptr ? class_name : name->text(), kLongestInGraph);
    layer.class_name = printable(class_name);
    layer.config = config;
    read_module(object, layer);
    JC_RETURN_IF_ERROR(read_parts(layer));
    return &layer;
  }

  // A model as a layer becomes a function; so does one inside of a layer that repeats it.
  Result<void> read_parts(Layer& layer) {
    const bool network = layer.config->is(JsonKind::kArray) || layer.config->find("layers") != nullptr;
    if (network && layer.config->find("cell") == nullptr) {
      JC_ASSIGN_OR_RETURN(layer.network, add_function(layer));
    }
    const Json* inner = layer.config->find("layer");
    if (inner == nullptr || !inner->is(JsonKind::kObject) || config_of(*inner) == nullptr) return {};
    JC_ASSIGN_OR_RETURN(Layer * part, part_of(layer, "layer", *inner));
    return read_parts(*part);
  }

  Result<std::string_view> add_function(const Layer& layer) {
    NetworkReader reader(model_);
    auto done = reader.run(*layer.config);
    if (!done) return tl::unexpected(std::move(done).error().in(fmt::format("model '{}'", layer.name)));
    FunctionView function;
    function.name = keep(fmt::format("model {}: {}", model_.graph.functions.size(), layer.name));
    for (const Port& port : reader.inputs) function.inputs.push_back(ArgumentView{port.tensor, 0, {}, {}});
    for (std::size_t i = 0; i < reader.outputs.size(); ++i) {
      function.outputs.push_back(ArgumentView{keep(fmt::format("{}", i)), 0, {}, {}});
      function.returns.emplace_back(function.outputs.back().name, reader.outputs[i].tensor);
    }
    std::erase_if(reader.nodes, [](const NodeView& node) { return node.op == "Placeholder"; });
    function.nodes = std::move(reader.nodes);
    model_.graph.functions.push_back(std::move(function));
    return model_.graph.functions.back().name;
  }

  Result<std::string_view> add_call(Layer& layer, const Json* arguments, std::vector<std::string_view> from) {
    references_ += from.size();
    if (references_ > kMaxReferences || nodes.size() >= tensorflow::kMaxNodes) {
      return unsupported("has more calls of layers than any real model");
    }
    Call& call = model_.calls.emplace_back(Call{&layer, arguments, {}});
    NodeView node = call_node(call, free_name(layer.name), model_.texts);
    node.inputs = std::move(from);
    calls_.emplace(node.name, &call);
    nodes.push_back(std::move(node));
    return nodes.back().name;
  }

  // Layers one after the other.
  Result<void> read_sequential(const Json& config, const Json& layers) {
    std::optional<std::string_view> last;
    for (const JsonMember& member : layers.members()) {
      const Json& object = member.value;
      JC_ASSIGN_OR_RETURN(const std::string_view class_name, object.string("class_name"));
      const Json* layer_config = config_of(object);
      if (class_name == "InputLayer" && layer_config != nullptr && !last) {
        const Json* shape = input_shape(*layer_config);
        if (shape == nullptr) return invalid("the input layer has no shape");
        const Json* name = layer_config->find("name");
        JC_ASSIGN_OR_RETURN(last,
                            add_input(name == nullptr ? "input" : name->text(), *shape, layer_config->find("dtype")));
        continue;
      }
      JC_ASSIGN_OR_RETURN(Layer * layer, add_layer(object));
      if (!last) {
        JC_ASSIGN_OR_RETURN(last, add_implied_input(config, *layer));
      }
      JC_ASSIGN_OR_RETURN(last, add_call(*layer, nullptr, {*last}));
    }
    if (!last) return invalid("has no layers");
    outputs.push_back(Port{*last, *last, ElementType::kUnknown, {}});
    return {};
  }

  Result<std::string_view> add_implied_input(const Json& config, const Layer& first) {
    const Json* shape = input_shape(*first.config);
    if (shape == nullptr && config.is(JsonKind::kObject)) shape = config.find("build_input_shape");
    if (shape == nullptr) shape = nested_input_shape(*first.config);
    if (shape == nullptr)
      return unsupported("does not say of which shape its input is; call build() or add an Input, and save it anew");
    const bool tokens = first.class_name == "Embedding";
    static const Json kTokens(Json::Value(std::string_view("int32")));
    return add_input(first.name + "_input", *shape, tokens ? &kTokens : nullptr);
  }

  struct Pending {
    const Layer* layer;
    const Json* arguments;
    std::size_t place;  // of the node
  };

  // Layers that name what they are called on.
  Result<void> read_functional(const Json& config, const Json& layers) {
    std::vector<Pending> pending;
    for (const JsonMember& member : layers.members()) JC_RETURN_IF_ERROR(read_named(member.value, pending));
    JC_RETURN_IF_ERROR(order_inputs(config));
    for (const Pending& one : pending) {
      auto done = connect(one);
      if (!done) return tl::unexpected(std::move(done).error().in(fmt::format("layer '{}'", one.layer->name)));
    }
    std::vector<History> results;
    find_histories(*config.find("output_layers"), results);
    if (results.empty()) return invalid("has no output");
    for (const History& history : results) {
      JC_ASSIGN_OR_RETURN(const std::string_view reference, resolve(history));
      outputs.push_back(Port{history.layer, reference, ElementType::kUnknown, {}});
    }
    return {};
  }

  // An input, or a layer with all its calls.
  Result<void> read_named(const Json& object, std::vector<Pending>& pending) {
    JC_ASSIGN_OR_RETURN(const std::string_view class_name, object.string("class_name"));
    const Json* config = config_of(object);
    const Json* name = object.find("name");
    if (name == nullptr && config != nullptr) name = config->find("name");
    if (name == nullptr) return invalid(fmt::format("a layer of class '{}' has no name", printable(class_name)));
    if (class_name == "InputLayer" && config != nullptr) {
      const Json* shape = input_shape(*config);
      if (shape == nullptr) return invalid(fmt::format("input '{}' has no shape", printable(name->text())));
      JC_ASSIGN_OR_RETURN(const std::string_view node, add_input(name->text(), *shape, config->find("dtype")));
      return remember(name->text(), 0, node);
    }
    JC_ASSIGN_OR_RETURN(const auto calls, object.array("inbound_nodes"));
    if (calls.empty()) return {};
    JC_ASSIGN_OR_RETURN(Layer * layer, add_layer(object));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      JC_ASSIGN_OR_RETURN(const std::string_view node, add_call(*layer, &calls[i].value, {}));
      pending.push_back({layer, &calls[i].value, nodes.size() - 1});
      JC_RETURN_IF_ERROR(remember(name->text(), static_cast<std::int64_t>(i), node));
    }
    return {};
  }

  Result<void> connect(const Pending& call) {
    std::vector<History> from;
    find_histories(*call.arguments, from);
    for (const History& history : from) {
      JC_ASSIGN_OR_RETURN(const std::string_view reference, resolve(history));
      nodes[call.place].inputs.push_back(reference);
      JC_RETURN_IF_ERROR(declare(history));
    }
    references_ += from.size();
    if (references_ > kMaxReferences) return unsupported("has more calls of layers than any real model");
    return {};
  }

  // Who reads a tensor says of which type it is.
  Result<void> declare(const History& history) {
    constexpr std::int64_t kMostOutputs = 1000;
    const Json* shape = history.tensor == nullptr ? nullptr : history.tensor->find("shape");
    const auto call = calls_.find(called_.find(fmt::format("{} {}", history.call, history.layer))->second);
    if (shape == nullptr || call == calls_.end() || history.output >= kMostOutputs) return {};
    auto read = shape_of(*shape);
    if (!read) return tl::unexpected(std::move(read).error().in(fmt::format("'{}'", printable(history.layer))));
    auto& declared = call->second->outputs;
    const auto place = static_cast<std::size_t>(history.output);
    if (declared.size() <= place) declared.resize(place + 1);
    declared[place] = TensorType{element_of(history.tensor->find("dtype")), read->extents};
    return {};
  }

  Result<void> remember(std::string_view layer, std::int64_t call, std::string_view node) {
    if (!called_.emplace(fmt::format("{} {}", call, layer), node).second) {
      return invalid(fmt::format("two layers are called '{}'", printable(layer)));
    }
    return {};
  }

  Result<std::string_view> resolve(const History& history) {
    const auto it = called_.find(fmt::format("{} {}", history.call, history.layer));
    if (it == called_.end() || history.output < 0) {
      return invalid(fmt::format("call {} of layer '{}' is not in the file", history.call, printable(history.layer)));
    }
    return history.output == 0 ? it->second : keep(fmt::format("{}:{}", it->second, history.output));
  }

  // In the order in which the model is called, not in that of its layers.
  Result<void> order_inputs(const Json& config) {
    std::vector<History> order;
    find_histories(*config.find("input_layers"), order);
    std::vector<Port> sorted;
    for (const History& history : order) {
      JC_ASSIGN_OR_RETURN(const std::string_view node, resolve(history));
      const auto it = std::find_if(inputs.begin(), inputs.end(), [&](const Port& port) { return port.tensor == node; });
      if (it == inputs.end()) return invalid(fmt::format("input '{}' is no input layer", printable(history.layer)));
      sorted.push_back(*it);
    }
    if (sorted.size() != inputs.size()) return invalid("an input layer is no input of the model");
    inputs = std::move(sorted);
    return {};
  }

  Model& model_;
  std::unordered_set<std::string_view> taken_;
  std::unordered_map<std::string, std::string_view> called_;
  std::unordered_map<std::string_view, Call*> calls_;  // by their nodes
  std::size_t references_ = 0, last_suffix_ = 0;
};

}  // namespace

bool is_passed_over(std::string_view keyword) {
  return keyword == "mask" || keyword == "training";
}

ElementType element_of(const Json* dtype) {
  const std::string_view name = dtype == nullptr ? std::string_view("float32") : dtype->text();
  constexpr std::pair<std::string_view, ElementType> kNames[] = {
      {"float32", ElementType::kFloat32}, {"float16", ElementType::kFloat16}, {"bfloat16", ElementType::kBFloat16},
      {"float64", ElementType::kFloat64}, {"int32", ElementType::kInt32},     {"int64", ElementType::kInt64},
      {"int16", ElementType::kInt16},     {"int8", ElementType::kInt8},       {"uint8", ElementType::kUInt8},
      {"bool", ElementType::kBool},       {"string", ElementType::kString},
  };
  for (const auto& [text, element] : kNames) {
    if (text == name) return element;
  }
  return ElementType::kFloat32;
}

const Json* config_of(const Json& object) {
  const Json* config = object.find("config");
  const bool fits = config != nullptr && (config->is(JsonKind::kObject) || config->is(JsonKind::kArray));
  return fits ? config : nullptr;
}

Result<Layer*> part_of(Layer& owner, const std::string& role, const Json& config) {
  std::unique_ptr<Layer>& part = owner.parts[role];
  if (part != nullptr) return part.get();
  JC_ASSIGN_OR_RETURN(const std::string_view class_name, config.string("class_name"));
  const Json* inner = config_of(config);
  if (inner == nullptr) return invalid(fmt::format("the layer inside of '{}' has no 'config'", owner.name));
  part = std::make_unique<Layer>();
  part->name = fmt::format("{}/{}", owner.name, role);
  part->class_name = printable(class_name);
  part->config = inner;
  read_module(config, *part);
  return part.get();
}

// The attribute holds the address of the call: what the configuration says is not written out again.
tensorflow::NodeView call_node(const Call& call, std::string_view name, std::deque<std::string>& texts) {
  tensorflow::NodeView out;
  out.name = name;
  const std::string_view prefix = call.layer->operation ? "keras.ops." : "keras.";
  out.op = call.layer->network.empty() ? texts.emplace_back(fmt::format("{}{}", prefix, call.layer->class_name))
                                       : call.layer->network;
  out.attributes.push_back({"keras", std::string_view(reinterpret_cast<const char*>(&call), sizeof(Call))});
  return out;
}

const Call* node_call(const tensorflow::NodeView& node) {
  for (const tensorflow::AttributeView& attribute : node.attributes) {
    if (attribute.name == "keras") return reinterpret_cast<const Call*>(attribute.value.data());
  }
  return nullptr;
}

Result<void> read_model(const Json& config, Model& out) {
  JC_ASSIGN_OR_RETURN(const std::string_view class_name, config.string("class_name"));
  const Json* inner = config_of(config);
  const bool network = inner != nullptr && (inner->is(JsonKind::kArray) || inner->find("layers") != nullptr);
  if (!network) {
    return unsupported(
        fmt::format("'{}' is a class of its own, whose network is only in its program; export it with "
                    "model.export() and read the SavedModel",
                    printable(class_name)));
  }
  if (const Json* name = inner->find("name")) out.name = name->text();
  NetworkReader reader(out);
  JC_RETURN_IF_ERROR(reader.run(*inner));
  out.graph.nodes = std::move(reader.nodes);
  out.interface = {std::move(reader.inputs), std::move(reader.outputs)};
  return {};
}

}  // namespace joulecast::keras
