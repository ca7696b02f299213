// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "import/text.h"
#include "import/torch/importer.h"

namespace joulecast::torch {
namespace {

// "torch.ops.aten.conv2d.default" -> "aten.conv2d.default".
std::string_view without_module(std::string_view target) {
  for (const std::string_view prefix : {"torch.ops.", "torch._ops."}) {
    if (target.starts_with(prefix)) return target.substr(prefix.size());
  }
  return target;
}

// Operators have a namespace, a name and an overload; functions of Python a module and a name.
void split_target(NodeView& node, std::string_view target) {
  node.name = target;
  const std::size_t first = target.find('.');
  const std::size_t last = target.rfind('.');
  if (first == last || last == std::string_view::npos || target.starts_with("torch.")) return;
  node.overload = target.substr(last + 1);
  node.name = target.substr(0, last);
  if (node.name.starts_with("aten.")) node.name.remove_prefix(5);
}

Result<void> add_output(const Json& output, std::vector<std::string_view>& names) {
  const std::size_t before = names.size();
  add_names(output, names);
  // A None among several outputs keeps its place.
  if (names.size() == before && chosen(output).tag != "as_tensors") names.emplace_back();
  return {};
}

}  // namespace

void add_names(const Json& argument, std::vector<std::string_view>& out) {
  const Choice choice = chosen(argument);
  if (choice.value == nullptr) return;
  const auto add_named = [&](const Json& value, std::string_view key) {
    const Json* name = value.is(JsonKind::kText) ? &value : value.find(key);
    if (name != nullptr && name->is(JsonKind::kText)) out.push_back(name->text());
  };
  if (choice.tag == "as_tensor") add_named(*choice.value, "name");
  if (choice.tag == "as_sym_int" || choice.tag == "as_sym_float" || choice.tag == "as_sym_bool") {
    add_named(*choice.value, "as_name");
  }
  if (choice.tag == "as_optional_tensor") add_names(*choice.value, out);
  if (choice.tag == "as_tensors") {
    for (const JsonMember& member : choice.value->members()) add_named(member.value, "name");
  }
  if (choice.tag == "as_optional_tensors") {
    for (const JsonMember& member : choice.value->members()) add_names(member.value, out);
  }
  if (choice.tag == "as_sym_ints" || choice.tag == "as_sym_floats" || choice.tag == "as_sym_bools") {
    for (const JsonMember& member : choice.value->members()) {
      if (chosen(member.value).tag == "as_name") add_named(member.value, "as_name");
    }
  }
}

void set_target(NodeView& node, std::string_view target) {
  node.target = printable(without_module(target));
  split_target(node, without_module(target));
}

Result<NodeView> read_node(const Json& json) {
  NodeView out;
  out.json = &json;
  JC_ASSIGN_OR_RETURN(const std::string_view target, json.string("target"));
  set_target(out, target);
  JC_ASSIGN_OR_RETURN(out.inputs, json.array("inputs"));
  JC_ASSIGN_OR_RETURN(const auto outputs, json.array("outputs"));
  for (const JsonMember& output : outputs) JC_RETURN_IF_ERROR(add_output(output.value, out.outputs));
  const Json* name = json.find("name");  // torch 2.8 and later
  if (name != nullptr) out.node_name = name->text();
  if (out.node_name.empty() && !out.outputs.empty()) out.node_name = out.outputs[0];
  return out;
}

}  // namespace joulecast::torch
