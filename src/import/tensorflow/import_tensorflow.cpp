// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/import_tensorflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "import/tensorflow/frames.h"
#include "import/tensorflow/importer.h"
#include "import/text.h"
#include "joulecast/import.h"

namespace joulecast::tensorflow {
namespace {

// The graph with the inputs as the file has them, and where that takes transpositions, with channels first instead if
// that takes fewer.
Result<Graph> import_both_ways(const GraphView& graph, const Interface& interface, std::string_view name) {
  Importer as_in_file(graph, InputOrder::kAsInFile);
  auto first = as_in_file.run(name, interface);
  const auto image = [](const Port& port) { return port.shape.extents.size() >= 3; };
  if (!first || as_in_file.moved() == 0 || std::none_of(interface.inputs.begin(), interface.inputs.end(), image)) {
    return first;
  }
  Importer channels_first(graph, InputOrder::kChannelsFirst);
  auto second = channels_first.run(name, interface);
  return second && channels_first.moved() < as_in_file.moved() ? std::move(second) : std::move(first);
}

Result<Graph> checked(Result<Graph> graph) {
  if (graph) JC_RETURN_IF_ERROR(validate(*graph));
  return graph;
}

const SignatureView* find_signature(const MetaGraphView& model, std::string_view key) {
  const auto it = std::find_if(model.signatures.begin(), model.signatures.end(),
                               [&](const SignatureView& signature) { return signature.key == key; });
  return it == model.signatures.end() ? nullptr : &*it;
}

std::string signature_names(const MetaGraphView& model) {
  std::string out;
  for (const SignatureView& signature : model.signatures) {
    out += fmt::format("{}'{}'", out.empty() ? "" : ", ", printable(signature.key));
  }
  return out.empty() ? "none" : out;
}

// The one that servers call; else the only one that computes something.
Result<const SignatureView*> choose_signature(const MetaGraphView& model) {
  for (const std::string_view key : {"serving_default", "serve"}) {
    if (const SignatureView* found = find_signature(model, key); found != nullptr && !found->outputs.empty())
      return found;
  }
  const SignatureView* only = nullptr;
  for (const SignatureView& signature : model.signatures) {
    if (signature.key.starts_with("__") || signature.outputs.empty()) continue;
    if (only != nullptr)
      only = nullptr;
    else
      only = &signature;
  }
  if (only != nullptr) return only;
  return unsupported(
      fmt::format("has no signature 'serving_default' to import (there are: {}); save the model with "
                  "signatures=, or with Keras' model.export()",
                  signature_names(model)));
}

Result<Port> port_of(const TensorInfoView& info) {
  Port out{info.key, info.tensor, element_type(info.type), {}};
  auto shape = read_shape(info.shape);
  if (!shape) return tl::unexpected(std::move(shape).error().in(fmt::format("tensor '{}'", printable(info.key))));
  out.shape = *shape;
  return out;
}

std::string_view node_of(std::string_view tensor) {
  return tensor.substr(0, tensor.find(':'));
}

// A map has no order: inputs stand as the nodes do that they feed.
void order_by_node(std::vector<Port>& ports, const GraphView& graph) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) places.emplace(graph.nodes[i].name, i);
  const auto key = [&](const Port& port) {
    const auto it = places.find(node_of(port.tensor));
    return std::pair(it == places.end() ? places.size() : it->second, port.tensor);
  };
  std::sort(ports.begin(), ports.end(), [&](const Port& a, const Port& b) { return key(a) < key(b); });
}

Result<Interface> interface_of(const SignatureView& signature, const GraphView& graph) {
  Interface out;
  for (const TensorInfoView& info : signature.inputs) {
    JC_ASSIGN_OR_RETURN(const Port port, port_of(info));
    out.inputs.push_back(port);
  }
  for (const TensorInfoView& info : signature.outputs) {
    JC_ASSIGN_OR_RETURN(const Port port, port_of(info));
    out.outputs.push_back(port);
  }
  order_by_node(out.inputs, graph);
  order_by_node(out.outputs, graph);
  return out;
}

const AttributeView* attribute(const NodeView& node, std::string_view name) {
  const auto it = std::find_if(node.attributes.begin(), node.attributes.end(),
                               [&](const AttributeView& one) { return one.name == name; });
  return it == node.attributes.end() ? nullptr : &*it;
}

Result<Port> placeholder_port(const NodeView& node) {
  Port out{node.name, node.name, ElementType::kUnknown, {}};
  if (const AttributeView* type = attribute(node, "dtype")) {
    JC_ASSIGN_OR_RETURN(const AttributeValue value, read_attribute(type->value));
    out.element = element_type(value.integer);
  }
  if (const AttributeView* shape = attribute(node, "shape")) {
    JC_ASSIGN_OR_RETURN(const AttributeValue value, read_attribute(shape->value));
    out.shape = value.shape;
  }
  return out;
}

// What stands in a graph without being computed from the inputs for its own sake.
bool is_result(const NodeView& node) {
  constexpr std::array kNone{"NoOp",       "Const",  "Placeholder", "PlaceholderV2",    "VarHandleOp", "Assert",
                             "VariableV2", "SaveV2", "RestoreV2",   "AssignVariableOp", "Assign"};
  return std::find(kNone.begin(), kNone.end(), node.op) == kNone.end();
}

// A frozen graph says nothing of inputs and outputs: placeholders are fed, but for those that freezing a loop leaves
// behind and nobody reads; results are what nobody reads, the counters that leave a loop only where there is nothing
// else.
Result<Interface> frozen_interface(const GraphView& graph) {
  Interface out;
  std::vector<Port> exits;
  std::unordered_set<std::string_view> read;
  for (const NodeView& node : graph.nodes) {
    for (const std::string_view input : node.inputs)
      read.insert(node_of(input.starts_with('^') ? input.substr(1) : input));
  }
  for (const NodeView& node : graph.nodes) {
    if (node.op == "Placeholder" || node.op == "PlaceholderV2") {
      if (node.name.starts_with("unused_control_flow_input") && !read.contains(node.name)) continue;
      auto port = placeholder_port(node);
      if (!port) return tl::unexpected(std::move(port).error().in(fmt::format("node '{}'", printable(node.name))));
      out.inputs.push_back(*port);
    } else if (is_result(node) && !read.contains(node.name)) {
      (node.op == "Exit" ? exits : out.outputs).push_back(Port{node.name, node.name, ElementType::kUnknown, {}});
    }
  }
  if (out.outputs.empty()) out.outputs = std::move(exits);
  if (graph.nodes.empty()) return invalid("has no nodes: not a GraphDef, or truncated");
  if (out.outputs.empty()) return invalid("every node of the graph is read by another: there is no output");
  return out;
}

}  // namespace

// Schema version 1, then a meta graph (field 2).
bool is_saved_model(std::string_view bytes) {
  using namespace std::string_view_literals;
  return bytes.starts_with("\x08\x01\x12"sv);
}

// Nodes (field 1), each beginning with its name (field 1) and operator (field 2). In ONNX field 1 is a number.
bool is_graph_def(std::string_view bytes) {
  if (bytes.size() < 4 || bytes[0] != 0x0A) return false;
  std::size_t at = 1;
  while (at < bytes.size() && at < 11 && (static_cast<unsigned char>(bytes[at]) & 0x80U) != 0) ++at;
  ++at;
  if (at + 1 >= bytes.size() || bytes[at] != 0x0A) return false;
  const auto length = static_cast<unsigned char>(bytes[at + 1]);
  const std::size_t op = at + 2 + length;
  return length > 0 && length < 0x80 && op < bytes.size() && bytes[op] == 0x12;
}

Result<Graph> import_graph(const GraphView& graph, const Interface& interface, std::string_view name) {
  return checked(import_both_ways(graph, interface, name));
}

Result<Graph> import_saved_model(std::string_view bytes, std::string_view name) {
  JC_ASSIGN_OR_RETURN(MetaGraphView model, read_saved_model(bytes));
  JC_ASSIGN_OR_RETURN(const SignatureView* signature, choose_signature(model));
  JC_ASSIGN_OR_RETURN(const Interface interface, interface_of(*signature, model.graph));
  std::deque<std::string> texts;
  JC_RETURN_IF_ERROR(raise_frames(model.graph, texts));
  return import_graph(model.graph, interface, name);
}

Result<Graph> import_graph_def(std::string_view bytes, std::string_view name) {
  JC_ASSIGN_OR_RETURN(GraphView graph, read_graph_def(bytes));
  JC_ASSIGN_OR_RETURN(const Interface interface, frozen_interface(graph));
  std::deque<std::string> texts;
  JC_RETURN_IF_ERROR(raise_frames(graph, texts));
  return import_graph(graph, interface, name);
}

}  // namespace joulecast::tensorflow

namespace joulecast {

Result<Graph> import_tensorflow(std::span<const std::byte> bytes, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto graph = tensorflow::is_saved_model(text) ? tensorflow::import_saved_model(text, name)
                                                : tensorflow::import_graph_def(text, name);
  if (!graph) return tl::unexpected(std::move(graph).error().in(printable(name)));
  return graph;
}

}  // namespace joulecast
