// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/onnx/notes.h"
#include "import/onnx/operators.h"
#include "import/onnx/order.h"
#include "import/text.h"

namespace joulecast::onnx {
namespace {

constexpr std::int64_t kOldestOpset = 7;
constexpr std::int64_t kNewestOpset = 28;  // of the operator list
// Inlined functions repeat names, chains repeat nodes: limits of what comes out.
constexpr std::size_t kMaxNodesOut = 500'000;
constexpr std::size_t kMaxNameBytes = std::size_t{1} << 27U;
constexpr std::size_t kMaxWork = 50'000'000;

// Weights are parameters. Scalars and integers are constants: no optimizer updates them, whatever kept them as such.
ValueKind kind_of(const TensorType& type) {
  const bool quantized = bit_width(type.element) <= 8 && type.element != ElementType::kBool &&
                         type.elements() > static_cast<std::int64_t>(kMaxKnownElements);
  const bool weight = is_floating(type.element) && !type.shape.empty();
  return weight || quantized ? ValueKind::kParameter : ValueKind::kConstant;
}

Dimension dimension(const DimensionView& view, std::string_view input, std::size_t axis) {
  if (!view.symbol.empty()) return {std::nullopt, printable(view.symbol, kLongestInGraph)};
  if (view.extent && *view.extent > 0) return {view.extent, ""};
  return {std::nullopt, fmt::format("{}_axis{}", printable(input, kLongestInGraph), axis)};
}

Guess guess_input(const ValueInfoView& info) {
  Guess out{info.element, std::nullopt, false, {}};
  if (info.has_shape) out.rank = info.dimensions.size();
  return out;
}

Opsets to_map(const std::vector<OpsetView>& list) {
  Opsets out;
  for (const OpsetView& opset : list) out.emplace(canonical_domain(opset.domain), opset.version);
  return out;
}

}  // namespace

std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view{} : domain;
}

Result<Graph> Importer::run(std::string_view name) {
  if (!model_.graph) return invalid("has no graph: not an ONNX model, or truncated");
  JC_RETURN_IF_ERROR(read_opsets());
  JC_RETURN_IF_ERROR(index_functions());
  GraphBuilder builder;
  builder.graph.name = printable(name, kLongestInGraph);
  Scope scope;
  scope.builder = &builder;
  scope.opsets = &opsets_;
  JC_RETURN_IF_ERROR(fill_scope(*model_.graph, scope));
  add_notes();
  for (const std::string& text : notes_) builder.graph.notes.push_back({text});
  return std::move(builder.graph);
}

Result<void> Importer::read_opsets() {
  opsets_ = to_map(model_.opsets);
  const auto own = opsets_.find("");
  if (own == opsets_.end()) {
    // Models of nothing but functions and foreign operators may leave it out.
    opsets_.emplace("", kNewestOpset);
    return {};
  }
  if (own->second < kOldestOpset) {
    return unsupported(
        fmt::format("operator set {} is too old, the oldest supported is {}", own->second, kOldestOpset));
  }
  if (own->second > kNewestOpset) {
    note(fmt::format("operator set {} is newer than the newest known, {}: operators may have changed", own->second,
                     kNewestOpset));
  }
  return {};
}

Result<void> Importer::index_functions() {
  for (const FunctionView& function : model_.functions) {
    const FunctionKey key{canonical_domain(function.domain), function.name, function.overload};
    if (!functions_.emplace(key, &function).second) {
      return invalid(fmt::format("function '{}' of domain '{}' is defined twice", printable(function.name),
                                 printable(function.domain)));
    }
    function_opsets_.emplace(&function, to_map(function.opsets));
  }
  return {};
}

Result<void> Importer::count_work(std::size_t steps) {
  work_ += steps;
  if (work_ > kMaxWork) return unsupported("functions and loops of the file ask for more work than any real model");
  return {};
}

void Importer::note(std::string text) {
  constexpr std::size_t kMaxNotes = 100;
  if (notes_.size() < kMaxNotes) notes_.insert(std::move(text));
}

void Importer::add_notes() {
  for (std::string& text : notes_on(model_)) note(std::move(text));
}

Result<void> Importer::fill_scope(const GraphView& graph, Scope& scope) {
  for (const ValueInfoView& info : graph.value_info) scope.declared.emplace(info.name, &info);
  for (const ValueInfoView& info : graph.outputs) scope.declared.emplace(info.name, &info);
  JC_RETURN_IF_ERROR(add_initializers(graph, scope));
  JC_RETURN_IF_ERROR(add_inputs(graph, scope));
  for (const ValueInfoView& output : graph.outputs) scope.used.insert(output.name);
  JC_RETURN_IF_ERROR(lower_nodes(graph.nodes, scope));
  return add_outputs(graph, scope);
}

Result<void> Importer::add_initializers(const GraphView& graph, Scope& scope) {
  for (const TensorView& tensor : graph.initializers) {
    if (scope.values.contains(tensor.name)) {
      return invalid(fmt::format("initializer '{}' is there twice", printable(tensor.name)));
    }
    if (tensor.type.element == ElementType::kUnknown) {
      return unsupported(fmt::format("initializer '{}' has an element type we do not know", printable(tensor.name)));
    }
    const ValueId id = scope.builder->add_constant(scope.prefix + std::string(tensor.name), tensor.type,
                                                   tensor.contents, kind_of(tensor.type));
    scope.values.emplace(tensor.name, id);
  }
  return {};
}

// Before IR version 4 every initializer was listed among the inputs.
Result<void> Importer::add_inputs(const GraphView& graph, Scope& scope) {
  std::unordered_set<std::string_view> seen;
  for (const ValueInfoView& info : graph.inputs) {
    if (!seen.insert(info.name).second) {
      return invalid(fmt::format("input '{}' is there twice", printable(info.name)));
    }
    if (scope.values.contains(info.name)) continue;
    auto input = input_type(info);
    if (!input) return tl::unexpected(std::move(input).error().in(fmt::format("input '{}'", printable(info.name))));
    const ValueId id =
        scope.builder->add_input(scope.prefix + std::string(info.name), std::move(*input), guess_input(info));
    scope.values.emplace(info.name, id);
  }
  return {};
}

Result<GraphInput> Importer::input_type(const ValueInfoView& info) {
  GraphInput out;
  if (info.name.empty()) return invalid("has no name");
  if (info.known_type && !info.tensor) return unsupported("is not a tensor");
  if (info.dimensions.size() > kMaxRank) return unsupported(fmt::format("has more than {} axes", kMaxRank));
  out.element = info.element;
  Shape shape;
  for (std::size_t axis = 0; axis < info.dimensions.size(); ++axis) {
    out.dimensions.push_back(dimension(info.dimensions[axis], info.name, axis));
    shape.push_back(out.dimensions.back().extent.value_or(1));
  }
  if (!checked_elements(shape)) return invalid(fmt::format("shape {} is too large for a tensor", text(shape)));
  return out;
}

Result<void> Importer::add_outputs(const GraphView& graph, Scope& scope) {
  for (const ValueInfoView& output : graph.outputs) {
    const auto id = resolve(output.name, scope);
    if (!id || *id == kNoValue)
      return invalid(fmt::format("output '{}' of the graph is produced by no node", printable(output.name)));
    scope.builder->graph.outputs.push_back(*id);
  }
  return {};
}

Result<void> Importer::lower_nodes(std::span<const NodeView> nodes, Scope& scope) {
  JC_ASSIGN_OR_RETURN(ExecutionOrder order, execution_order(nodes));
  scope.used.merge(order.used);
  for (const std::uint32_t i : order.nodes) {
    auto done = lower_node(nodes[i], scope);
    if (!done) return tl::unexpected(std::move(done).error().in(label(nodes[i], i)));
  }
  return {};
}

Result<void> Importer::lower_node(const NodeView& node, Scope& scope) {
  if (++lowered_ > kMaxNodes || scope.builder->graph.nodes.size() > kMaxNodesOut) {
    return unsupported(fmt::format("more than {} nodes, those of functions counted every time", kMaxNodes));
  }
  JC_RETURN_IF_ERROR(count_work(node.size));
  if (scope.builder->name_bytes() > kMaxNameBytes) return unsupported("names are longer than in any real model");
  if (node.op_type.empty()) return invalid("has no operator type");
  const bool dead = std::all_of(node.outputs.begin(), node.outputs.end(), [](auto name) { return name.empty(); });
  if (dead) return {};
  for (const std::string_view name : node.outputs) {
    if (!name.empty() && scope.values.contains(name)) {
      return invalid(fmt::format("output '{}' is also an input or initializer of the graph", printable(name)));
    }
  }
  const FunctionKey key{canonical_domain(node.domain), node.op_type, node.overload};
  if (const auto function = functions_.find(key); function != functions_.end()) {
    return call(*function->second, node, scope);
  }
  JC_ASSIGN_OR_RETURN(const std::int64_t opset, opset_of(node, scope));
  JC_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, inputs_of(node, scope));
  NodeContext context(*this, scope, node, opset, std::move(inputs));
  const OperatorEntry* entry = find_operator(canonical_domain(node.domain), node.op_type);
  if (entry == nullptr) {
    JC_RETURN_IF_ERROR(context.opaque());
    return check_outputs(node, scope);
  }
  for (std::size_t i = 0; i < entry->inputs; ++i) {
    if (!context.has(i)) return invalid(fmt::format("input {} is missing, at least {} are needed", i, entry->inputs));
  }
  JC_RETURN_IF_ERROR(entry->lower(context));
  return check_outputs(node, scope);
}

Result<std::int64_t> Importer::opset_of(const NodeView& node, const Scope& scope) const {
  const std::string_view domain = canonical_domain(node.domain);
  if (const auto it = scope.opsets->find(domain); it != scope.opsets->end()) return it->second;
  // A function may leave out what the model imports.
  if (const auto it = opsets_.find(domain); it != opsets_.end()) return it->second;
  return std::int64_t{1};  // of a foreign domain that the model forgot to import
}

}  // namespace joulecast::onnx
