// SPDX-License-Identifier: Apache-2.0
// What a call is given: positional arguments and keywords, as version 3 writes them.
#include <fmt/format.h>

#include <algorithm>

#include "import/keras/layer_context.h"

namespace joulecast::keras {
namespace {

constexpr std::size_t kMostOperands = 10'000;

// Of lists in lists. Nothing where these are too deep or too large.
std::optional<Shape> nested_shape(const Json& value) {
  Shape out;
  const Json* at = &value;
  while (at->is(JsonKind::kArray)) {
    if (out.size() == kMaxRank) return std::nullopt;
    out.push_back(static_cast<std::int64_t>(at->members().size()));
    if (at->members().empty()) break;
    at = &at->members()[0].value;
  }
  return checked_elements(out) ? std::optional(out) : std::nullopt;
}

bool is_class(const Json& value, std::string_view name) {
  const Json* class_name = value.find("class_name");
  return class_name != nullptr && class_name->text() == name;
}

}  // namespace

const Json* LayerContext::argument(std::size_t i, std::string_view name) const {
  if (call_.arguments == nullptr) return nullptr;
  const Json* keywords = call_.arguments->find("kwargs");
  const Json* named = keywords == nullptr ? nullptr : keywords->find(name);
  const Json* positional = call_.arguments->find("args");
  if (named != nullptr || positional == nullptr || i >= positional->members().size()) return named;
  const Json& value = positional->members()[i].value;
  return value.is(JsonKind::kNull) ? nullptr : &value;
}

namespace {

std::size_t tensors_in(const Json& value) {
  if (is_class(value, "__keras_tensor__")) return 1;
  std::size_t out = 0;
  for (const JsonMember& member : value.members()) out += is_passed_over(member.key) ? 0 : tensors_in(member.value);
  return out;
}

}  // namespace

std::optional<Tensor> LayerContext::tensor_argument(std::size_t i, std::string_view name) {
  const Json* wanted = argument(i, name);
  if (wanted == nullptr || !is_class(*wanted, "__keras_tensor__")) return std::nullopt;
  std::size_t before = 0;  // inputs are in the order of the arguments
  for (const std::string_view list : {"args", "kwargs"}) {
    const Json* given = call_.arguments->find(list);
    if (given == nullptr) continue;
    for (const JsonMember& member : given->members()) {
      if (is_passed_over(member.key)) continue;
      if (&member.value == wanted) return before < node_.input_count() ? std::optional(input(before)) : std::nullopt;
      before += tensors_in(member.value);
    }
  }
  return std::nullopt;
}

// An array of the program: of the network only its shape matters.
Tensor LayerContext::constant(const Json& config) {
  const Json* value = config.find("value");
  const auto shape = value == nullptr ? std::nullopt : nested_shape(*value);
  if (!shape) return {};
  const TensorType type{element_of(config.find("dtype")), *shape};
  return Tensor::of(node_.importer().add_source({node_.output_name(0) + "/constant", type, {}, ValueKind::kConstant}));
}

void LayerContext::add_operands(const Json& value, std::size_t& next, std::vector<Tensor>& out) {
  if (out.size() >= kMostOperands) return;
  if (value.is(JsonKind::kInteger)) out.push_back(number(static_cast<double>(value.whole())));
  if (value.is(JsonKind::kReal)) out.push_back(number(value.real()));
  if (is_class(value, "__keras_tensor__")) {
    if (next < node_.input_count()) out.push_back(input(next++));
  } else if (is_class(value, "__tensor__") || is_class(value, "__numpy__")) {
    if (const Json* config = config_of(value)) out.push_back(constant(*config));
  } else if (value.is(JsonKind::kArray)) {
    for (const JsonMember& member : value.members()) add_operands(member.value, next, out);
  }
}

std::vector<Tensor> LayerContext::operands() {
  const Json* positional = call_.arguments == nullptr ? nullptr : call_.arguments->find("args");
  if (positional == nullptr) return node_.inputs();
  std::vector<Tensor> out;
  std::size_t next = 0;
  for (const JsonMember& member : positional->members()) add_operands(member.value, next, out);
  if (const Json* keywords = call_.arguments->find("kwargs")) {
    for (const JsonMember& member : keywords->members()) {
      if (!is_passed_over(member.key)) add_operands(member.value, next, out);
    }
  }
  return out;
}

}  // namespace joulecast::keras
