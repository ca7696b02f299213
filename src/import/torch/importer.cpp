// SPDX-License-Identifier: Apache-2.0
#include "import/torch/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/text.h"
#include "import/torch/aten/weight_kind.h"

namespace joulecast::torch {
namespace {}  // namespace

Result<Graph> Importer::run(std::string_view name) {
  JC_ASSIGN_OR_RETURN(const Json* graph_module, program_.at("graph_module"));
  GraphBuilder builder;
  builder.graph.name = printable(name, kLongestInGraph);
  Scope scope;
  scope.builder = &builder;
  JC_RETURN_IF_ERROR(fill(*graph_module, scope));
  add_range_notes(builder.graph);
  for (const std::string& text : notes_) builder.graph.notes.push_back({text});
  return std::move(builder.graph);
}

Result<void> Importer::fill(const Json& graph_module, Scope& scope) {
  JC_ASSIGN_OR_RETURN(const Json* graph, graph_module.at("graph"));
  JC_ASSIGN_OR_RETURN(const Signature signature, read_signature(graph_module));
  JC_RETURN_IF_ERROR(describe(*graph, scope));
  for (const InputSpec& spec : signature.inputs) {
    const bool weight = spec.kind == InputKind::kWeight || spec.kind == InputKind::kBuffer;
    if (weight) JC_RETURN_IF_ERROR(add_weight(spec, scope));
    if (spec.kind == InputKind::kUser) JC_RETURN_IF_ERROR(add_input(spec, scope));
  }
  JC_RETURN_IF_ERROR(add_symbolic_inputs(scope));
  for (const Json* output : signature.outputs) {
    std::vector<std::string_view> names;
    add_names(*output, names);
    scope.used.insert(names.begin(), names.end());
  }
  JC_RETURN_IF_ERROR(lower_nodes(*graph, scope));
  return add_outputs(signature, scope);
}

Result<void> Importer::describe(const Json& graph, Scope& scope) {
  JC_ASSIGN_OR_RETURN(const auto tensors, graph.object("tensor_values"));
  for (const JsonMember& member : tensors) scope.tensors.emplace(member.key, &member.value);
  return {};
}

namespace {

Result<TensorMeta> meta_of(std::string_view name, const Scope& scope) {
  const auto found = scope.tensors.find(name);
  if (found == scope.tensors.end()) return invalid("has no entry in 'tensor_values'");
  return tensor_meta(*found->second);
}

}  // namespace

Result<void> Importer::add_weight(const InputSpec& spec, Scope& scope) {
  const std::string place = fmt::format("weight '{}'", printable(spec.target));
  if (scope.values.contains(spec.name)) return invalid(fmt::format("{} is there twice", place));
  auto meta = meta_of(spec.name, scope);
  if (!meta) return tl::unexpected(std::move(meta).error().in(place));
  const auto type = meta->type();
  const bool fixed = std::all_of(meta->extents.begin(), meta->extents.end(), [](const Extent& e) { return e.number; });
  if (!type || !fixed) return unsupported(fmt::format("{} has extents that no weight has", place));
  if (type->element == ElementType::kUnknown) {
    return unsupported(fmt::format("{} has an element type we do not know", place));
  }
  const ValueKind kind = aten::weight_kind(*type, spec.target, spec.kind == InputKind::kBuffer);
  scope.values.emplace(spec.name, scope.builder->add_constant(spec.target, *type, std::nullopt, kind));
  return {};
}

Result<GraphInput> Importer::input_type(std::string_view name, const TensorMeta& meta) {
  GraphInput out;
  if (!meta.type()) return unsupported("has extents that no tensor has, or too many");
  out.element = meta.element;
  for (std::size_t axis = 0; axis < meta.extents.size(); ++axis) {
    const Extent& extent = meta.extents[axis];
    Dimension dimension{extent.number, {}};
    if (!extent.number) {
      dimension.symbol = extent.symbol.empty() ? fmt::format("{}_axis{}", printable(name, kLongestInGraph), axis)
                                               : printable(extent.symbol, kLongestInGraph);
    }
    out.dimensions.push_back(std::move(dimension));
  }
  return out;
}

// Numbers, strings and None among the arguments are in the graph already.
Result<void> Importer::add_input(const InputSpec& spec, Scope& scope) {
  const Choice choice = chosen(*spec.argument);
  if (choice.tag == "as_sym_int" || choice.tag == "as_sym_float" || choice.tag == "as_sym_bool") {
    symbolic_inputs_.push_back(spec.argument);
    return {};
  }
  if (choice.tag != "as_tensor") return {};
  JC_ASSIGN_OR_RETURN(const std::string_view name, choice.value->string("name"));
  const std::string place = fmt::format("input '{}'", printable(name));
  if (scope.values.contains(name)) return invalid(fmt::format("{} is there twice", place));
  auto meta = meta_of(name, scope);
  if (!meta) return tl::unexpected(std::move(meta).error().in(place));
  auto input = input_type(name, *meta);
  if (!input) return tl::unexpected(std::move(input).error().in(place));
  const Guess guess{meta->element, meta->extents.size(), false, {}};
  const ValueId id = scope.builder->add_input(name, std::move(*input), guess);
  scope.values.emplace(name, id);
  for (std::size_t axis = 0; axis < meta->extents.size(); ++axis) {
    if (!meta->extents[axis].symbol.empty()) symbols_.emplace(meta->extents[axis].symbol, std::pair(id, axis));
  }
  return {};
}

namespace {

// The symbol behind a symbolic integer, and the number it had when the program was exported.
struct SymbolicValue {
  std::string_view symbol;
  std::int64_t hint = 1;
};

SymbolicValue symbolic_value(const Json& graph, std::string_view name) {
  SymbolicValue out;
  const Json* table = graph.find("sym_int_values");
  const Json* value = table == nullptr ? nullptr : table->find(name);
  const Json* expression = value == nullptr ? nullptr : value->find("as_expr");
  if (expression == nullptr) return out;
  if (const Json* text = expression->find("expr_str")) out.symbol = plain_symbol(text->text());
  const Json* hint = expression->find("hint");
  if (hint != nullptr && hint->is(JsonKind::kObject)) hint = hint->find("as_int");
  if (hint != nullptr && hint->is(JsonKind::kInteger)) out.hint = hint->whole();
  return out;
}

}  // namespace

// An integer the caller gives is the extent of a tensor where one has the same symbol, else what it was at export.
Result<void> Importer::add_symbolic_inputs(Scope& scope) {
  const Json* graph = program_.find("graph_module")->find("graph");
  for (const Json* argument : symbolic_inputs_) {
    std::vector<std::string_view> names;
    add_names(*argument, names);
    if (names.empty() || scope.values.contains(names[0])) continue;
    const SymbolicValue value = symbolic_value(*graph, names[0]);
    aten::Call call(*scope.builder, "input", "", {{printable(names[0], kLongestInGraph), std::nullopt, true}});
    const auto source = symbols_.find(value.symbol);
    if (source != symbols_.end()) {
      scope.values.emplace(names[0], call.extent(source->second.first, source->second.second));
      continue;
    }
    notes_.insert(
        fmt::format("input '{}' is a number: it stays what it was at export, {}", printable(names[0]), value.hint));
    scope.values.emplace(names[0], call.int_scalar(value.hint));
  }
  return {};
}

Result<ValueId> Importer::value_of(std::string_view name, const Scope& scope) {
  const auto found = scope.values.find(name);
  if (found != scope.values.end()) return found->second;
  return invalid(fmt::format("value '{}' is produced by no node before", printable(name)));
}

Result<void> Importer::add_outputs(const Signature& signature, Scope& scope) {
  for (const Json* output : signature.outputs) {
    std::vector<std::string_view> names;
    add_names(*output, names);
    for (const std::string_view name : names) {
      JC_ASSIGN_OR_RETURN(const ValueId id, value_of(name, scope));
      scope.builder->graph.outputs.push_back(id);
    }
  }
  return {};
}

// Which sizes the program was exported for, where that is not any.
void Importer::add_range_notes(Graph& graph) {
  constexpr std::int64_t kNoBound = std::int64_t{1} << 48;
  const Json* ranges = program_.find("range_constraints");
  if (ranges == nullptr) return;
  std::set<std::string_view> named;
  for (const GraphInput& input : graph.inputs) {
    for (const Dimension& dimension : input.dimensions) named.insert(dimension.symbol);
  }
  for (const JsonMember& range : ranges->members()) {
    if (!named.contains(plain_symbol(range.key))) continue;
    const Json* least = range.value.find("min_val");
    const Json* most = range.value.find("max_val");
    const std::int64_t low = least == nullptr ? 0 : least->whole();
    const bool bounded = most != nullptr && most->is(JsonKind::kInteger) && most->whole() < kNoBound;
    if (low <= 2 && !bounded) continue;
    const std::string upper = bounded ? fmt::format("to {}", most->whole()) : "upwards";
    notes_.insert(fmt::format("{} was exported for sizes from {} {}", printable(range.key), low, upper));
  }
}

}  // namespace joulecast::torch
