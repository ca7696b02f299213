// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/attention_parts.h"

#include <algorithm>
#include <utility>

namespace joulecast::passes {
namespace {

// Masks are filled with -inf or the lowest number of some type; fp16 code uses -1e4.
constexpr double kMasked = -9999.0;

bool is_masked(const Rewriter& graph, ValueId id) {
  const auto value = scalar(graph, id);
  return value && *value <= kMasked;
}
bool is_zero(const Rewriter& graph, ValueId id) {
  const auto value = scalar(graph, id);
  return value && *value == 0.0;
}

// A number that follows from constants and shapes: no tensor of the network's.
bool is_host_scalar(const Rewriter& graph, ValueId id) {
  const Sketch& sketch = graph.sketch(id);
  return scalar(graph, id) || (sketch.host && (sketch.rank == std::size_t{0} || sketch.length == std::size_t{1}));
}

}  // namespace

ValueId without_scale(const Rewriter& graph, ValueId id) {
  const Node* node = graph.producer(id);
  if (node == nullptr) return id;
  const bool mul = is(*node, BinaryKind::kMul);
  if ((mul || is(*node, BinaryKind::kDiv)) && is_host_scalar(graph, node->inputs[1])) return node->inputs[0];
  return mul && is_host_scalar(graph, node->inputs[0]) ? node->inputs[1] : id;
}

ValueId unscaled(const Rewriter& graph, ValueId id, Group& inside) {
  const ValueId under = without_scale(graph, id);
  if (under == id || !read_once(graph, id)) return id;
  inside.add(id);
  return under;
}

std::optional<ValueId> without_nan_guard(const Rewriter& graph, const Node& node, Group& inside) {
  if (as<Where>(node) == nullptr || node.inputs.size() != 3 || !is_zero(graph, node.inputs[1])) return std::nullopt;
  const Node* test = made_by(graph, node.inputs[0], UnaryKind::kIsNan);
  if (test == nullptr || test->inputs[0] != node.inputs[2]) return std::nullopt;
  inside.add(node.inputs[0]);
  return node.inputs[2];
}

// not any(not (scores == -inf)), and zeros like the probabilities.
std::optional<ValueId> without_row_guard(const Rewriter& graph, const Node& node, Group& inside) {
  if (as<Where>(node) == nullptr || node.inputs.size() != 3) return std::nullopt;
  const Node* fill = made_by<Fill>(graph, node.inputs[1]);
  const Node* none = made_by(graph, node.inputs[0], UnaryKind::kNot);
  const Node* any = none == nullptr ? nullptr : made_by<Reduce>(graph, input(*none, 0));
  const Node* open = any == nullptr ? nullptr : made_by(graph, input(*any, 0), UnaryKind::kNot);
  const Node* shut = open == nullptr ? nullptr : made_by(graph, input(*open, 0), BinaryKind::kEqual);
  const bool zeros = fill != nullptr && as<Fill>(*fill)->value == 0.0;
  if (!zeros || shut == nullptr || as<Reduce>(*any)->kind != ReduceKind::kAny) return std::nullopt;
  if (!is_masked(graph, input(*shut, 1))) return std::nullopt;
  for (const ValueId id :
       {node.inputs[0], node.inputs[1], fill->inputs[0], none->inputs[0], any->inputs[0], open->inputs[0]}) {
    inside.add(id);
  }
  return node.inputs[2];
}

namespace {

bool has_four_axes(const Rewriter& graph, ValueId id) {
  return graph.sketch(id).rank == std::size_t{4};
}

// The dynamo exporter's transpose of the last two axes: reshape to [-1, a, b], transpose, reshape to [..., b, a], the
// shapes being constants or put together from the same pieces.
bool swaps(const Rewriter& graph, ValueId first, ValueId second) {
  const Node* a = made_by<Concat>(graph, first);
  const Node* b = made_by<Concat>(graph, second);
  if (a != nullptr && b != nullptr && a->inputs.size() == 3 && b->inputs.size() >= 3) {
    const std::size_t last = b->inputs.size() - 1;
    return a->inputs[1] == b->inputs[last] && a->inputs[2] == b->inputs[last - 1];
  }
  const Contents* known_a = graph.known(first);
  const Contents* known_b = graph.known(second);
  if (known_a == nullptr || known_b == nullptr || known_a->ints.size() != 3 || known_b->ints.size() != 4) return false;
  return known_a->ints[1] == known_b->ints[3] && known_a->ints[2] == known_b->ints[2];
}

std::optional<Key> folded_to_three_axes(const Rewriter& graph, const Node& unfold, Group& inside) {
  const Node* transpose = made_by<Transpose>(graph, input(unfold, 0));
  if (transpose == nullptr || as<Transpose>(*transpose)->order != IntList{0, 2, 1}) return std::nullopt;
  const Node* fold = made_by<Reshape>(graph, input(*transpose, 0));
  if (fold == nullptr || !has_four_axes(graph, input(*fold, 0))) return std::nullopt;
  if (!swaps(graph, input(*fold, 1), input(unfold, 1))) return std::nullopt;
  inside.add(unfold.inputs[0]);
  inside.add(transpose->inputs[0]);
  return Key{fold->inputs[0], {}};
}

// A transposition to [..., head, keys] is one to [..., keys, head] with its last two axes exchanged, often none at all.
std::optional<Key> transposed(const Rewriter& graph, ValueId id, const Node& transpose, Group& inside) {
  IntList order = as<Transpose>(transpose)->order;
  if (order.size() < 3) return std::nullopt;
  std::swap(order[order.size() - 2], order.back());
  if (std::is_sorted(order.begin(), order.end())) {
    inside.add(id);
    return Key{unscaled(graph, input(transpose, 0), inside), {}};
  }
  return read_once(graph, id) ? std::optional(Key{id, std::move(order)}) : std::nullopt;
}

}  // namespace

std::optional<Key> key_of(const Rewriter& graph, ValueId id, bool already, Group& inside) {
  if (already) return has_four_axes(graph, id) ? std::optional(Key{id, {}}) : std::nullopt;
  const Node* node = graph.producer(id);
  if (node == nullptr) return std::nullopt;
  if (as<Transpose>(*node) != nullptr) return transposed(graph, id, *node, inside);
  if (as<Reshape>(*node) == nullptr) return std::nullopt;
  auto key = folded_to_three_axes(graph, *node, inside);
  if (key) inside.add(id);
  return key;
}

namespace {

// x counted along one axis against x counted along the next: row >= column, as Keras writes a triangle.
bool compares_places(const Rewriter& graph, const Node& node) {
  const Node* row = made_by<Cumulate>(graph, input(node, 0));
  const Node* column = made_by<Cumulate>(graph, input(node, 1));
  if (!is(node, BinaryKind::kGreaterEqual) || row == nullptr || column == nullptr) return false;
  const bool next = as<Cumulate>(*row)->axis + 1 == as<Cumulate>(*column)->axis;
  return next && input(*row, 0) == input(*column, 0) && graph.sketch(input(*row, 0)).host;
}

// Whether `id` keeps a triangle of a matrix of ones: the causal mask that exporters build.
bool is_triangle(const Rewriter& graph, ValueId id) {
  for (int steps = 0; steps < 6; ++steps) {
    const Node* node = graph.producer(id);
    if (node == nullptr) return false;
    if (as<Triangle>(*node) != nullptr) return graph.sketch(input(*node, 0)).host;
    if (compares_places(graph, *node)) return true;
    const bool step = as<Cast>(*node) != nullptr || as<Unsqueeze>(*node) != nullptr ||
                      (is(*node, BinaryKind::kEqual) && is_zero(graph, node->inputs[1])) || is(*node, UnaryKind::kNot);
    if (!step) return false;
    id = node->inputs[0];
  }
  return false;
}

// Whether a mask is a constant that shuts nothing out, perhaps broadcast: transformers makes one for dynamo alone, and
// Keras one of the scores' shape.
bool lets_all_in(const Rewriter& graph, ValueId id) {
  for (int steps = 0; steps < 4; ++steps) {
    if (const Contents* known = graph.known(id)) {
      return !known->ints.empty() && known->ints.size() <= kMaxKnownElements &&
             std::find(known->ints.begin(), known->ints.end(), 0) == known->ints.end();
    }
    const Node* node = graph.producer(id);
    if (node == nullptr) return false;
    if (const auto* fill = as<Fill>(*node)) return fill->value != 0.0;
    const bool step = as<Expand>(*node) != nullptr || as<Unsqueeze>(*node) != nullptr || as<Reshape>(*node) != nullptr;
    if (!step) return false;
    id = input(*node, 0);
  }
  return false;
}

// Keras joins every mask with one that lets all in.
Mask boolean_mask(const Rewriter& graph, ValueId id) {
  if (const Node* both = made_by(graph, id, BinaryKind::kAnd)) {
    const std::size_t all = lets_all_in(graph, both->inputs[0]) ? 0 : 1;
    if (lets_all_in(graph, both->inputs[all])) id = both->inputs[1 - all];
  }
  if (is_triangle(graph, id)) return Mask{kNoValue, true};
  return Mask{id, false};
}

}  // namespace

Mask additive_mask(const Rewriter& graph, ValueId id) {
  const Node* where = made_by<Where>(graph, id);
  if (where == nullptr || where->inputs.size() != 3) return Mask{id, false};
  const ValueId condition = where->inputs[0];
  const bool lets_in = is_zero(graph, where->inputs[1]) && is_masked(graph, where->inputs[2]);
  const bool shuts_out =
      is_masked(graph, where->inputs[1]) && (is_zero(graph, where->inputs[2]) || is_triangle(graph, where->inputs[2]));
  if (!lets_in && !shuts_out) return Mask{id, false};
  // An exporter's own mask, from nothing but shapes; one of the model's depends on what it was given.
  if (is_triangle(graph, condition)) return Mask{kNoValue, true};
  if (lets_in && lets_all_in(graph, condition)) return Mask{};
  return lets_in ? Mask{condition, false} : Mask{id, false};
}

std::optional<Filled> filled_scores(const Rewriter& graph, const Node& where) {
  if (where.inputs.size() != 3) return std::nullopt;
  if (is_masked(graph, where.inputs[1])) return Filled{where.inputs[2], boolean_mask(graph, where.inputs[0])};
  if (is_masked(graph, where.inputs[2])) return Filled{where.inputs[1], boolean_mask(graph, where.inputs[0])};
  return std::nullopt;
}

ValueId without_repeated_heads(const Rewriter& graph, ValueId id) {
  const Node* reshape = made_by<Reshape>(graph, id);
  const Node* expand = reshape == nullptr ? nullptr : made_by<Expand>(graph, input(*reshape, 0));
  const Node* unsqueeze = expand == nullptr ? nullptr : made_by<Unsqueeze>(graph, input(*expand, 0));
  if (unsqueeze == nullptr || !has_four_axes(graph, id)) return kNoValue;
  const bool behind_heads = axes_of(graph, *unsqueeze, as<Unsqueeze>(*unsqueeze)->axes) == IntList{2};
  if (!behind_heads || !has_four_axes(graph, input(*unsqueeze, 0))) return kNoValue;
  return graph.sketch(input(*expand, 1)).host ? unsqueeze->inputs[0] : kNoValue;
}

}  // namespace joulecast::passes
