// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/text.h"
#include "import/torch/importer.h"

namespace joulecast::torch {
namespace {

using aten::Argument;
using aten::Integer;

Result<std::vector<Integer>> integers(const Json& list) {
  std::vector<Integer> out;
  for (const JsonMember& member : list.members()) {
    const bool truth = member.value.is(JsonKind::kBool);
    if (!truth && !member.value.is(JsonKind::kInteger)) return invalid("has an entry that is not an integer");
    out.push_back(Integer{truth ? static_cast<std::int64_t>(member.value.truth()) : member.value.whole()});
  }
  return out;
}

// Infinities are strings in torch 2.5 and later.
Result<double> real(const Json& value) {
  if (value.is(JsonKind::kReal)) return value.real();
  if (value.is(JsonKind::kInteger)) return static_cast<double>(value.whole());
  constexpr double kLargest = 1.7e308;
  if (value.text() == "Infinity") return kLargest;
  if (value.text() == "-Infinity") return -kLargest;
  if (value.text() == "NaN") return 0.0;
  return invalid("is not a number");
}

Result<std::vector<double>> reals(const Json& list) {
  std::vector<double> out;
  for (const JsonMember& member : list.members()) {
    JC_ASSIGN_OR_RETURN(const double number, real(member.value));
    out.push_back(number);
  }
  return out;
}

// Arguments that hold no value of the graph.
Result<Argument> plain(const Choice& choice) {
  const Json& value = *choice.value;
  if (choice.tag == "as_int" && value.is(JsonKind::kInteger)) return Integer{value.whole()};
  if (choice.tag == "as_bool" && value.is(JsonKind::kBool)) return value.truth();
  if (choice.tag == "as_string" && value.is(JsonKind::kText)) return value.text();
  if (choice.tag == "as_float") {
    JC_ASSIGN_OR_RETURN(const double number, real(value));
    return number;
  }
  if ((choice.tag == "as_ints" || choice.tag == "as_bools") && value.is(JsonKind::kArray)) {
    JC_ASSIGN_OR_RETURN(std::vector<Integer> list, integers(value));
    return list;
  }
  if (choice.tag == "as_floats" && value.is(JsonKind::kArray)) {
    JC_ASSIGN_OR_RETURN(std::vector<double> list, reals(value));
    return list;
  }
  if (choice.tag == "as_scalar_type") return element_of(value);
  if (choice.tag == "as_int" || choice.tag == "as_bool" || choice.tag == "as_string" || choice.tag == "as_ints" ||
      choice.tag == "as_bools" || choice.tag == "as_floats") {
    return invalid(fmt::format("'{}' has a value of another kind", choice.tag));
  }
  return aten::Setting{};
}

}  // namespace

Result<Argument> Importer::argument(const Json& value, const Scope& scope) {
  const Choice choice = chosen(value);
  if (choice.value == nullptr || choice.tag == "as_none") return Argument{};
  if (choice.tag == "as_optional_tensor") return argument(*choice.value, scope);
  const auto named = [&](const Json& inner) -> Result<ValueId> {
    std::vector<std::string_view> names;
    add_names(inner, names);
    if (names.size() != 1) return invalid("names no value");
    return value_of(names[0], scope);
  };
  if (choice.tag == "as_tensor") {
    JC_ASSIGN_OR_RETURN(const ValueId id, named(value));
    return id;
  }
  if (choice.tag == "as_sym_int" || choice.tag == "as_sym_float" || choice.tag == "as_sym_bool") {
    const Choice inner = chosen(*choice.value);
    if (inner.tag != "as_name") return inner.value == nullptr ? Result<Argument>(Argument{}) : plain(inner);
    JC_ASSIGN_OR_RETURN(const ValueId id, named(value));
    return choice.tag == "as_sym_int" ? Argument(Integer{0, id}) : Argument(id);
  }
  if (choice.tag == "as_tensors") {
    std::vector<std::string_view> names;
    add_names(value, names);
    std::vector<ValueId> out;
    for (const std::string_view name : names) {
      JC_ASSIGN_OR_RETURN(const ValueId id, value_of(name, scope));
      out.push_back(id);
    }
    return out;
  }
  if (choice.tag == "as_optional_tensors") {
    std::vector<ValueId> out;
    for (const JsonMember& member : choice.value->members()) {
      const bool none = chosen(member.value).tag != "as_tensor";
      JC_ASSIGN_OR_RETURN(const ValueId id, none ? Result<ValueId>(kNoValue) : named(member.value));
      out.push_back(id);
    }
    return out;
  }
  if (choice.tag == "as_sym_ints") {
    std::vector<Integer> out;
    for (const JsonMember& member : choice.value->members()) {
      const Choice inner = chosen(member.value);
      if (inner.tag == "as_name") {
        JC_ASSIGN_OR_RETURN(const ValueId id, value_of(inner.value->text(), scope));
        out.push_back(Integer{0, id});
      } else if (inner.value != nullptr) {
        out.push_back(Integer{inner.value->whole()});
      }
    }
    return out;
  }
  return plain(choice);
}

}  // namespace joulecast::torch
