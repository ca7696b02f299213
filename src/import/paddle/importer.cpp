// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "import/raw_data.h"
#include "import/text.h"

namespace joulecast::paddle {
namespace {

using aten::Argument;
using aten::Integer;

constexpr std::size_t kMaxNodesOut = 500'000;
constexpr std::size_t kMaxNameBytes = std::size_t{1} << 27U;

// Weights are what a program learns. Scalars and integers are constants.
ValueKind kind_of(const TensorType& type) {
  const bool quantized = bit_width(type.element) <= 8 && type.element != ElementType::kBool &&
                         type.elements() > static_cast<std::int64_t>(kMaxKnownElements);
  const bool weight = is_floating(type.element) && !type.shape.empty();
  return weight || quantized ? ValueKind::kParameter : ValueKind::kConstant;
}

Guess guess_of(const std::optional<TensorType>& type) {
  if (!type) return {};
  Guess out{type->element, type->shape.size(), false, {}};
  if (type->shape.size() == 1 && type->shape[0] >= 0) out.length = static_cast<std::size_t>(type->shape[0]);
  return out;
}

}  // namespace

const Slot* slot(const std::vector<Slot>& slots, std::string_view name) {
  const auto it = std::find_if(slots.begin(), slots.end(), [&](const Slot& one) { return one.name == name; });
  return it == slots.end() ? nullptr : &*it;
}

Importer::Importer(const Program& program)
    : program_(program), read_(program.variables.size()), read_by_others_(program.variables.size()) {
  for (const Block& block : program.blocks) {
    for (const Operation& op : block.operations) {
      fed_ = fed_ || op.type == "feed";
      for (const Slot& input : op.inputs) {
        for (const VariableId id : input.variables) {
          if (id == kNoVariable) continue;
          read_[id] = true;
          if (op.type != "select_input") read_by_others_[id] = true;
        }
      }
    }
  }
}

Result<Graph> Importer::run(std::string_view name) {
  GraphBuilder builder;
  builder.graph.name = printable(name, kLongestInGraph);
  Scope scope;
  scope.builder = &builder;
  JC_RETURN_IF_ERROR(add_fed(scope));
  JC_RETURN_IF_ERROR(run_block(program_.blocks[0], scope));
  if (builder.graph.outputs.empty()) return invalid("has no output: no operator fetches one");
  return std::move(builder.graph);
}

std::string Importer::label(const Operation& op) const {
  const bool made =
      !op.outputs.empty() && !op.outputs[0].variables.empty() && op.outputs[0].variables[0] != kNoVariable;
  const std::string own = made ? printable(program_.variables[op.outputs[0].variables[0]].name, kLongestInGraph)
                               : printable(op.type, kLongestInGraph);
  std::string_view place = op.place;
  while (place.starts_with('/')) place.remove_prefix(1);
  return place.empty() ? own : printable(place, kLongestInGraph) + own;
}

Result<void> Importer::run_block(const Block& block, Scope& scope) {
  for (const Operation& op : block.operations) {
    auto done = op.type == "select_input" ? lower_select(op, block, scope) : lower(op, scope);
    if (done) continue;
    const std::string name = fmt::format("operator '{}' ({})", printable(label(op)), printable(op.type));
    return tl::unexpected(std::move(done).error().in(name));
  }
  return {};
}

Result<void> Importer::lower(const Operation& op, Scope& scope) {
  if (++lowered_ > kMaxOperations || scope.builder->graph.nodes.size() > kMaxNodesOut) {
    return unsupported(fmt::format("more than {} operators", kMaxOperations));
  }
  if (scope.builder->name_bytes() > kMaxNameBytes) return unsupported("names are longer than in any real model");
  if (auto done = lower_special(op, scope)) return *std::move(done);
  return lower_call(op, scope);
}

std::optional<Result<void>> Importer::lower_special(const Operation& op, Scope& scope) {
  if (op.type == "feed" && scope.outer == nullptr) return Result<void>{};  // they are there
  if (op.type == "feed" || op.type == "data") return add_input(op, scope);
  if (op.type == "fetch") return add_output(op, scope);
  if (op.type == "while" && op.blocks.size() == 1) return lower_while(op, scope);
  if (program_.by_names) {
    if (!waits_for_select(op)) return add_constant(op, scope) ? std::optional(Result<void>{}) : std::nullopt;
    for (const VariableId id : slot(op.outputs, "Out")->variables) branches_[id] = &op;
    return Result<void>{};
  }
  if (op.type == "builtin.combine") return combine(op, scope);
  if (op.type == "builtin.split" || op.type == "builtin.slice") return take_apart(op, scope);
  if (op.type == "yield") return yield(op, scope);
  if (op.type == "if" && op.blocks.size() == 2) return lower_if(op, scope);
  return add_constant(op, scope) ? std::optional(Result<void>{}) : std::nullopt;
}

namespace {

GraphInput input_of(std::string_view name, const TensorType& type) {
  GraphInput out;
  out.element = type.element;
  for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
    const std::int64_t extent = type.shape[axis];
    Dimension dimension;
    if (extent >= 0) {
      dimension.extent = extent;
    } else {
      dimension.symbol = axis == 0 ? "batch" : fmt::format("{}_axis{}", printable(name, kLongestInGraph), axis);
    }
    out.dimensions.push_back(std::move(dimension));
  }
  return out;
}

}  // namespace

// Paddle 2 puts what feeds the inputs in front of the program one by one, so that the last comes first; each says at
// which place it belongs.
Result<void> Importer::add_fed(Scope& scope) {
  std::vector<std::pair<std::int64_t, const Operation*>> fed;
  for (const Operation& op : program_.blocks[0].operations) {
    if (op.type != "feed") continue;
    const Argument* place = op.find("col");
    const auto* number = place == nullptr ? nullptr : std::get_if<Integer>(place);
    fed.emplace_back(number == nullptr ? 0 : number->value, &op);
  }
  std::stable_sort(fed.begin(), fed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [place, op] : fed) {
    auto done = add_input(*op, scope);
    if (!done)
      return tl::unexpected(std::move(done).error().in(fmt::format("operator '{}' (feed)", printable(label(*op)))));
  }
  return {};
}

// feed: of Paddle 2; data: of Paddle 3, with the name as an attribute.
Result<void> Importer::add_input(const Operation& op, Scope& scope) {
  if (scope.outer != nullptr) return invalid("is inside of a branch or loop");
  if (op.outputs.empty() || op.outputs[0].variables.size() != 1 || op.outputs[0].variables[0] == kNoVariable) {
    return invalid("has no output");
  }
  const VariableId id = op.outputs[0].variables[0];
  const Variable& variable = program_.variables[id];
  const Argument* attribute = program_.by_names ? nullptr : op.find("name");
  const auto* named = attribute == nullptr ? nullptr : std::get_if<std::string_view>(attribute);
  const std::string_view name = named == nullptr ? variable.name : *named;
  const std::string place = fmt::format("input '{}'", printable(name));
  if (variable.types.size() != 1 || !variable.types[0]) {
    return tl::unexpected(Error(ErrorCode::kUnsupported, "has a type or extents that no tensor has").in(place));
  }
  if (scope.values.contains(id)) return invalid(fmt::format("{} is there twice", place));
  const TensorType& type = *variable.types[0];
  scope.values[id] = Item{{scope.builder->add_input(name, input_of(name, type), guess_of(type))}};
  return {};
}

Result<void> Importer::add_output(const Operation& op, Scope& scope) {
  if (scope.outer != nullptr) return invalid("is inside of a branch or loop");
  for (const Slot& input : op.inputs) {
    JC_ASSIGN_OR_RETURN(const Item item, items(input, scope));
    for (const ValueId id : item.ids) {
      if (id == kNoValue) return invalid("fetches what is computed by no operator");
      scope.builder->graph.outputs.push_back(id);
    }
  }
  return {};
}

Result<void> Importer::combine(const Operation& op, Scope& scope) {
  Item out{{}, true};
  for (const Slot& input : op.inputs) {
    JC_ASSIGN_OR_RETURN(const Item item, items(input, scope));
    if (item.list) return unsupported("a list of lists");
    out.ids.push_back(item.ids.empty() ? kNoValue : item.ids[0]);
  }
  if (op.outputs.empty()) return invalid("has no output");
  scope.values[op.outputs[0].variables[0]] = std::move(out);
  return {};
}

// All tensors of a list (split), or that of a place (slice).
Result<void> Importer::take_apart(const Operation& op, Scope& scope) {
  if (op.inputs.size() != 1) return invalid(fmt::format("has {} inputs, not one", op.inputs.size()));
  JC_ASSIGN_OR_RETURN(const Item item, items(op.inputs[0], scope));
  std::size_t first = 0;
  if (const Argument* place = op.find("index"); op.type == "builtin.slice" && place != nullptr) {
    const auto* number = std::get_if<Integer>(place);
    if (number == nullptr || number->value < 0) return invalid("attribute 'index' is no place");
    first = static_cast<std::size_t>(std::min<std::int64_t>(number->value, kMaxEntries));
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (first + i >= item.ids.size()) {
      return invalid(fmt::format("takes tensor {} of a list of {}", first + i, item.ids.size()));
    }
    scope.values[op.outputs[i].variables[0]] = Item{{item.ids[first + i]}};
  }
  return {};
}

Result<void> Importer::yield(const Operation& op, Scope& scope) {
  for (const Slot& input : op.inputs) {
    JC_ASSIGN_OR_RETURN(const Item item, items(input, scope));
    scope.yielded.insert(scope.yielded.end(), item.ids.begin(), item.ids.end());
  }
  return {};
}

namespace {

struct Written {
  TensorType type;
  std::optional<Contents> contents;  // of small ones
};

std::optional<Shape> shape_in(const Argument* shape) {
  const auto* list = shape == nullptr ? nullptr : std::get_if<std::vector<Integer>>(shape);
  if (list == nullptr) return std::nullopt;
  Shape out;
  for (const Integer& extent : *list) {
    if (extent.value < 0 || extent.value > kMaxElements || out.full()) return std::nullopt;
    out.push_back(extent.value);
  }
  return out;
}

// Beyond 2^53 a real number is no certain integer.
std::int64_t whole(double value) {
  constexpr double kMost = 9007199254740992.0;
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::clamp(value, -kMost, kMost));
}

// Numbers of an attribute as contents of a type.
Contents contents_in(const Argument& value, ElementType element, std::size_t count) {
  std::vector<Integer> integers;
  std::vector<double> reals;
  if (const auto* list = std::get_if<std::vector<Integer>>(&value)) integers = *list;
  if (const auto* list = std::get_if<std::vector<double>>(&value)) reals = *list;
  if (const auto* one = std::get_if<Integer>(&value)) integers.assign(count, *one);
  if (const auto* one = std::get_if<double>(&value)) reals.assign(count, *one);
  if (const auto* one = std::get_if<bool>(&value)) integers.assign(count, Integer{*one ? 1 : 0});
  Contents out;
  for (const Integer& number : integers) {
    if (is_floating(element)) {
      out.reals.push_back(static_cast<double>(number.value));
    } else {
      out.ints.push_back(number.value);
    }
  }
  for (const double number : reals) {
    if (is_floating(element)) {
      out.reals.push_back(number);
    } else {
      out.ints.push_back(whole(number));
    }
  }
  return out;
}

// The attribute that the numbers are in. Paddle 2 has one for every type.
const Argument* numbers_of(const Operation& op) {
  for (const std::string_view name :
       {"values", "value", "int64_values", "int32_values", "fp32_values", "fp64_values", "bool_values"}) {
    const Argument* found = op.find(name);
    if (found == nullptr) continue;
    const auto* integers = std::get_if<std::vector<Integer>>(found);
    const auto* reals = std::get_if<std::vector<double>>(found);
    const bool empty = (integers != nullptr && integers->empty()) || (reals != nullptr && reals->empty());
    if (!empty) return found;
  }
  return op.find("value");
}

// full, full_int_array, fill_constant and assign_value of a shape that is known.
std::optional<Written> written(const Operation& op, const TensorType& declared) {
  const bool array = op.type == "full_int_array";
  const bool list = array || op.type.starts_with("assign_value");
  if (!list && op.type != "full" && op.type != "fill_constant") return std::nullopt;
  // What assign_value_ is given is what it writes to.
  const bool shaped =
      !list && std::any_of(op.inputs.begin(), op.inputs.end(), [](const Slot& s) { return !s.variables.empty(); });
  const Argument* value = numbers_of(op);
  const auto shape = array ? std::optional(declared.shape) : shape_in(op.find("shape"));
  if (shaped || value == nullptr || !shape || declared.element == ElementType::kUnknown) return std::nullopt;
  const auto count = checked_elements(*shape);
  if (!count) return std::nullopt;
  if (!is_kept(declared.element, static_cast<std::size_t>(*count))) {
    return list ? std::optional(Written{{declared.element, *shape}, std::nullopt}) : std::nullopt;
  }
  Contents contents = contents_in(*value, declared.element, static_cast<std::size_t>(*count));
  const std::size_t found = is_floating(declared.element) ? contents.reals.size() : contents.ints.size();
  if (found != static_cast<std::size_t>(*count)) return std::nullopt;
  return Written{{declared.element, *shape}, std::move(contents)};
}

}  // namespace

bool Importer::add_constant(const Operation& op, Scope& scope) {
  if (op.outputs.empty() || op.outputs[0].variables.size() != 1 || op.outputs[0].variables[0] == kNoVariable)
    return false;
  const VariableId id = op.outputs[0].variables[0];
  const Variable& variable = program_.variables[id];
  if (variable.types.size() != 1 || !variable.types[0]) return false;
  auto constant = written(op, *variable.types[0]);
  if (!constant) return false;
  const ValueId made =
      scope.builder->add_constant(variable.name, constant->type, std::move(constant->contents), ValueKind::kConstant);
  scope.values[id] = Item{{made}};
  return true;
}

// Values.

Result<const Item*> Importer::find(VariableId id, Scope& scope) {
  const auto found = scope.values.find(id);
  if (found != scope.values.end()) return &found->second;
  const Variable& variable = program_.variables[id];
  Item item;
  if (scope.outer != nullptr) {
    JC_ASSIGN_OR_RETURN(const Item* outer, find(id, *scope.outer));
    JC_ASSIGN_OR_RETURN(item, capture(*outer, scope));
  } else if (variable.persistable) {
    JC_ASSIGN_OR_RETURN(item, weight(variable, scope));
  } else if (program_.by_names && !fed_ && variable.types.size() == 1 && variable.types[0]) {
    item = implied_input(id, scope);
  } else {
    return invalid(fmt::format("'{}' is computed by no operator before", printable(variable.name)));
  }
  return &scope.values.emplace(id, std::move(item)).first->second;
}

Result<ValueId> Importer::value(VariableId id, Scope& scope) {
  if (id == kNoVariable) return kNoValue;
  JC_ASSIGN_OR_RETURN(const Item* item, find(id, scope));
  if (item->list || item->ids.size() != 1) {
    return invalid(fmt::format("'{}' is a list, not a tensor", printable(program_.variables[id].name)));
  }
  if (item->ids[0] == kNoValue) {
    return unsupported(fmt::format("'{}' is what no lowering computes", printable(program_.variables[id].name)));
  }
  return item->ids[0];
}

Result<Item> Importer::weight(const Variable& variable, Scope& root) {
  const std::string place = fmt::format("parameter '{}'", printable(variable.name));
  const auto refuse = [&](std::string_view why) { return unsupported(fmt::format("{} {}", place, why)); };
  if (variable.types.size() != 1 || !variable.types[0]) return refuse("has a type or extents that no tensor has");
  const TensorType& type = *variable.types[0];
  if (!checked_elements(type.shape)) return refuse("has extents that no weight has");
  if (type.element == ElementType::kUnknown) return refuse("has an element type we do not know");
  return Item{{root.builder->add_constant(variable.name, type, std::nullopt, kind_of(type))}};
}

// A program that was saved before it was prepared for inference: what nobody computes is given.
Item Importer::implied_input(VariableId id, Scope& root) {
  const Variable& variable = program_.variables[id];
  const TensorType& type = *variable.types[0];
  return Item{{root.builder->add_input(variable.name, input_of(variable.name, type), guess_of(type))}};
}

ValueId Importer::body_input(ValueId outer, Scope& scope) {
  const GraphBuilder& from = *scope.outer->builder;
  GraphInput input;
  input.element = from.guess(outer).element;
  if (const TensorType* type = from.type(outer)) {
    for (const std::int64_t extent : type->shape) input.dimensions.push_back({extent, ""});
  }
  return scope.builder->add_input(from.graph.value(outer).name, std::move(input), from.guess(outer));
}

Result<Item> Importer::capture(const Item& outer, Scope& scope) {
  Item out{{}, outer.list};
  for (const ValueId id : outer.ids) {
    if (id != kNoValue) scope.captures.push_back(id);
    out.ids.push_back(id == kNoValue ? kNoValue : body_input(id, scope));
  }
  return out;
}

Result<Item> Importer::items(const Slot& slot, Scope& scope) {
  if (slot.variables.size() == 1 && slot.variables[0] == kNoVariable) return Item{};
  if (slot.variables.size() == 1) {
    JC_ASSIGN_OR_RETURN(const Item* item, find(slot.variables[0], scope));
    return *item;
  }
  Item out{{}, true};
  for (const VariableId id : slot.variables) {
    JC_ASSIGN_OR_RETURN(const ValueId one, value(id, scope));
    out.ids.push_back(one);
  }
  return out;
}

}  // namespace joulecast::paddle
