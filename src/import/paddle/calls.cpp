// SPDX-License-Identifier: Apache-2.0
// An operation as a call of an operator: its arguments by their names, its results as what variables hold.
#include <fmt/format.h>

#include <algorithm>

#include "import/paddle/importer.h"
#include "import/text.h"

namespace joulecast::paddle {
namespace {

using aten::Argument;
using aten::Integer;

constexpr std::size_t kMostNumbers = 1024;  // in a tensor that stands for an attribute

// "a, b" -> "a", "b"
std::vector<std::string_view> split(std::string_view list) {
  constexpr std::string_view kSeparator = ", ";
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(kSeparator), list.size());
    out.push_back(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + kSeparator.size()));
  }
  return out;
}

// "x|X" has "x" and "X".
bool has_name(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find('|'), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(names.size(), end + 1));
  }
  return false;
}

// One number is a number, others are a list.
Argument numbers_of(const Contents& contents) {
  if (contents.ints.size() == 1) return Integer{contents.ints[0]};
  if (contents.reals.size() == 1) return contents.reals[0];
  if (!contents.reals.empty()) return contents.reals;
  std::vector<Integer> out;
  for (const std::int64_t number : contents.ints) out.push_back({number});
  return out;
}

// What a tensor that stands for an attribute holds, where that is known.
std::optional<Argument> known_numbers(const GraphBuilder& builder, ValueId id) {
  if (const Contents* known = builder.known(id)) return numbers_of(*known);
  const auto rank = builder.guess(id).rank;
  if (!is_integer(builder.guess(id).element) || !rank || *rank > 1) return std::nullopt;
  const auto evaluated = builder.evaluate(id);
  if (!evaluated || evaluated->ints.size() + evaluated->reals.size() > kMostNumbers) return std::nullopt;
  return numbers_of(*evaluated);
}

// [1] and [] are both used for one number.
ValueId as_scalar(aten::Call& call, ValueId id) {
  return call.guess(id).rank == 1U && call.guess(id).length == 1U ? call.step(Squeeze{{0}}, {id}, "number") : id;
}

Integer element(aten::Call& call, ValueId id) {
  const auto known = known_numbers(call.builder(), id);
  if (known && std::holds_alternative<Integer>(*known)) return std::get<Integer>(*known);
  return {0, as_scalar(call, id)};
}

Argument numbers(aten::Call& call, const Item& item, bool one) {
  if (item.list) {
    std::vector<Integer> out;
    for (const ValueId id : item.ids) {
      if (id != kNoValue) out.push_back(element(call, id));
    }
    return out;
  }
  if (auto known = known_numbers(call.builder(), item.ids[0])) return *std::move(known);
  if (one) return as_scalar(call, item.ids[0]);
  if (call.guess(item.ids[0]).rank == 0U) return std::vector<Integer>{{0, item.ids[0]}};
  return item.ids[0];
}

// Element types are numbers in Paddle 2.
Argument with_element_type(std::string_view names, const Argument& value) {
  const auto* number = std::get_if<Integer>(&value);
  if (number == nullptr || !names.starts_with("dtype")) return value;
  const ElementType element = element_of(number->value);
  return element == ElementType::kUnknown ? Argument{} : Argument{element};
}

}  // namespace

Result<Argument> Importer::argument(const Slot& slot, std::string_view names, Scope& scope, aten::Call& call) {
  JC_ASSIGN_OR_RETURN(Item item, items(slot, scope));
  if (item.ids.empty() && !item.list) return Argument{};
  const bool one = has_name(names, "$");
  const bool absent = !item.list && item.ids[0] == kNoValue;
  if (absent) return unsupported("reads what no lowering computes");
  if (one || has_name(names, "#")) return numbers(call, item, one);
  if (item.list) return std::move(item.ids);
  return item.ids[0];
}

// Attributes first: where an input says the same, it counts.
Result<void> Importer::set_arguments(const Operation& op, const OperatorEntry* entry, aten::Call& call, Scope& scope) {
  const auto names = split(entry == nullptr ? "" : entry->parameters);
  const auto parameter = [&](std::string_view name) {
    return std::find_if(names.begin(), names.end(), [&](std::string_view one) { return has_name(one, name); });
  };
  for (const Attribute& attribute : op.attributes) {
    const auto place = parameter(attribute.name);
    if (place != names.end()) call.set_named(attribute.name, with_element_type(*place, attribute.value));
  }
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const Slot& slot = op.inputs[i];
    if (slot.variables.empty()) continue;
    const auto place =
        slot.name.empty() ? names.begin() + static_cast<long>(std::min(i, names.size())) : parameter(slot.name);
    if (entry != nullptr && place == names.end()) continue;
    const std::string_view known_as = entry == nullptr ? std::string_view{} : *place;
    auto value = argument(slot, known_as, scope, call);
    if (!value) {
      const auto name =
          slot.name.empty() ? fmt::format("input {}", i) : fmt::format("input '{}'", printable(slot.name));
      return tl::unexpected(std::move(value).error().in(name));
    }
    if (std::holds_alternative<std::monostate>(*value)) continue;
    JC_RETURN_IF_ERROR(
        call.set_positional(entry == nullptr ? i : static_cast<std::size_t>(place - names.begin()), std::move(*value)));
  }
  return {};
}

aten::Output Importer::output_of(VariableId id, std::size_t element) const {
  const Variable& variable = program_.variables[id];
  aten::Output out;
  out.name = printable(variable.name, kLongestInGraph);
  if (variable.list && element > 0) out.name += fmt::format(".{}", element);
  if (element < variable.types.size()) out.declared = variable.types[element];
  out.used = read_[id];
  return out;
}

namespace {

// A tensor that an operation makes, and the variable that holds it.
struct Target {
  VariableId variable;
  std::size_t element;
};

// The slot that an entry of the list of outputs means.
const Slot* output_slot(const Operation& op, std::string_view names, std::size_t place, bool by_names) {
  if (!by_names) return place < op.outputs.size() ? &op.outputs[place] : nullptr;
  const auto it =
      std::find_if(op.outputs.begin(), op.outputs.end(), [&](const Slot& slot) { return has_name(names, slot.name); });
  return it == op.outputs.end() ? nullptr : &*it;
}

void add_targets(const Slot& slot, const Program& program, std::vector<Target>& out) {
  for (const VariableId id : slot.variables) {
    if (id == kNoVariable) continue;
    const Variable& variable = program.variables[id];
    const std::size_t count = variable.list ? variable.types.size() : 1;
    for (std::size_t i = 0; i < count; ++i) out.push_back({id, i});
  }
}

std::vector<Target> targets_of(const Operation& op, const OperatorEntry* entry, const Program& program) {
  std::vector<Target> out;
  if (entry == nullptr) {
    for (const Slot& slot : op.outputs) add_targets(slot, program, out);
    return out;
  }
  const auto names = split(entry->outputs.empty() ? "Out|Output|Y" : entry->outputs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].starts_with('-')) continue;
    const Slot* slot = output_slot(op, names[i], i, program.by_names);
    if (slot != nullptr) add_targets(*slot, program, out);
  }
  return out;
}

}  // namespace

Result<void> Importer::lower_call(const Operation& op, Scope& scope) {
  const OperatorEntry* entry = find_operator(op.type, program_.by_names);
  const std::vector<Target> targets = targets_of(op, entry, program_);
  std::vector<aten::Output> outputs;
  outputs.reserve(targets.size());
  for (const Target& target : targets) outputs.push_back(output_of(target.variable, target.element));
  if (outputs.empty()) return {};  // prints, asserts
  aten::Call call(*scope.builder, printable(op.type), entry == nullptr ? "" : entry->parameters, std::move(outputs));
  call.node_name = label(op);
  JC_RETURN_IF_ERROR(set_arguments(op, entry, call, scope));
  if (entry == nullptr) {
    JC_RETURN_IF_ERROR(call.opaque());
  } else {
    auto done = entry->lower(call);
    if (!done && done.error().code() == ErrorCode::kUnsupported) done = call.opaque();
    JC_RETURN_IF_ERROR(done);
  }
  for (const Target& target : targets)
    scope.values[target.variable] = Item{{}, program_.variables[target.variable].list};
  for (std::size_t i = 0; i < targets.size(); ++i) {
    scope.values[targets[i].variable].ids.push_back(call.results()[i]);
  }
  return {};
}

}  // namespace joulecast::paddle
