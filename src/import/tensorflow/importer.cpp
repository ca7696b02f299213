// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/tensorflow/node_context.h"
#include "import/tensorflow/operators.h"
#include "import/text.h"

namespace joulecast::tensorflow {
namespace {

// Inlined functions repeat names and nodes: limits of what comes out.
constexpr std::size_t kMaxNodesOut = 500'000;
constexpr std::size_t kMaxNameBytes = std::size_t{1} << 27U;
constexpr std::size_t kMaxWork = 50'000'000;
constexpr std::size_t kMaxCalls = 32;  // functions in functions

std::string label(const NodeView& node) {
  return fmt::format("node '{}' ({})", printable(node.name), printable(node.op));
}

// Calls that the framework names itself say nothing about what is called.
std::string prefix_of(const Scope& caller, std::string_view node_name) {
  const bool generic = node_name.starts_with("StatefulPartitionedCall") || node_name.starts_with("PartitionedCall");
  return generic ? caller.prefix : caller.prefix + printable(node_name, kLongestInGraph) + "/";
}

}  // namespace

const Source& Importer::add_source(Source source) {
  return sources_.emplace_back(std::move(source));
}

const FunctionView* Importer::find_function(std::string_view name) const {
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second;
}

Result<void> Importer::count_work(std::size_t steps) {
  work_ += steps;
  if (work_ > kMaxWork) return unsupported("functions of the file ask for more work than any real model");
  return {};
}

void Importer::note(std::string text) {
  constexpr std::size_t kMaxNotes = 100;
  if (notes_.size() < kMaxNotes) notes_.insert(std::move(text));
}

Result<void> Importer::index_functions() {
  for (const FunctionView& function : graph_.functions) {
    if (!functions_.emplace(function.name, &function).second) {
      return invalid(fmt::format("function '{}' is defined twice", printable(function.name)));
    }
  }
  return {};
}

Result<Graph> Importer::run(std::string_view name, const Interface& interface) {
  JC_RETURN_IF_ERROR(index_functions());
  Scope scope;
  scope.canvas = &canvas_;
  scope.nodes = graph_.nodes;
  canvas_.builder.graph.name = printable(name, kLongestInGraph);
  JC_RETURN_IF_ERROR(fill_places(scope));
  JC_RETURN_IF_ERROR(add_inputs(interface, scope));
  std::vector<std::string_view> roots;
  for (const Port& port : interface.outputs) roots.push_back(port.tensor);
  JC_RETURN_IF_ERROR(lower(roots, scope));
  JC_RETURN_IF_ERROR(add_outputs(interface, scope));
  note_orders(interface);
  for (const std::string& text : notes_) canvas_.builder.graph.notes.push_back({text});
  return std::move(canvas_.builder.graph);
}

Result<void> Importer::fill_places(Scope& scope) {
  scope.outputs.resize(scope.nodes.size());
  scope.used.resize(scope.nodes.size(), 0);
  for (std::size_t i = 0; i < scope.nodes.size(); ++i) {
    const NodeView& node = scope.nodes[i];
    if (!scope.places.emplace(node.name, static_cast<std::uint32_t>(i)).second) {
      return invalid(fmt::format("{} has the name of another node", label(node)));
    }
  }
  return {};
}

Result<void> Importer::add_inputs(const Interface& interface, Scope& scope) {
  for (const Port& port : interface.inputs) {
    auto tensor = add_input(port);
    if (!tensor) return tl::unexpected(std::move(tensor).error().in(fmt::format("input '{}'", printable(port.name))));
    JC_ASSIGN_OR_RETURN(const Reference reference, parse_reference(port.tensor));
    const auto place = scope.places.find(reference.node);
    if (place == scope.places.end() || reference.index > 0) {
      return invalid(fmt::format("input '{}' is no node of the graph", printable(port.tensor)));
    }
    scope.outputs[place->second] = {*tensor};
  }
  return {};
}

// An open extent gets a name: the leading one, which all inputs share, is the batch.
Result<Tensor> Importer::add_input(const Port& port) {
  GraphInput input{kNoValue, port.element, {}};
  const std::size_t rank = port.shape.extents.size();
  const bool images = order_ == InputOrder::kChannelsFirst && rank >= 3 && rank <= 5;
  const Layout layout = images ? Layout::channels_first(rank) : Layout{};
  SampleTypes types{TensorType{port.element, {}}, TensorType{port.element, {}}};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = layout.of_tensor(i);
    const std::int64_t extent = port.shape.extents[axis];
    const bool known = extent > 0;
    const std::string symbol =
        axis == 0 ? "batch" : fmt::format("{}_axis{}", printable(port.name, kLongestInGraph), axis);
    input.dimensions.push_back(known ? Dimension{extent, ""} : Dimension{std::nullopt, symbol});
    const auto samples = sample_extents(axis, rank);
    for (std::size_t s = 0; s < kSamples; ++s) types[s].shape.push_back(known ? extent : samples[s]);
  }
  const bool possible = checked_elements(types[0].shape) && checked_elements(types[1].shape);
  if (!possible) return invalid(fmt::format("shape {} is not that of a tensor", text(port.shape.extents)));
  const bool sampled = port.shape.known_rank && port.element != ElementType::kUnknown;
  return Tensor::value(canvas_.add_input(port.name, std::move(input), sampled ? &types : nullptr), layout);
}

Result<void> Importer::add_outputs(const Interface& interface, Scope& scope) {
  for (const Port& port : interface.outputs) {
    JC_ASSIGN_OR_RETURN(const Tensor tensor, resolve(port.tensor, scope));
    const Tensor held = tensor.is_source() ? Tensor::value(canvas_.plain(tensor)) : tensor;
    if (!held.is_value()) {
      return unsupported(fmt::format("output '{}' is no tensor of numbers", printable(port.name)));
    }
    canvas_.builder.graph.outputs.push_back(held.id);
    if (!held.layout.plain()) {
      note(fmt::format("output '{}' is shown with its channels first", printable(port.name)));
    }
    canvas_.builder.rename(held.id, port.name);
  }
  return {};
}

void Importer::note_orders(const Interface& interface) {
  if (order_ != InputOrder::kChannelsFirst) return;
  for (const Port& port : interface.inputs) {
    if (port.shape.extents.size() < 3) continue;
    note(fmt::format("input '{}' is shown with its channels first, in the file they are last", printable(port.name)));
  }
}

Result<std::vector<Tensor>> Importer::call(const FunctionView& function, std::vector<Tensor> inputs, Scope& caller,
                                           std::string_view node_name) {
  if (std::find(active_.begin(), active_.end(), &function) != active_.end()) {
    return unsupported(fmt::format("function '{}' calls itself", printable(function.name)));
  }
  if (active_.size() >= kMaxCalls) {
    return unsupported(fmt::format("functions are nested more than {} deep", kMaxCalls));
  }
  Scope inner;
  inner.canvas = caller.canvas;
  inner.body_depth = caller.body_depth;
  inner.prefix = prefix_of(caller, node_name);
  return run_function(function, std::move(inputs), inner);
}

Result<std::vector<Tensor>> Importer::lower_body(const FunctionView& function, std::vector<Tensor> inputs,
                                                 Canvas& inner, const Scope& outer) {
  if (outer.body_depth + 1 >= kMaxBodyDepth) {
    return unsupported(fmt::format("loops and branches are nested more than {} deep", kMaxBodyDepth));
  }
  if (std::find(active_.begin(), active_.end(), &function) != active_.end()) {
    return unsupported(fmt::format("function '{}' calls itself", printable(function.name)));
  }
  Scope scope;
  scope.canvas = &inner;
  scope.body_depth = outer.body_depth + 1;
  return run_function(function, std::move(inputs), scope);
}

Result<std::vector<Tensor>> Importer::run_function(const FunctionView& function, std::vector<Tensor> inputs,
                                                   Scope& inner) {
  constexpr std::size_t kCall = 1000;  // tables are made for every call, however small the function
  JC_RETURN_IF_ERROR(count_work(kCall + function.nodes.size() + function.inputs.size() + function.returns.size() + 1));
  if (inputs.size() != function.inputs.size()) {
    return invalid(fmt::format("function '{}' takes {} inputs, {} are given", printable(function.name),
                               function.inputs.size(), inputs.size()));
  }
  inner.nodes = function.nodes;
  inner.function = &function;
  for (std::size_t i = 0; i < inputs.size(); ++i) inner.arguments.emplace(function.inputs[i].name, inputs[i]);
  std::unordered_map<std::string_view, std::string_view> returns(function.returns.begin(), function.returns.end());
  std::vector<std::string_view> roots;
  for (const ArgumentView& output : function.outputs) {
    const auto it = returns.find(output.name);
    if (it == returns.end()) {
      return invalid(fmt::format("function '{}' does not return its output '{}'", printable(function.name),
                                 printable(output.name)));
    }
    roots.push_back(it->second);
  }
  active_.push_back(&function);
  auto done = fill_places(inner);
  if (done) done = lower(roots, inner);
  active_.pop_back();
  if (!done) return tl::unexpected(std::move(done).error().in(fmt::format("function '{}'", printable(function.name))));
  std::vector<Tensor> out;
  for (const std::string_view root : roots) {
    JC_ASSIGN_OR_RETURN(Tensor tensor, resolve(root, inner));
    out.push_back(tensor);
  }
  return out;
}

Result<void> Importer::lower(std::span<const std::string_view> roots, Scope& scope) {
  JC_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> places, order(roots, scope));
  JC_RETURN_IF_ERROR(find_dilated(places, roots, scope));
  for (const std::uint32_t place : places) {
    if (scope.between.contains(place)) continue;
    auto done = lower_node(place, scope);
    if (!done) return tl::unexpected(std::move(done).error().in(label(scope.nodes[place])));
  }
  return {};
}

Result<void> Importer::lower_node(std::uint32_t place, Scope& scope) {
  const NodeView& node = scope.nodes[place];
  if (!scope.outputs[place].empty()) return {};  // an input of the network
  const GraphBuilder& builder = scope.canvas->builder;
  if (++lowered_ > kMaxNodes || builder.graph.nodes.size() > kMaxNodesOut) {
    return unsupported(fmt::format("more than {} nodes, those of functions counted every time", kMaxNodes));
  }
  JC_RETURN_IF_ERROR(count_work(1 + node.inputs.size() + node.attributes.size()));
  if (builder.name_bytes() > kMaxNameBytes) return unsupported("names are longer than in any real model");
  JC_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, inputs_of(node, scope));
  if (const auto found = scope.dilated.find(place); found != scope.dilated.end() && inputs.size() > 2) {
    JC_ASSIGN_OR_RETURN(const Tensor made, lower_dilated(found->second, inputs[2], scope));
    scope.outputs[place] = {made};
    return {};
  }
  NodeContext context(*this, scope, node, scope.used[place], std::move(inputs));
  const OperatorEntry* entry = node.opaque ? nullptr : find_operator(node.op);
  if (entry == nullptr && !node.opaque && graph_.more_operators != nullptr) entry = graph_.more_operators(node.op);
  const FunctionView* function = node.opaque ? nullptr : find_function(node.op);
  if (entry == nullptr && function != nullptr) {
    JC_ASSIGN_OR_RETURN(scope.outputs[place], call(*function, context.inputs(), scope, node.name));
    return {};
  }
  if (entry == nullptr) {
    JC_RETURN_IF_ERROR(context.opaque());
  } else {
    if (context.input_count() < entry->inputs) {
      return invalid(fmt::format("has {} inputs, at least {} are needed", context.input_count(), entry->inputs));
    }
    JC_RETURN_IF_ERROR(entry->lower(context));
  }
  scope.outputs[place] = context.take_outputs();
  if (scope.outputs[place].empty()) scope.outputs[place].emplace_back();
  return {};
}

}  // namespace joulecast::tensorflow
