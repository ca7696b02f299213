// SPDX-License-Identifier: Apache-2.0
// Turns a ModelView into a Graph: names become values, functions are inlined, subgraphs become bodies.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "import/onnx/node_context.h"

namespace joulecast::onnx {

using Opsets = std::unordered_map<std::string_view, std::int64_t>;  // domain -> version
using AttributeBindings = std::unordered_map<std::string_view, const AttributeView*>;

// Where names of values mean something: the main graph, one call of a function, one subgraph.
struct Scope {
  GraphBuilder* builder = nullptr;
  Scope* outer = nullptr;  // of a subgraph: the scope whose values it may capture
  const Opsets* opsets = nullptr;
  const AttributeBindings* attributes = nullptr;  // of the function call that we are in
  std::string prefix;                             // of value names, in functions
  std::size_t depth = 0;                          // functions and subgraphs that we are in
  std::size_t body_depth = 0;                     // subgraphs alone
  std::unordered_map<std::string_view, ValueId> values;
  std::unordered_map<std::string_view, std::vector<ValueId>> sequences;
  std::unordered_set<std::string_view> used;  // names that are read
  std::unordered_map<std::string_view, const ValueInfoView*> declared;
  std::vector<std::pair<ValueId, ValueId>> captures;  // value of the outer graph, input of this one
};

class Importer {
 public:
  explicit Importer(const ModelView& model) : model_(model) {}

  Result<Graph> run(std::string_view name);

  // Lowers a subgraph of a node in `outer`.
  Result<NodeContext::Body> body(const GraphView& graph, Scope& outer);
  // Counts work that a file can ask for more often than its size tells: calls, unrolled loops, copies of sequences.
  Result<void> count_work(std::size_t steps);
  // Lowers the body of a loop `trips` times into the graph of `outer` itself.
  Result<void> unroll(const GraphView& graph, const NodeView& node, const std::vector<ValueId>& inputs,
                      std::int64_t trips, Scope& outer);
  // The elements of a sequence; nullptr where there is none of the name.
  static const std::vector<ValueId>* find_sequence(std::string_view name, Scope& scope);
  void note(std::string text);

 private:
  using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;  // domain, name, overload

  Result<void> read_opsets();
  Result<void> index_functions();

  Result<void> fill_scope(const GraphView& graph, Scope& scope);
  Result<void> add_initializers(const GraphView& graph, Scope& scope);
  Result<void> add_inputs(const GraphView& graph, Scope& scope);
  Result<void> add_outputs(const GraphView& graph, Scope& scope);
  Result<GraphInput> input_type(const ValueInfoView& info);

  Result<void> lower_nodes(std::span<const NodeView> nodes, Scope& scope);
  Result<void> lower_node(const NodeView& node, Scope& scope);
  Result<void> call(const FunctionView& function, const NodeView& node, Scope& scope);
  Result<void> check_call(const FunctionView& function, const NodeView& node, const Scope& scope);
  Result<void> inline_function(const FunctionView& function, const NodeView& node, Scope& scope);
  Result<void> return_outputs(const FunctionView& function, const NodeView& node, Scope& inner, Scope& scope);
  Result<void> lower_trip(const GraphView& graph, Scope& scope);
  Result<std::int64_t> opset_of(const NodeView& node, const Scope& scope) const;

  Result<std::vector<ValueId>> inputs_of(const NodeView& node, Scope& scope);
  static std::optional<ValueId> resolve(std::string_view name, Scope& scope);
  static ValueId capture(ValueId id, std::string_view name, Scope& scope);
  static Result<void> check_outputs(const NodeView& node, const Scope& scope);
  void add_notes();

  const ModelView& model_;
  Opsets opsets_;
  std::map<FunctionKey, const FunctionView*> functions_;
  std::map<const FunctionView*, Opsets> function_opsets_;
  std::vector<const FunctionView*> active_;  // calls that we are in
  std::set<std::string> notes_;
  std::size_t lowered_ = 0;  // nodes, those of inlined functions every time
  std::size_t work_ = 0;
};

// "" and "ai.onnx" are the same domain.
std::string_view canonical_domain(std::string_view domain);

}  // namespace joulecast::onnx
