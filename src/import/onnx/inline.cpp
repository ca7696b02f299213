// SPDX-License-Identifier: Apache-2.0
// Subgraphs become bodies of the graph, calls of functions the nodes of their functions.
#include <fmt/format.h>

#include <algorithm>

#include "import/onnx/importer.h"
#include "import/text.h"

namespace joulecast::onnx {

Result<NodeContext::Body> Importer::body(const GraphView& graph, Scope& outer) {
  if (outer.depth + 1 > static_cast<std::size_t>(kMaxDepth) || outer.body_depth + 1 > kMaxBodyDepth) {
    return unsupported(fmt::format("graphs are nested more than {} deep", kMaxBodyDepth));
  }
  GraphBuilder builder;
  builder.graph.name = printable(graph.name, kLongestInGraph);
  Scope scope;
  scope.builder = &builder;
  scope.outer = &outer;
  scope.opsets = outer.opsets;
  scope.attributes = outer.attributes;
  scope.depth = outer.depth + 1;
  scope.body_depth = outer.body_depth + 1;
  JC_RETURN_IF_ERROR(fill_scope(graph, scope));
  NodeContext::Body out;
  out.inputs = builder.graph.inputs.size() - scope.captures.size();
  out.outputs = builder.graph.outputs.size();
  for (const auto& [outside, inside] : scope.captures) out.captures.push_back(outside);
  Graph& parent = outer.builder->graph;
  out.index = static_cast<std::uint32_t>(parent.bodies.size());
  parent.bodies.push_back(std::move(builder.graph));
  return out;
}

namespace {

// What the attributes of a function mean in this call: its defaults, then what the caller says, which may itself be an
// attribute of the function that the call stands in.
AttributeBindings bind_attributes(const FunctionView& function, const NodeView& node, const Scope& scope) {
  AttributeBindings out;
  for (const AttributeView& attribute : function.defaults) out[attribute.name] = &attribute;
  for (const AttributeView& attribute : node.attributes) {
    if (attribute.reference.empty()) {
      out[attribute.name] = &attribute;
    } else if (scope.attributes != nullptr && scope.attributes->contains(attribute.reference)) {
      out[attribute.name] = scope.attributes->at(attribute.reference);
    }
  }
  return out;
}

std::string call_prefix(const FunctionView& function, const NodeView& node, const Scope& scope) {
  std::string_view name = function.name;
  if (!node.outputs.empty() && !node.outputs[0].empty()) name = node.outputs[0];
  if (!node.name.empty()) name = node.name;
  return fmt::format("{}{}/", scope.prefix, printable(name));
}

}  // namespace

Result<void> Importer::check_call(const FunctionView& function, const NodeView& node, const Scope& scope) {
  if (std::find(active_.begin(), active_.end(), &function) != active_.end()) return invalid("calls itself");
  if (scope.depth + 1 > static_cast<std::size_t>(kMaxDepth)) {
    return unsupported(fmt::format("functions are nested more than {} deep", kMaxDepth));
  }
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size()) {
    return invalid(fmt::format("takes {} inputs and {} outputs, the call has {} and {}", function.inputs.size(),
                               function.outputs.size(), node.inputs.size(), node.outputs.size()));
  }
  return count_work(function.size);
}

Result<void> Importer::call(const FunctionView& function, const NodeView& node, Scope& scope) {
  auto done = check_call(function, node, scope);
  if (done) done = inline_function(function, node, scope);
  if (!done) return tl::unexpected(std::move(done).error().in(fmt::format("function '{}'", printable(function.name))));
  return {};
}

Result<void> Importer::inline_function(const FunctionView& function, const NodeView& node, Scope& scope) {
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> inputs, inputs_of(node, scope));
  const AttributeBindings attributes = bind_attributes(function, node, scope);
  Scope inner;
  inner.builder = scope.builder;
  inner.opsets = &function_opsets_[&function];
  inner.attributes = &attributes;
  inner.prefix = call_prefix(function, node, scope);
  inner.depth = scope.depth + 1;
  inner.body_depth = scope.body_depth;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    inner.values.emplace(function.inputs[i], i < inputs.size() ? inputs[i] : kNoValue);
  }
  for (const ValueInfoView& info : function.value_info) inner.declared.emplace(info.name, &info);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (scope.used.contains(node.outputs[i])) inner.used.insert(function.outputs[i]);
  }
  active_.push_back(&function);
  auto done = lower_nodes(function.nodes, inner);
  active_.pop_back();
  if (!done) return done;
  return return_outputs(function, node, inner, scope);
}

Result<void> Importer::return_outputs(const FunctionView& function, const NodeView& node, Scope& inner, Scope& scope) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (const auto* elements = find_sequence(function.outputs[i], inner)) {
      scope.sequences.emplace(node.outputs[i], *elements);
      continue;
    }
    const auto id = resolve(function.outputs[i], inner);
    if (id && *id != kNoValue) {
      scope.values.emplace(node.outputs[i], *id);
    } else if (scope.used.contains(node.outputs[i])) {
      return invalid(fmt::format("output '{}' is produced by no node", printable(function.outputs[i])));
    }
  }
  return {};
}

}  // namespace joulecast::onnx
