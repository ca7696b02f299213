// SPDX-License-Identifier: Apache-2.0
#include "exporters/operator_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "joulecast/cost.h"

namespace joulecast {
namespace {

template <typename Op, typename... Others>
constexpr bool kIsOneOf = (std::is_same_v<Op, Others> || ...);

// Views, and values that a shape makes.
bool is_view(const Operator& op) {
  return std::visit(
      [](const auto& o) {
        using Op = std::decay_t<decltype(o)>;
        return kIsOneOf<Op, Fill, Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Expand, Slice, Split, ShapeOf>;
      },
      op);
}

// x[2] of a tensor: torch's select, a view.
bool is_select(const Node& node, const TypeTable& types) {
  const auto* gather = std::get_if<Gather>(&node.op);
  return gather != nullptr && gather->kind == GatherKind::kSlices && types.type(node.inputs[1]).shape.empty();
}

bool counts(ElementType element) {
  return is_floating(element) || element == ElementType::kComplex64 || element == ElementType::kComplex128;
}

bool is_data(const Node& node, const TypeTable& types) {
  const auto computes = [&](ValueId id) {
    return id != kNoValue && counts(types.type(id).element) && types.known(id) == nullptr;
  };
  return std::any_of(node.outputs.begin(), node.outputs.end(), computes);
}

std::int64_t counted_from_front(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

// Axes are attributes or inputs, from either end.
std::string axes_text(const Node& node, const IntList& attribute, const TypeTable& types) {
  IntList axes = attribute;
  const bool as_input = axes.empty() && node.inputs.size() > 1 && node.inputs[1] != kNoValue;
  const Contents* contents = as_input ? types.known(node.inputs[1]) : nullptr;
  if (contents != nullptr) axes = contents->ints;
  for (std::int64_t& axis : axes) axis = counted_from_front(axis, types.type(node.inputs[0]).shape.size());
  std::sort(axes.begin(), axes.end());
  return fmt::format(" [{}]", fmt::join(axes, ", "));
}

// The attributes that change the work, spelled in one way.
std::string attributes(const Node& node, const TypeTable& types) {
  const std::size_t rank = node.inputs.empty() ? 0 : types.type(node.inputs[0]).shape.size();
  if (const auto* op = std::get_if<Conv>(&node.op)) return fmt::format(" groups {}", op->groups);
  if (const auto* op = std::get_if<Attention>(&node.op)) return op->causal ? " causal" : "";
  if (const auto* op = std::get_if<LayerNorm>(&node.op)) return op->channels_first ? " channels_first" : "";
  if (const auto* op = std::get_if<GroupNorm>(&node.op)) return fmt::format(" groups {}", op->groups);
  if (const auto* op = std::get_if<Pool>(&node.op)) return fmt::format(" kernel {}", fmt::join(op->kernel.span(), "x"));
  if (const auto* op = std::get_if<Softmax>(&node.op)) return fmt::format(" [{}]", counted_from_front(op->axis, rank));
  if (const auto* op = std::get_if<Concat>(&node.op)) return fmt::format(" [{}]", counted_from_front(op->axis, rank));
  if (const auto* op = std::get_if<Reduce>(&node.op)) return axes_text(node, op->axes, types);
  if (const auto* op = std::get_if<Rnn>(&node.op)) return fmt::format(" hidden {}", op->hidden);
  return "";
}

std::string shape_text(const Node& node, std::size_t i, const TypeTable& types) {
  Shape shape = types.type(node.inputs[i]).shape;
  const auto* linear = std::get_if<Linear>(&node.op);
  if (linear != nullptr && i == 1 && linear->weight_in_out) std::swap(shape[0], shape[1]);
  return text(shape);
}

// For each value: whether it follows from constants and shapes alone. Small tensors that one exporter keeps as
// constants are weights to the other.
std::vector<bool> host_values(const Graph& graph) {
  std::vector<bool> host(graph.values.size(), false);
  for (std::size_t i = 0; i < host.size(); ++i) {
    host[i] = graph.values[i].kind == ValueKind::kConstant || graph.values[i].contents.has_value();
  }
  for (const Node& node : graph.nodes) {
    const bool all = std::all_of(node.inputs.begin(), node.inputs.end(),
                                 [&](ValueId id) { return id == kNoValue || host[index(id)]; });
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) host[index(id)] = all || std::holds_alternative<ShapeOf>(node.op);
    }
  }
  return host;
}

// Inputs that say how and not what: sizes, axes, scales.
bool is_setting(const Graph& graph, const Node& node, std::size_t i, const std::vector<bool>& host) {
  const ValueId id = node.inputs[i];
  if (id == kNoValue) return true;
  if (std::holds_alternative<Resize>(node.op)) return i > 0;
  const bool weight = graph.value(id).kind == ValueKind::kParameter && !std::holds_alternative<Binary>(node.op);
  return host[index(id)] && !weight;
}

std::string describe(const Graph& graph, const Node& node, const TypeTable& types, const std::vector<bool>& host) {
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!is_setting(graph, node, i, host)) inputs.push_back(shape_text(node, i, types));
  }
  // a + b and b + a are the same work.
  if (std::holds_alternative<Binary>(node.op)) std::sort(inputs.begin(), inputs.end());
  std::string out = "nothing";
  if (!node.outputs.empty() && node.outputs[0] != kNoValue) out = text(types.type(node.outputs[0]).shape);
  return fmt::format("{}{} {} -> {}", label(node.op), attributes(node, types), fmt::join(inputs, ", "), out);
}

void add(const Graph& graph, const TypeTable& types, OperatorList& list) {
  const std::vector<bool> host = host_values(graph);
  const auto is_host = [&](ValueId id) { return id == kNoValue || host[index(id)]; };
  for (const Node& node : graph.nodes) {
    if (is_view(node.op) || is_select(node, types) || !is_data(node, types)) continue;
    if (std::all_of(node.outputs.begin(), node.outputs.end(), is_host)) continue;
    ++list[describe(graph, node, types, host)];
  }
}

}  // namespace

OperatorList list_operators(const Graph& graph, const TypeTable& types) {
  OperatorList list;
  add(graph, types, list);
  return list;
}

std::vector<OperatorDifference> compare(const OperatorList& left, const OperatorList& right) {
  std::map<std::string, OperatorDifference> all;
  for (const auto& [operation, count] : left) all[operation] = {operation, count, 0};
  for (const auto& [operation, count] : right) {
    all[operation].operation = operation;
    all[operation].right = count;
  }
  std::vector<OperatorDifference> out;
  for (const auto& [operation, difference] : all) {
    if (difference.left != difference.right) out.push_back(difference);
  }
  return out;
}

}  // namespace joulecast
