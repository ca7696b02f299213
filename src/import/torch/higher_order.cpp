// SPDX-License-Identifier: Apache-2.0
// Operators that take graphs: contexts that only switch something around theirs are inlined, branches become bodies.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/text.h"
#include "import/torch/aten/operators.h"
#include "import/torch/importer.h"

namespace joulecast::torch {
namespace {

const Json* graph_argument(const JsonMember& input) {
  const Json* argument = input.value.find("arg");
  if (argument == nullptr) return nullptr;
  const Choice choice = chosen(*argument);
  return choice.tag == "as_graph" ? choice.value->find("graph") : nullptr;
}

// Runs its graph once on the arguments behind it: gradients on or off, autocast, checkpoints, hints.
bool runs_once(std::string_view target) {
  return target.starts_with("higher_order.wrap") || target.starts_with("higher_order.tag_activation_checkpoint") ||
         target.starts_with("higher_order.hints_wrapper") || target.starts_with("higher_order.invoke_subgraph");
}

}  // namespace

Result<void> Importer::lower_higher_order(const NodeView& node, Scope& scope) {
  if (node.target.starts_with("higher_order.with_effects")) return lower_with_effects(node, scope);
  const auto found = std::find_if(node.inputs.begin(), node.inputs.end(),
                                  [](const JsonMember& input) { return graph_argument(input) != nullptr; });
  if (found == node.inputs.end()) return lower_call(node, scope);
  if (runs_once(node.target)) {
    return lower_inlined(node, *graph_argument(*found), static_cast<std::size_t>(found - node.inputs.begin()), scope);
  }
  if (node.target.starts_with("higher_order.cond")) return lower_cond(node, scope);
  notes_.insert(fmt::format("{} is kept as one operator: what it runs is not counted", node.target));
  return lower_call(node, scope);
}

// The values of the arguments from `first` on, lists taken apart.
Result<std::vector<ValueId>> Importer::operands_of(const NodeView& node, std::size_t first, Scope& scope) {
  std::vector<ValueId> out;
  for (std::size_t i = first; i < node.inputs.size(); ++i) {
    JC_ASSIGN_OR_RETURN(const Json* argument, node.inputs[i].value.at("arg"));
    std::vector<std::string_view> names;
    add_names(*argument, names);
    for (const std::string_view name : names) {
      JC_ASSIGN_OR_RETURN(const ValueId id, value_of(name, scope));
      out.push_back(id);
    }
  }
  return out;
}

Result<std::vector<ValueId>> Importer::lower_graph(const Json& graph, const std::vector<ValueId>& operands,
                                                   Scope& inner) {
  constexpr std::size_t kMaxDepth = 32;
  if (inner.depth > kMaxDepth) return unsupported(fmt::format("graphs nested more than {} deep", kMaxDepth));
  JC_RETURN_IF_ERROR(describe(graph, inner));
  JC_ASSIGN_OR_RETURN(const auto inputs, graph.array("inputs"));
  std::vector<std::string_view> names;
  for (const JsonMember& input : inputs) add_names(input.value, names);
  if (names.size() != operands.size()) {
    return invalid(fmt::format("a graph of {} inputs is given {}", names.size(), operands.size()));
  }
  for (std::size_t i = 0; i < names.size(); ++i) inner.values.emplace(names[i], operands[i]);
  JC_ASSIGN_OR_RETURN(const auto outputs, graph.array("outputs"));
  std::vector<std::string_view> results;
  for (const JsonMember& output : outputs) add_names(output.value, results);
  inner.used.insert(results.begin(), results.end());
  JC_RETURN_IF_ERROR(lower_nodes(graph, inner));
  std::vector<ValueId> out;
  for (const std::string_view name : results) {
    JC_ASSIGN_OR_RETURN(const ValueId id, value_of(name, inner));
    out.push_back(id);
  }
  return out;
}

Result<void> Importer::lower_inlined(const NodeView& node, const Json& graph, std::size_t place, Scope& scope) {
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> operands, operands_of(node, place + 1, scope));
  Scope inner;
  inner.builder = scope.builder;
  inner.depth = scope.depth + 1;
  inner.body_depth = scope.body_depth;
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> results, lower_graph(graph, operands, inner));
  for (std::size_t i = 0; i < std::min(results.size(), node.outputs.size()); ++i) {
    if (!node.outputs[i].empty()) scope.values.emplace(node.outputs[i], results[i]);
  }
  return {};
}

// The graph as a body of its own, whose inputs are the operands.
Result<Importer::Body> Importer::body(const Json& graph, const std::vector<ValueId>& operands, Scope& outer) {
  if (outer.body_depth + 1 >= kMaxBodyDepth) return unsupported("branches nested too deep");
  GraphBuilder builder;
  Scope inner;
  inner.builder = &builder;
  inner.depth = outer.depth + 1;
  inner.body_depth = outer.body_depth + 1;
  std::vector<ValueId> inputs;
  for (const ValueId id : operands) {
    GraphInput input;
    input.element = outer.builder->guess(id).element;
    if (const TensorType* type = outer.builder->type(id)) {
      for (const std::int64_t extent : type->shape) input.dimensions.push_back({extent, ""});
    }
    inputs.push_back(
        builder.add_input(outer.builder->graph.value(id).name, std::move(input), outer.builder->guess(id)));
  }
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> results, lower_graph(graph, inputs, inner));
  builder.graph.outputs = results;
  Body out{static_cast<std::uint32_t>(outer.builder->graph.bodies.size()), results.size()};
  outer.builder->graph.bodies.push_back(std::move(builder.graph));
  return out;
}

// token, operator, its arguments -> token, its results: tokens order the operators that have effects, and hold nothing.
Result<void> Importer::lower_with_effects(const NodeView& node, Scope& scope) {
  const Json* argument = node.inputs.size() < 2 ? nullptr : node.inputs[1].value.find("arg");
  const Choice choice = argument == nullptr ? Choice{} : chosen(*argument);
  if (choice.tag != "as_operator" || !choice.value->is(JsonKind::kText) || node.outputs.empty()) {
    return invalid("is not a token, an operator and its arguments");
  }
  NodeView inner = node;
  set_target(inner, choice.value->text());
  inner.inputs = node.inputs.subspan(2);
  inner.outputs.erase(inner.outputs.begin());
  return lower_call(inner, scope);
}

// condition, graph if true, graph if false, operands: both graphs get all of them.
Result<void> Importer::lower_cond(const NodeView& node, Scope& scope) {
  const bool shaped =
      node.inputs.size() >= 3 && graph_argument(node.inputs[1]) != nullptr && graph_argument(node.inputs[2]) != nullptr;
  if (!shaped) return invalid("is not a condition and two graphs");
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> operands, operands_of(node, 3, scope));
  JC_ASSIGN_OR_RETURN(const Json* predicate, node.inputs[0].value.at("arg"));
  JC_ASSIGN_OR_RETURN(const aten::Argument condition, argument(*predicate, scope));
  const auto* id = std::get_if<ValueId>(&condition);
  if (id == nullptr) {
    const auto* truth = std::get_if<bool>(&condition);
    if (truth == nullptr) return invalid("its condition is neither a tensor nor a bool");
    return lower_inlined(node, *graph_argument(node.inputs[*truth ? 1 : 2]), 2, scope);
  }
  JC_ASSIGN_OR_RETURN(const Body yes, body(*graph_argument(node.inputs[1]), operands, scope));
  JC_ASSIGN_OR_RETURN(const Body no, body(*graph_argument(node.inputs[2]), operands, scope));
  if (yes.outputs != node.outputs.size() || no.outputs != node.outputs.size()) {
    return invalid(fmt::format("branches with {} and {} outputs for {}", yes.outputs, no.outputs, node.outputs.size()));
  }
  aten::Call call(*scope.builder, node.target, "", outputs_of(node, scope));
  call.node_name = printable(node.node_name, kLongestInGraph);
  std::vector<ValueId> inputs{*id};
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  const If op{yes.index, no.index, static_cast<std::int64_t>(operands.size())};
  JC_RETURN_IF_ERROR(call.emit(op, std::move(inputs), node.outputs.size()));
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (call.results()[i] != kNoValue) scope.values.emplace(node.outputs[i], call.results()[i]);
  }
  return {};
}

}  // namespace joulecast::torch
