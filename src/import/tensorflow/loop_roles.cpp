// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/loop_roles.h"

#include <algorithm>
#include <string_view>

#include "import/tensorflow/attributes.h"

namespace joulecast::tensorflow {
namespace {

// The node that a tensor of a function comes from, identities skipped; nullptr for arguments.
const NodeView* producer(const FunctionView& function, std::string_view tensor, std::string_view& argument) {
  for (std::size_t steps = 0; steps <= function.nodes.size(); ++steps) {
    const std::string_view name = tensor.substr(0, tensor.find(':'));
    argument = name;
    const auto is_named = [&](const auto& one) { return one.name == name; };
    if (std::any_of(function.inputs.begin(), function.inputs.end(), is_named)) return nullptr;
    const auto it = std::find_if(function.nodes.begin(), function.nodes.end(), is_named);
    if (it == function.nodes.end()) return nullptr;
    if (it->op != "Identity" || it->inputs.empty()) return &*it;
    tensor = it->inputs[0];
  }
  return nullptr;
}

std::optional<std::size_t> argument_place(const FunctionView& function, std::string_view name) {
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    if (function.inputs[i].name == name) return i;
  }
  return std::nullopt;
}

std::string_view returned(const FunctionView& function, std::size_t i) {
  for (const auto& [name, tensor] : function.returns) {
    if (i < function.outputs.size() && name == function.outputs[i].name) return tensor;
  }
  return {};
}

// What the body does with its variable i.
LoopRole role_of(const FunctionView& body, std::size_t i) {
  std::string_view argument;
  const NodeView* node = producer(body, returned(body, i), argument);
  if (node == nullptr) return argument_place(body, argument) == i ? LoopRole::kInvariant : LoopRole::kState;
  if (node->inputs.empty()) return LoopRole::kState;
  const bool array = node->op == "TensorArrayWriteV3" && node->inputs.size() > 3;  // handle, index, element, flow
  std::string_view first;
  const bool of_itself =
      producer(body, node->inputs[array ? 3 : 0], first) == nullptr && argument_place(body, first) == i;
  if (of_itself && (array || node->op == "TensorListSetItem")) return LoopRole::kFilled;
  if (of_itself && node->op == "AddV2" && node->inputs.size() > 1) {
    std::string_view second;
    const NodeView* step = producer(body, node->inputs[1], second);
    if (step != nullptr && step->op == "Const") return LoopRole::kCounter;
  }
  return LoopRole::kState;
}

// The number that a Const has, if it is one whole number.
std::optional<std::int64_t> number(const NodeView& node) {
  for (const AttributeView& attribute : node.attributes) {
    if (node.op != "Const" || attribute.name != "value") continue;
    const auto value = read_attribute(attribute.value);
    if (!value || value->kind != AttributeValue::Kind::kTensor) return std::nullopt;
    const auto tensor = read_tensor(value->string);
    if (!tensor || !tensor->contents || tensor->contents->ints.size() != 1) return std::nullopt;
    return tensor->contents->ints[0];
  }
  return std::nullopt;
}

}  // namespace

std::vector<LoopRole> loop_roles(const FunctionView& body) {
  std::vector<LoopRole> out;
  for (std::size_t i = 0; i < body.inputs.size(); ++i) out.push_back(role_of(body, i));
  return out;
}

std::optional<LoopLimit> loop_limit(const FunctionView& condition, const std::vector<LoopRole>& roles) {
  for (const NodeView& node : condition.nodes) {
    if (node.op != "Less" || node.inputs.size() < 2) continue;
    std::string_view left, right;
    if (producer(condition, node.inputs[0], left) != nullptr) continue;
    const auto counter = argument_place(condition, left);
    if (!counter || roles[*counter] != LoopRole::kCounter) continue;
    const NodeView* limit = producer(condition, node.inputs[1], right);
    if (const auto variable = argument_place(condition, right); limit == nullptr && variable)
      return LoopLimit{*variable, {}};
    if (limit == nullptr) continue;
    if (const auto constant = number(*limit)) return LoopLimit{0, constant};
  }
  return std::nullopt;
}

}  // namespace joulecast::tensorflow
