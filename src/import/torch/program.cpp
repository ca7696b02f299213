// SPDX-License-Identifier: Apache-2.0
#include "import/torch/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/text.h"

namespace joulecast::torch {

Choice chosen(const Json& value) {
  if (!value.is(JsonKind::kObject)) return {};
  for (const JsonMember& member : value.members()) {
    if (!member.value.is(JsonKind::kNull)) return {member.key, &member.value};
  }
  return {};
}

ElementType element_of(const Json& scalar_type) {
  constexpr std::array kFirst{ElementType::kUnknown,   ElementType::kUInt8,     ElementType::kInt8,
                              ElementType::kInt16,     ElementType::kInt32,     ElementType::kInt64,
                              ElementType::kFloat16,   ElementType::kFloat32,   ElementType::kFloat64,
                              ElementType::kComplex64, ElementType::kComplex64, ElementType::kComplex128,
                              ElementType::kBool,      ElementType::kBFloat16};
  if (!scalar_type.is(JsonKind::kInteger)) return ElementType::kUnknown;
  const std::int64_t number = scalar_type.whole();
  if (number >= 0 && number < static_cast<std::int64_t>(kFirst.size())) return kFirst[static_cast<std::size_t>(number)];
  switch (number) {
    case 28:
      return ElementType::kUInt16;
    case 29:
    case 31:
      return ElementType::kFloat8E4M3;
    case 30:
    case 32:
      return ElementType::kFloat8E5M2;
    case 33:
      return ElementType::kUInt8;  // scales of eight bits of exponent
    case 34:
      return ElementType::kUInt32;
    case 35:
      return ElementType::kUInt64;
    default:
      return ElementType::kUnknown;
  }
}

std::optional<TensorType> TensorMeta::type() const {
  TensorType out{element, {}};
  if (extents.size() > kMaxRank) return std::nullopt;
  Shape told;
  for (const Extent& extent : extents) {
    out.shape.push_back(extent.number.value_or(-1));
    told.push_back(extent.number.value_or(1));
  }
  return checked_elements(told) ? std::optional(out) : std::nullopt;
}

std::string_view plain_symbol(std::string_view expression) {
  const auto is_name = [](std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return !text.empty() && letter(text[0]) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
  };
  if (is_name(expression)) return expression;
  constexpr std::string_view kStart = "Symbol('";
  if (!expression.starts_with(kStart)) return {};
  expression.remove_prefix(kStart.size());
  const std::string_view name = expression.substr(0, expression.find('\''));
  // The one bracket that closes it is the last character: otherwise more follows.
  return expression.find(')') + 1 == expression.size() && is_name(name) ? name : std::string_view{};
}

namespace {

Result<Extent> read_extent(const Json& value) {
  const Choice choice = chosen(value);
  if (choice.tag == "as_int" && choice.value->is(JsonKind::kInteger)) {
    if (choice.value->whole() < 0) return invalid(fmt::format("an extent is {}", choice.value->whole()));
    return Extent{choice.value->whole(), {}};
  }
  if (choice.tag != "as_expr") return invalid("an extent is neither a number nor an expression");
  JC_ASSIGN_OR_RETURN(const std::string_view expression, choice.value->string("expr_str"));
  return Extent{std::nullopt, plain_symbol(expression)};
}

}  // namespace

Result<TensorMeta> tensor_meta(const Json& value) {
  const Json* inner = value.find("meta");  // torch 2.1
  const Json& meta = inner == nullptr ? value : *inner;
  TensorMeta out;
  JC_ASSIGN_OR_RETURN(const Json* element, meta.at("dtype"));
  out.element = element_of(*element);
  JC_ASSIGN_OR_RETURN(const auto sizes, meta.array("sizes"));
  for (const JsonMember& size : sizes) {
    JC_ASSIGN_OR_RETURN(const Extent extent, read_extent(size.value));
    out.extents.push_back(extent);
  }
  return out;
}

namespace {

Result<InputSpec> weight_spec(InputKind kind, const Json& spec, std::string_view target_key) {
  InputSpec out{kind, {}, {}, nullptr};
  JC_ASSIGN_OR_RETURN(const Json* argument, spec.at("arg"));
  JC_ASSIGN_OR_RETURN(out.name, argument->string("name"));
  JC_ASSIGN_OR_RETURN(out.target, spec.string(target_key));
  return out;
}

Result<InputSpec> input_spec(const Json& value) {
  const Choice spec = chosen(value);
  if (spec.tag == "parameter") return weight_spec(InputKind::kWeight, *spec.value, "parameter_name");
  if (spec.tag == "buffer") return weight_spec(InputKind::kBuffer, *spec.value, "buffer_name");
  if (spec.tag == "tensor_constant") return weight_spec(InputKind::kBuffer, *spec.value, "tensor_constant_name");
  if (spec.tag != "user_input") return InputSpec{};
  InputSpec out{InputKind::kUser, {}, {}, nullptr};
  JC_ASSIGN_OR_RETURN(out.argument, spec.value->at("arg"));
  return out;
}

Result<void> read_outputs(const Json& signature, Signature& out) {
  JC_ASSIGN_OR_RETURN(const auto specs, signature.array("output_specs"));
  for (const JsonMember& member : specs) {
    const Choice spec = chosen(member.value);
    if (spec.tag != "user_output" && spec.tag != "loss_output") continue;
    JC_ASSIGN_OR_RETURN(const Json* argument, spec.value->at("arg"));
    out.outputs.push_back(argument);
  }
  return {};
}

const Json* named(std::span<const JsonMember> table, std::string_view key) {
  const auto it = std::find_if(table.begin(), table.end(), [&](const JsonMember& m) { return m.key == key; });
  return it == table.end() ? nullptr : &it->value;
}

// torch 2.1: tables from the graph's names to those of the module.
Result<Signature> read_first_signature(const Json& graph, const Json& signature) {
  Signature out;
  JC_ASSIGN_OR_RETURN(const auto parameters, signature.object("inputs_to_parameters"));
  JC_ASSIGN_OR_RETURN(const auto buffers, signature.object("inputs_to_buffers"));
  JC_ASSIGN_OR_RETURN(const auto inputs, graph.array("inputs"));
  for (const JsonMember& input : inputs) {
    const Choice choice = chosen(input.value);
    InputSpec spec{InputKind::kUser, {}, {}, &input.value};
    if (choice.tag == "as_tensor") {
      JC_ASSIGN_OR_RETURN(spec.name, choice.value->string("name"));
      const Json* parameter = named(parameters, spec.name);
      const Json* target = parameter == nullptr ? named(buffers, spec.name) : parameter;
      const InputKind kind = parameter == nullptr ? InputKind::kBuffer : InputKind::kWeight;
      if (target != nullptr) spec = {kind, spec.name, target->text(), nullptr};
    }
    out.inputs.push_back(spec);
  }
  JC_ASSIGN_OR_RETURN(const auto users, signature.array("user_outputs"));
  JC_ASSIGN_OR_RETURN(const auto outputs, graph.array("outputs"));
  for (const JsonMember& output : outputs) {
    const Choice choice = chosen(output.value);
    if (choice.tag != "as_tensor") continue;
    JC_ASSIGN_OR_RETURN(const std::string_view name, choice.value->string("name"));
    const bool user = std::any_of(users.begin(), users.end(), [&](const auto& m) { return m.value.text() == name; });
    if (user) out.outputs.push_back(&output.value);
  }
  return out;
}

}  // namespace

Result<Signature> read_signature(const Json& graph_module) {
  JC_ASSIGN_OR_RETURN(const Json* graph, graph_module.at("graph"));
  JC_ASSIGN_OR_RETURN(const Json* signature, graph_module.at("signature"));
  if (signature->find("inputs_to_parameters") != nullptr) return read_first_signature(*graph, *signature);
  Signature out;
  JC_ASSIGN_OR_RETURN(const auto specs, signature->array("input_specs"));
  for (const JsonMember& member : specs) {
    JC_ASSIGN_OR_RETURN(const InputSpec spec, input_spec(member.value));
    out.inputs.push_back(spec);
  }
  JC_RETURN_IF_ERROR(read_outputs(*signature, out));
  return out;
}

}  // namespace joulecast::torch
