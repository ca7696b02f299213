// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace joulecast::passes {

Rewriter::Rewriter(Graph& graph)
    : graph_(graph),
      producer_(graph.values.size(), kNone),
      uses_(graph.values.size(), 0),
      is_output_(graph.values.size(), false),
      dead_(graph.nodes.size(), false),
      sketches_(graph.values.size()) {
  alias_.reserve(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const ValueId id{static_cast<std::uint32_t>(i)};
    alias_.push_back(id);
    sketches_[i] = source_sketch(graph, id);
  }
  for (const GraphInput& input : graph.inputs) {
    sketches_[index(input.value)].element = input.element;
    // An input without dimensions may be a scalar or of a rank that the file does not tell.
    if (!input.dimensions.empty()) sketches_[index(input.value)].rank = input.dimensions.size();
  }
  index_nodes();
  remove_unread();
}

void Rewriter::index_nodes() {
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (const ValueId id : graph_.nodes[i].outputs) {
      if (id != kNoValue) producer_[index(id)] = static_cast<std::uint32_t>(i);
    }
    for (const ValueId id : graph_.nodes[i].inputs) {
      if (id != kNoValue) ++uses_[index(id)];
    }
  }
  for (const ValueId id : graph_.outputs) {
    ++uses_[index(id)];
    is_output_[index(id)] = true;
  }
}

void Rewriter::remove_unread() {
  for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
    if (!dead_[i] && unread(graph_.nodes[i])) release_inputs(i);
  }
}

bool Rewriter::unread(const Node& node) const {
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) { return uses(id) == 0; });
}

const Node* Rewriter::producer(ValueId id) const {
  if (id == kNoValue || producer_[index(id)] == kNone) return nullptr;
  return &graph_.nodes[producer_[index(id)]];
}

bool Rewriter::is_parameter(ValueId id) const {
  return id != kNoValue && graph_.value(id).kind == ValueKind::kParameter;
}

TensorType Rewriter::source_type(ValueId id) const {
  if (id == kNoValue) return {};
  const Value& value = graph_.value(id);
  return value.kind == ValueKind::kParameter || value.kind == ValueKind::kConstant ? value.type : TensorType{};
}

void Rewriter::release_inputs(std::size_t i) {
  dead_[i] = true;
  for (const ValueId id : graph_.nodes[i].inputs) release(id);
}

// A worklist and no recursion: chains in hostile files are as long as the file.
void Rewriter::release(ValueId id) {
  if (id == kNoValue) return;
  const bool outermost = released_.empty();
  released_.push_back(id);
  if (!outermost) return;
  for (std::size_t next = 0; next < released_.size(); ++next) {
    const ValueId value = released_[next];
    if (--uses_[index(value)] > 0 || producer_[index(value)] == kNone) continue;
    const std::uint32_t node = producer_[index(value)];
    if (dead_[node] || !unread(graph_.nodes[node])) continue;
    dead_[node] = true;
    for (const ValueId input : graph_.nodes[node].inputs) {
      if (input != kNoValue) released_.push_back(input);
    }
  }
  released_.clear();
}

void Rewriter::replace(std::size_t i, Operator op, std::vector<ValueId> inputs) {
  for (const ValueId id : inputs) {
    if (id != kNoValue) ++uses_[index(id)];
  }
  Node& node = graph_.nodes[i];
  const std::vector<ValueId> before = std::exchange(node.inputs, std::move(inputs));
  node.op = std::move(op);
  for (const ValueId id : before) release(id);
}

bool Rewriter::bypass(std::size_t i, ValueId instead) {
  const ValueId from = graph_.nodes[i].outputs[0];
  if (is_output_[index(from)]) return false;
  alias_[index(from)] = instead;
  uses_[index(instead)] += uses_[index(from)];
  uses_[index(from)] = 0;
  release_inputs(i);
  return true;
}

void Rewriter::set_order(ValueId id, IntList order) {
  graph_.nodes[producer_[index(id)]].op = Transpose{std::move(order)};
}

ValueId Rewriter::add_parameter(const std::string& key, Value value) {
  if (const auto it = parameters_.find(key); it != parameters_.end()) return it->second;
  const ValueId id = graph_.add_value(std::move(value));
  producer_.push_back(kNone);
  uses_.push_back(0);
  is_output_.push_back(false);
  alias_.push_back(id);
  sketches_.push_back(source_sketch(graph_, id));
  parameters_.emplace(key, id);
  return id;
}

ValueId Rewriter::retyped(ValueId parameter, const TensorType& type) {
  const Value& from = graph_.value(parameter);
  Value value{from.name, ValueKind::kParameter, type, std::nullopt};
  if (from.type.element == type.element) value.contents = from.contents;
  return add_parameter(fmt::format("{} {}{}", index(parameter), name(type.element), text(type.shape)),
                       std::move(value));
}

// Whether parameters are put together without a change, as the biases of two products are; which ones, in order.
bool Rewriter::add_parts(ValueId id, std::string& parts, int depth) const {
  constexpr std::size_t kMostParts = 4;
  if (is_parameter(id)) {
    parts += fmt::format("{} ", index(id));
    return true;
  }
  const Node* node = producer(id);
  const bool joins =
      node != nullptr && (std::holds_alternative<Concat>(node->op) || std::holds_alternative<Unsqueeze>(node->op));
  return joins && depth > 0 && node->inputs.size() <= kMostParts &&
         std::all_of(node->inputs.begin(), node->inputs.end(),
                     [&](ValueId part) { return add_parts(part, parts, depth - 1); });
}

ValueId Rewriter::assembled(ValueId id, ValueId parameter, const TensorType& type) {
  constexpr int kMostSteps = 3;
  std::string key;
  if (!add_parts(id, key, kMostSteps)) key = fmt::format("{}", index(id));
  return add_parameter(fmt::format("{}{}{}", key, name(type.element), text(type.shape)),
                       Value{graph_.value(parameter).name, ValueKind::kParameter, type, std::nullopt});
}

void Rewriter::resolve(std::size_t i) {
  // What stands behind an alias was resolved when its own node was visited, so one step reaches the end.
  for (ValueId& id : graph_.nodes[i].inputs) {
    if (id != kNoValue) id = alias_[index(id)];
  }
}

void Rewriter::finish(std::size_t i) {
  const Node& node = graph_.nodes[i];
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k] != kNoValue) sketches_[index(node.outputs[k])] = output_sketch(graph_, node, k, sketches_);
  }
}

namespace {

// Calls visit(reference) for every body index that an operator holds.
template <typename Visit>
void for_each_body(Operator& op, Visit&& visit) {
  if (auto* branch = std::get_if<If>(&op)) {
    visit(branch->then_body);
    visit(branch->else_body);
  }
  if (auto* loop = std::get_if<Loop>(&op)) visit(loop->body);
  if (auto* scan = std::get_if<Scan>(&op)) visit(scan->body);
}

// Bodies of nodes that are gone go too; the others move together.
void compact_bodies(Graph& graph) {
  std::vector<Graph> kept;
  for (Node& node : graph.nodes) {
    for_each_body(node.op, [&](std::uint32_t& body) {
      kept.push_back(std::move(graph.bodies[body]));
      body = static_cast<std::uint32_t>(kept.size() - 1);
    });
  }
  graph.bodies = std::move(kept);
}

std::vector<bool> referred_values(const Graph& graph) {
  std::vector<bool> used(graph.values.size(), false);
  const auto mark = [&](ValueId id) {
    if (id != kNoValue) used[index(id)] = true;
  };
  for (const Node& node : graph.nodes) {
    std::for_each(node.inputs.begin(), node.inputs.end(), mark);
    std::for_each(node.outputs.begin(), node.outputs.end(), mark);
  }
  for (const GraphInput& input : graph.inputs) mark(input.value);
  std::for_each(graph.outputs.begin(), graph.outputs.end(), mark);
  return used;
}

// Contents move along with the first value that has them; several values may share one.
void move_contents(Value& value, Graph& graph, std::vector<Contents>& kept,
                   std::vector<std::optional<std::uint32_t>>& at) {
  if (!value.contents) return;
  auto& place = at[*value.contents];
  if (!place) {
    place = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(graph.contents[*value.contents]));
  }
  value.contents = place;
}

void compact_values(Graph& graph) {
  const std::vector<bool> used = referred_values(graph);
  std::vector<ValueId> moved(graph.values.size(), kNoValue);
  std::vector<Value> kept;
  std::vector<Contents> contents;
  std::vector<std::optional<std::uint32_t>> contents_at(graph.contents.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (!used[i]) continue;
    move_contents(graph.values[i], graph, contents, contents_at);
    moved[i] = ValueId{static_cast<std::uint32_t>(kept.size())};
    kept.push_back(std::move(graph.values[i]));
  }
  graph.values = std::move(kept);
  graph.contents = std::move(contents);
  const auto move = [&](ValueId& id) {
    if (id != kNoValue) id = moved[index(id)];
  };
  for (Node& node : graph.nodes) {
    std::for_each(node.inputs.begin(), node.inputs.end(), move);
    std::for_each(node.outputs.begin(), node.outputs.end(), move);
  }
  for (GraphInput& input : graph.inputs) move(input.value);
  std::for_each(graph.outputs.begin(), graph.outputs.end(), move);
}

}  // namespace

void Rewriter::compact() {
  std::vector<Node> alive;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (!dead_[i]) alive.push_back(std::move(graph_.nodes[i]));
  }
  graph_.nodes = std::move(alive);
  compact_bodies(graph_);
  compact_values(graph_);
}

}  // namespace joulecast::passes
