// SPDX-License-Identifier: Apache-2.0
// The nodes of a program, one by one.
#include <fmt/format.h>

#include <algorithm>

#include "import/text.h"
#include "import/torch/aten/operators.h"
#include "import/torch/importer.h"

namespace joulecast::torch {
namespace {

constexpr std::size_t kMaxNodes = 250'000;
constexpr std::size_t kMaxNodesOut = 500'000;
constexpr std::size_t kMaxNameBytes = std::size_t{1} << 27U;
constexpr std::size_t kMaxOutputs = 1'000'000;

// The module that a node was run in: "layer1.0.conv1". Entries are "key,path,type", joined by semicolons, outermost
// first; torch before 2.4 writes paths as "L['self'].layer1.0.conv1".
std::string_view module_of(const Json& node) {
  const Json* metadata = node.find("metadata");
  const Json* stack = metadata == nullptr ? nullptr : metadata->find("nn_module_stack");
  if (stack == nullptr) return {};
  std::string_view entry = stack->text();
  if (const std::size_t last = entry.rfind(';'); last != entry.npos) entry.remove_prefix(last + 1);
  const std::size_t begin = entry.find(',');
  const std::size_t end = begin == entry.npos ? begin : entry.find(',', begin + 1);
  if (end == entry.npos) return {};
  std::string_view path = entry.substr(begin + 1, end - begin - 1);
  for (const std::string_view prefix : {"L['self'].", "L['self']"}) {
    if (path.starts_with(prefix)) path.remove_prefix(prefix.size());
  }
  // What torch says of a node that it made itself.
  return path == "_empty_nn_module_stack_from_metadata_hook" ? std::string_view{} : path;
}

std::string name_of(const NodeView& node) {
  const std::string_view path = module_of(*node.json);
  const std::string own = printable(node.node_name, kLongestInGraph);
  return path.empty() ? own : fmt::format("{}/{}", printable(path, kLongestInGraph), own);
}

}  // namespace

Result<void> Importer::lower_nodes(const Json& graph, Scope& scope) {
  JC_ASSIGN_OR_RETURN(const auto nodes, graph.array("nodes"));
  std::vector<std::string_view> read;
  for (const JsonMember& node : nodes) {
    const Json* inputs = node.value.find("inputs");
    if (inputs == nullptr) continue;
    for (const JsonMember& input : inputs->members()) {
      if (const Json* argument = input.value.find("arg")) add_names(*argument, read);
    }
  }
  scope.used.insert(read.begin(), read.end());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto done = lower_node(nodes[i].value, scope);
    if (done) continue;
    const Json* name = nodes[i].value.find("name");
    const std::string label =
        name == nullptr ? fmt::format("node {}", i) : fmt::format("node '{}'", printable(name->text()));
    return tl::unexpected(std::move(done).error().in(label));
  }
  return {};
}

Result<void> Importer::lower_node(const Json& json, Scope& scope) {
  if (++lowered_ > kMaxNodes || scope.builder->graph.nodes.size() > kMaxNodesOut) {
    return unsupported(fmt::format("more than {} nodes", kMaxNodes));
  }
  if (scope.builder->name_bytes() > kMaxNameBytes) return unsupported("names are longer than in any real model");
  JC_ASSIGN_OR_RETURN(const NodeView node, read_node(json));
  if (node.outputs.size() > kMaxOutputs) return unsupported("has more outputs than any real operator");
  for (const std::string_view name : node.outputs) {
    if (!name.empty() && scope.values.contains(name)) {
      return invalid(fmt::format("output '{}' is produced twice", printable(name)));
    }
  }
  auto done = [&]() -> Result<void> {
    if (node.target.starts_with("higher_order.")) return lower_higher_order(node, scope);
    return lower_call(node, scope);
  }();
  if (!done) return tl::unexpected(std::move(done).error().in(node.target));
  return {};
}

std::vector<aten::Output> Importer::outputs_of(const NodeView& node, const Scope& scope) {
  std::vector<aten::Output> out;
  for (const std::string_view name : node.outputs) {
    aten::Output output{printable(name, kLongestInGraph), std::nullopt, !name.empty() && scope.used.contains(name)};
    if (const auto found = scope.tensors.find(name); found != scope.tensors.end()) {
      if (const auto meta = tensor_meta(*found->second)) output.declared = meta->type();
    }
    out.push_back(std::move(output));
  }
  return out;
}

namespace {

// Arguments of operators have names; those of Python's functions count by their places.
Result<void> set_argument(aten::Call& call, const NodeView& node, std::size_t place, std::string_view name,
                          aten::Argument argument) {
  const bool by_place = name.empty() || node.overload.empty();
  if (by_place) return call.set_positional(place, std::move(argument));
  call.set_named(name, std::move(argument));
  return {};
}

}  // namespace

Result<void> Importer::lower_call(const NodeView& node, Scope& scope) {
  const aten::OperatorEntry* entry = aten::find_operator(node.name, node.overload);
  aten::Call call(*scope.builder, node.target, entry == nullptr ? "" : entry->parameters, outputs_of(node, scope));
  call.node_name = name_of(node);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Json& input = node.inputs[i].value;
    JC_ASSIGN_OR_RETURN(const Json* value, input.at("arg"));
    const Json* name = input.find("name");
    auto argument = Importer::argument(*value, scope);
    const std::string_view text = name == nullptr ? std::string_view{} : name->text();
    if (!argument) return tl::unexpected(std::move(argument).error().in(fmt::format("argument '{}'", printable(text))));
    JC_RETURN_IF_ERROR(set_argument(call, node, i, text, std::move(*argument)));
  }
  JC_RETURN_IF_ERROR(aten::lower(entry, call));
  for (const std::string& text : call.notes()) notes_.insert(text);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (call.results()[i] != kNoValue) scope.values.emplace(node.outputs[i], call.results()[i]);
  }
  if (aten::is_view(node.name) && node.outputs.size() == 1) scope.views.emplace(node.outputs[0], node.json);
  if (!aten::is_in_place(node.name) || call.results().empty() || node.inputs.empty()) return {};
  std::vector<std::string_view> changed;
  add_names(*node.inputs[0].value.find("arg"), changed);
  return changed.empty() ? Result<void>{} : mutate(changed[0], call.results()[0], scope);
}

Result<void> Importer::mutate(std::string_view name, ValueId value, Scope& scope) {
  // A view of a view of a ...: real programs have two or three.
  for (int steps = 0; steps < 16 && value != kNoValue; ++steps) {
    scope.values[name] = value;
    const auto view = scope.views.find(name);
    if (view == scope.views.end()) return {};
    JC_ASSIGN_OR_RETURN(const NodeView node, read_node(*view->second));
    std::vector<std::string_view> base;
    if (!node.inputs.empty()) add_names(*node.inputs[0].value.find("arg"), base);
    if (base.empty()) return {};
    JC_ASSIGN_OR_RETURN(const ValueId before, value_of(base[0], scope));
    JC_ASSIGN_OR_RETURN(value, written_back(node, before, value, scope));
    name = base[0];
  }
  return {};
}

// `base` with `value` in the place that `view` shows: x[i] = v is select, copy_.
Result<ValueId> Importer::written_back(const NodeView& view, ValueId base, ValueId value, Scope& scope) {
  const bool part = view.name == "slice" || view.name == "select";
  const std::string target = part ? fmt::format("aten.{}_scatter.default", view.name) : "aten.view_as.default";
  const aten::OperatorEntry* entry = aten::find_operator(part ? fmt::format("{}_scatter", view.name) : "view_as", "");
  std::vector<std::string_view> names;
  add_names(*view.inputs[0].value.find("arg"), names);
  const std::string_view base_name = names[0];
  aten::Output output{printable(base_name, kLongestInGraph), std::nullopt, true};
  if (const auto found = scope.tensors.find(base_name); found != scope.tensors.end()) {
    if (const auto meta = tensor_meta(*found->second)) output.declared = meta->type();
  }
  aten::Call call(*scope.builder, target, entry->parameters, {output});
  call.node_name = output.name;
  for (std::size_t i = 1; part && i < view.inputs.size(); ++i) {
    JC_ASSIGN_OR_RETURN(aten::Argument argument, Importer::argument(*view.inputs[i].value.find("arg"), scope));
    JC_ASSIGN_OR_RETURN(const std::string_view name, view.inputs[i].value.string("name"));
    call.set_named(name, std::move(argument));
  }
  call.set_named("self", part ? base : value);
  call.set_named(part ? "src" : "other", part ? value : base);
  JC_RETURN_IF_ERROR(aten::lower(entry, call));
  return call.results()[0];
}

}  // namespace joulecast::torch
