// SPDX-License-Identifier: Apache-2.0
// Turns a serialised program into a Graph: names become values, every node a call of an operator.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "import/builder.h"
#include "import/json.h"
#include "import/torch/aten/call.h"
#include "import/torch/program.h"

namespace joulecast::torch {

// Where names mean something: a graph of the file.
struct Scope {
  GraphBuilder* builder = nullptr;
  std::size_t depth = 0;       // graphs that we are in
  std::size_t body_depth = 0;  // of these, bodies
  std::unordered_map<std::string_view, ValueId> values;
  std::unordered_map<std::string_view, const Json*> tensors;  // what the file says of each
  std::unordered_map<std::string_view, const Json*> views;    // the node that made a view, by the view's name
  std::unordered_set<std::string_view> used;                  // names that are read
};

// A node of the file, taken apart.
struct NodeView {
  const Json* json = nullptr;
  std::string target;               // "aten.conv2d.default", for people
  std::string_view name, overload;  // "conv2d", "default"; "_operator.add", ""
  std::string_view node_name;
  std::span<const JsonMember> inputs;
  std::vector<std::string_view> outputs;  // lists are taken apart; empty where nothing is returned
};

class Importer {
 public:
  explicit Importer(const Json& program) : program_(program) {}

  Result<Graph> run(std::string_view name);

 private:
  Result<void> fill(const Json& graph_module, Scope& scope);
  static Result<void> describe(const Json& graph, Scope& scope);
  static Result<void> add_weight(const InputSpec& spec, Scope& scope);
  Result<void> add_input(const InputSpec& spec, Scope& scope);
  static Result<GraphInput> input_type(std::string_view name, const TensorMeta& meta);
  Result<void> add_symbolic_inputs(Scope& scope);
  static Result<void> add_outputs(const Signature& signature, Scope& scope);

  Result<void> lower_nodes(const Json& graph, Scope& scope);
  Result<void> lower_node(const Json& json, Scope& scope);
  Result<void> lower_call(const NodeView& node, Scope& scope);
  Result<void> lower_higher_order(const NodeView& node, Scope& scope);
  static Result<std::vector<ValueId>> operands_of(const NodeView& node, std::size_t first, Scope& scope);
  Result<void> lower_inlined(const NodeView& node, const Json& graph, std::size_t place, Scope& scope);
  Result<void> lower_cond(const NodeView& node, Scope& scope);
  Result<void> lower_with_effects(const NodeView& node, Scope& scope);
  struct Body {
    std::uint32_t index = 0;
    std::size_t outputs = 0;
  };
  Result<Body> body(const Json& graph, const std::vector<ValueId>& operands, Scope& outer);
  Result<std::vector<ValueId>> lower_graph(const Json& graph, const std::vector<ValueId>& operands, Scope& inner);
  // What reads `name` from now on gets `value`; where `name` is a view, so does what reads the tensor it is a view of.
  static Result<void> mutate(std::string_view name, ValueId value, Scope& scope);
  static Result<ValueId> written_back(const NodeView& view, ValueId base, ValueId value, Scope& scope);

  static Result<aten::Argument> argument(const Json& value, const Scope& scope);
  static Result<ValueId> value_of(std::string_view name, const Scope& scope);
  static std::vector<aten::Output> outputs_of(const NodeView& node, const Scope& scope);
  void add_range_notes(Graph& graph);

  const Json& program_;
  std::set<std::string> notes_;
  std::unordered_map<std::string_view, std::pair<ValueId, std::size_t>> symbols_;  // an input and axis of that extent
  std::vector<const Json*> symbolic_inputs_;
  std::size_t lowered_ = 0;
};

// Errors name the node's output.
Result<NodeView> read_node(const Json& json);
void set_target(NodeView& node, std::string_view target);
// The names of the tensors and scalars that an argument reads.
void add_names(const Json& argument, std::vector<std::string_view>& out);

}  // namespace joulecast::torch
