// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/match.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace joulecast::passes {

void Group::add(ValueId id) {
  if (std::find(values_.begin(), values_.end(), id) == values_.end()) values_.push_back(id);
}

namespace {

// No node of an idiom has more; files that claim so must not cost a search of each other's lists.
constexpr std::size_t kMostInputs = 16;

}  // namespace

bool Group::closed(const Rewriter& graph, const Node& root) const {
  if (values_.full() || root.inputs.size() > kMostInputs) return false;
  for (const ValueId id : values_) {
    std::size_t inside = static_cast<std::size_t>(std::count(root.inputs.begin(), root.inputs.end(), id));
    for (const ValueId reader : values_) {
      const Node* node = graph.producer(reader);
      if (node == nullptr) continue;
      if (node->inputs.size() > kMostInputs) return false;
      inside += static_cast<std::size_t>(std::count(node->inputs.begin(), node->inputs.end(), id));
    }
    if (inside != graph.uses(id)) return false;
  }
  return true;
}

bool Group::dies(const Rewriter& graph, const Node& root, const std::vector<ValueId>& instead) const {
  constexpr std::size_t kMostReads = 128;
  if (values_.full() || root.inputs.size() > kMostInputs) return false;
  std::unordered_map<std::size_t, std::int64_t> counts;
  const auto left = [&](ValueId id) -> std::int64_t& {
    return counts.try_emplace(index(id), graph.uses(id)).first->second;
  };
  for (const ValueId id : instead) ++left(id);
  std::vector<ValueId> released(root.inputs.begin(), root.inputs.end());
  for (std::size_t next = 0; next < released.size(); ++next) {
    if (released[next] == kNoValue || --left(released[next]) > 0) continue;
    const Node* node = graph.producer(released[next]);
    if (node == nullptr || node->outputs.size() != 1) continue;
    if (released.size() + node->inputs.size() > kMostReads) return false;
    released.insert(released.end(), node->inputs.begin(), node->inputs.end());
  }
  return std::all_of(values_.begin(), values_.end(), [&](ValueId id) { return left(id) == 0; });
}

bool is(const Node& node, BinaryKind kind) {
  const auto* op = as<Binary>(node);
  return op != nullptr && op->kind == kind && node.inputs.size() == 2;
}
bool is(const Node& node, UnaryKind kind) {
  const auto* op = as<Unary>(node);
  return op != nullptr && op->kind == kind && node.inputs.size() == 1;
}
bool is(const Node& node, ActivationKind kind) {
  const auto* op = as<Activation>(node);
  return op != nullptr && op->kind == kind && !node.inputs.empty();
}

std::optional<double> scalar(const Rewriter& graph, ValueId id) {
  const Contents* contents = graph.known(id);
  if (contents == nullptr) return std::nullopt;
  if (contents->reals.size() == 1 && contents->ints.empty()) return contents->reals[0];
  if (contents->ints.size() == 1 && contents->reals.empty()) return static_cast<double>(contents->ints[0]);
  return std::nullopt;
}

bool is_about(double value, double wanted) {
  return std::abs(value - wanted) <= kTolerance * std::abs(wanted);
}

bool is_scalar(const Rewriter& graph, ValueId id, double wanted) {
  const auto value = scalar(graph, id);
  return value && is_about(*value, wanted);
}

std::optional<Scaled> scaled(const Rewriter& graph, ValueId id) {
  if (const Node* mul = made_by(graph, id, BinaryKind::kMul)) {
    if (const auto by = scalar(graph, mul->inputs[1])) return Scaled{mul->inputs[0], *by};
    if (const auto by = scalar(graph, mul->inputs[0])) return Scaled{mul->inputs[1], *by};
  }
  if (const Node* div = made_by(graph, id, BinaryKind::kDiv)) {
    const auto by = scalar(graph, div->inputs[1]);
    if (by && *by != 0.0) return Scaled{div->inputs[0], 1.0 / *by};
  }
  return std::nullopt;
}

std::optional<Scaled> offset(const Rewriter& graph, ValueId id) {
  if (const Node* add = made_by(graph, id, BinaryKind::kAdd)) {
    if (const auto by = scalar(graph, add->inputs[1])) return Scaled{add->inputs[0], *by};
    if (const auto by = scalar(graph, add->inputs[0])) return Scaled{add->inputs[1], *by};
  }
  if (const Node* sub = made_by(graph, id, BinaryKind::kSub)) {
    if (const auto by = scalar(graph, sub->inputs[1])) return Scaled{sub->inputs[0], -*by};
  }
  return std::nullopt;
}

namespace {

void take_factor(const Rewriter& graph, ValueId id, Product& product, InlineVector<ValueId, 6>& open) {
  if (const auto by = scalar(graph, id)) {
    product.scalar *= *by;
    return;
  }
  const Node* node = graph.producer(id);
  const bool opens = node != nullptr && (is(*node, BinaryKind::kMul) || is(*node, BinaryKind::kDiv)) && !open.full();
  if (opens && (is(*node, BinaryKind::kMul) || scalar(graph, node->inputs[1]))) {
    open.push_back(id);
    return;
  }
  if (product.factors.full()) product.complete = false;
  product.factors.push_back(id);
}

void open_factors(const Rewriter& graph, const Node& node, Product& product, InlineVector<ValueId, 6>& open) {
  take_factor(graph, node.inputs[0], product, open);
  if (is(node, BinaryKind::kMul)) take_factor(graph, node.inputs[1], product, open);
  if (!is(node, BinaryKind::kDiv)) return;
  const auto by = scalar(graph, node.inputs[1]);
  if (by && *by != 0.0) {
    product.scalar /= *by;
  } else {
    product.complete = false;
  }
}

}  // namespace

Product product(const Rewriter& graph, const Node& root, Group& inside) {
  Product out;
  InlineVector<ValueId, 6> open;
  open_factors(graph, root, out, open);
  for (std::size_t next = 0; next < open.size(); ++next) {
    if (!read_once(graph, open[next])) {
      if (out.factors.full()) out.complete = false;
      out.factors.push_back(open[next]);
      continue;
    }
    inside.add(open[next]);
    open_factors(graph, *graph.producer(open[next]), out, open);
  }
  return out;
}

Product product(const Rewriter& graph, ValueId id, Group& inside) {
  const Node* node = graph.producer(id);
  const bool is_product = node != nullptr && (is(*node, BinaryKind::kMul) ||
                                              (is(*node, BinaryKind::kDiv) && scalar(graph, node->inputs[1])));
  if (is_product) {
    inside.add(id);
    return product(graph, *node, inside);
  }
  Product out;
  out.factors.push_back(id);
  return out;
}

std::optional<ValueId> other_input(const Node& node, ValueId one) {
  if (node.inputs.size() != 2) return std::nullopt;
  if (node.inputs[0] == one) return node.inputs[1];
  if (node.inputs[1] == one) return node.inputs[0];
  return std::nullopt;
}

std::optional<IntList> axes_of(const Rewriter& graph, const Node& node, const IntList& attribute) {
  const Contents* known = attribute.empty() ? graph.known(input(node, 1)) : nullptr;
  if (attribute.empty() && known == nullptr) return std::nullopt;
  const IntList& axes = known == nullptr ? attribute : known->ints;
  return axes.empty() || axes.size() > kMaxRank ? std::nullopt : std::optional(axes);
}

std::optional<IntList> reduced_axes(const Rewriter& graph, const Node& reduce) {
  const auto* op = as<Reduce>(reduce);
  if (op == nullptr) return std::nullopt;
  return axes_of(graph, reduce, op->axes);
}

std::optional<std::int64_t> count_last_axes(const IntList& axes, std::optional<std::size_t> rank) {
  IntList sorted = axes;
  for (std::int64_t& axis : sorted) {
    if (axis < 0) continue;
    if (!rank) return std::nullopt;
    axis -= static_cast<std::int64_t>(*rank);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<std::int64_t>(sorted.size());
  for (std::int64_t i = 0; i < count; ++i) {
    if (sorted[static_cast<std::size_t>(i)] != i - count) return std::nullopt;
  }
  return count;
}

namespace {

// The one extent that is not 1, and how many extents stand after it. A vector of one entry counts as one.
std::optional<ChannelVector> vector_in(ValueId parameter, const Shape& shape) {
  ChannelVector out{parameter, 1, 0};
  std::size_t others = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    ++others;
    out.channels = shape[axis];
    out.spatial = shape.size() - axis - 1;
  }
  if (others != 1 || shape.size() > out.spatial + 2) return std::nullopt;
  return out;
}

// How many axes an Unsqueeze or Reshape puts behind a vector: axes {1, 2} or shape {1, -1, 1, 1}.
std::optional<std::size_t> axes_put_behind(const Rewriter& graph, const Node& node) {
  if (const auto* op = as<Unsqueeze>(node)) {
    IntList axes = axes_of(graph, node, op->axes).value_or(IntList{});
    std::sort(axes.begin(), axes.end());
    const bool batch = !axes.empty() && axes[0] == 0;
    for (std::size_t i = batch ? 1 : 0; i < axes.size(); ++i) {
      if (axes[i] != static_cast<std::int64_t>(i) + 1) return std::nullopt;
    }
    return axes.empty() ? std::nullopt : std::optional(axes.size() - (batch ? 1 : 0));
  }
  const Contents* known = as<Reshape>(node) != nullptr ? graph.known(input(node, 1)) : nullptr;
  if (known == nullptr || known->ints.empty() || known->ints.size() > kMaxRank) return std::nullopt;
  const IntList& shape = known->ints;
  const std::size_t channel = shape[0] == 1 && shape.size() > 1 ? 1 : 0;
  for (std::size_t i = channel + 1; i < shape.size(); ++i) {
    if (shape[i] != 1) return std::nullopt;
  }
  return shape[channel] == 1 ? std::nullopt : std::optional(shape.size() - channel - 1);
}

}  // namespace

std::optional<ChannelVector> channel_vector(const Rewriter& graph, ValueId id) {
  if (graph.is_parameter(id)) return vector_in(id, graph.source_type(id).shape);
  const Node* node = graph.producer(id);
  if (node == nullptr || !graph.is_parameter(input(*node, 0))) return std::nullopt;
  const Shape shape = graph.source_type(node->inputs[0]).shape;
  const auto spatial = axes_put_behind(graph, *node);
  if (!spatial || shape.size() != 1) return std::nullopt;
  return ChannelVector{node->inputs[0], shape[0], *spatial};
}

ValueId as_vector(Rewriter& graph, const ChannelVector& vector) {
  const TensorType type = graph.source_type(vector.parameter);
  if (type.shape.size() == 1) return vector.parameter;
  return graph.retyped(vector.parameter, TensorType{type.element, Shape{vector.channels}});
}

namespace {

std::optional<ValueId> under_root(const Rewriter& graph, ValueId id, Group& inside) {
  const Node* node = graph.producer(id);
  if (node == nullptr) return std::nullopt;
  const bool power = is(*node, BinaryKind::kPow) && is_scalar(graph, node->inputs[1], 0.5);
  if (!is(*node, UnaryKind::kSqrt) && !power) return std::nullopt;
  inside.add(id);
  return node->inputs[0];
}

}  // namespace

std::optional<ValueId> under_inverse_root(const Rewriter& graph, ValueId id, Group& inside) {
  const Node* node = graph.producer(id);
  if (node == nullptr) return std::nullopt;
  inside.add(id);
  const bool power = is(*node, BinaryKind::kPow) && is_scalar(graph, node->inputs[1], -0.5);
  if (is(*node, UnaryKind::kRsqrt) || power) return node->inputs[0];
  if (is(*node, UnaryKind::kReciprocal)) return under_root(graph, node->inputs[0], inside);
  if (is(*node, BinaryKind::kDiv) && is_scalar(graph, node->inputs[0], 1.0)) {
    return under_root(graph, node->inputs[1], inside);
  }
  return std::nullopt;
}

std::optional<Normalised> normalised(const Rewriter& graph, const Node& root, Group& inside) {
  if (is(root, BinaryKind::kDiv)) {
    const auto v = under_root(graph, root.inputs[1], inside);
    return v ? std::optional(Normalised{root.inputs[0], *v}) : std::nullopt;
  }
  if (!is(root, BinaryKind::kMul)) return std::nullopt;
  for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
    Group tried = inside;
    const auto v = under_inverse_root(graph, root.inputs[side], tried);
    if (!v) continue;
    inside = tried;
    return Normalised{root.inputs[1 - side], *v};
  }
  return std::nullopt;
}

namespace {

std::optional<ValueId> squared(const Rewriter& graph, ValueId id) {
  const Node* node = graph.producer(id);
  if (node == nullptr) return std::nullopt;
  const bool power = is(*node, BinaryKind::kPow) && is_scalar(graph, node->inputs[1], 2.0);
  const bool self = is(*node, BinaryKind::kMul) && node->inputs[0] == node->inputs[1];
  if (power || self || is(*node, UnaryKind::kSquare)) return node->inputs[0];
  return std::nullopt;
}

}  // namespace

std::optional<MeanSquare> mean_square(const Rewriter& graph, ValueId id, Group& inside) {
  const auto with_epsilon = offset(graph, id);
  // An epsilon; anything larger is another formula.
  if (!with_epsilon || with_epsilon->by < 0.0 || with_epsilon->by > 0.1) return std::nullopt;
  const Node* mean = made_by<Reduce>(graph, with_epsilon->x);
  if (mean == nullptr || as<Reduce>(*mean)->kind != ReduceKind::kMean || !as<Reduce>(*mean)->keep_axes) {
    return std::nullopt;
  }
  auto axes = reduced_axes(graph, *mean);
  const auto y = squared(graph, input(*mean, 0));
  if (!axes || !y) return std::nullopt;
  inside.add(id);
  inside.add(with_epsilon->x);
  inside.add(mean->inputs[0]);
  return MeanSquare{*y, std::move(*axes)};
}

}  // namespace joulecast::passes
