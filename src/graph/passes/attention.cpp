// SPDX-License-Identifier: Apache-2.0
// softmax(q k^T * scale [+ mask]) v: torch's scaled_dot_product_attention as both exporters decompose it (the root of
// the scale on q and on k, a guard against rows of NaN behind the softmax), and on four axes the same formula written
// out by the model (the scale on q or on the scores, or none), which is attention by hand. With other numbers of axes,
// as older code has it around torch.bmm, that is not folded.
#include <algorithm>
#include <utility>

#include "graph/passes/attention_parts.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// Everything found between the two products.
struct Scores {
  ValueId product = kNoValue;  // q k^T
  ValueId mask = kNoValue;
  bool causal = false;
  std::int64_t scales = 0, masks = 0, fills = 0;
};

struct Operands {
  ValueId query = kNoValue;
  Key key;
  bool both_scaled = false;
  bool swapped = false;  // the key is [batch, heads, head, keys]: nothing in the graph transposes it
};

// What lies around the softmax.
struct Softened {
  ValueId scores = kNoValue;
  std::int64_t axis = -1;
  double dropout = 0.0;
  bool in_float = false;
  bool guarded = false;  // as only scaled_dot_product_attention guards it
};

// Through dropout, casts and the guard where(is_nan(p), 0, p) to the softmax.
std::optional<Softened> under_softmax(const Rewriter& graph, ValueId id, Group& inside) {
  Softened out;
  for (int steps = 0; steps < 6; ++steps) {
    const Node* node = graph.producer(id);
    if (node == nullptr) return std::nullopt;
    inside.add(id);
    if (const auto* softmax = as<Softmax>(*node)) {
      out.scores = input(*node, 0);
      out.axis = softmax->axis;
      out.in_float = softmax->in_float;
      return softmax->log ? std::nullopt : std::optional(out);
    }
    const auto* dropped = as<Dropout>(*node);
    if (dropped != nullptr) out.dropout = dropped->probability;
    if (dropped != nullptr || as<Cast>(*node) != nullptr) {
      id = input(*node, 0);
      continue;
    }
    auto guarded = without_nan_guard(graph, *node, inside);
    if (!guarded) guarded = without_row_guard(graph, *node, inside);
    if (!guarded) return std::nullopt;
    out.guarded = true;
    id = *guarded;
  }
  return std::nullopt;
}

bool is_scores(const Rewriter& graph, ValueId id) {
  for (int steps = 0; steps < 3; ++steps) {
    if (made_by<MatMul>(graph, id) != nullptr) return true;
    id = without_scale(graph, id);
  }
  return false;
}

// Takes the mask off, if `id` is masked scores.
bool take_mask(const Rewriter& graph, ValueId& id, Scores& scores, Group& inside) {
  const Node* node = graph.producer(id);
  if (node == nullptr || scores.mask != kNoValue || scores.causal) return false;
  const auto* where = as<Where>(*node);
  ValueId under = kNoValue;
  Mask mask;
  if (is(*node, BinaryKind::kAdd)) {
    const std::size_t side = is_scores(graph, node->inputs[0]) ? 0 : 1;
    under = node->inputs[side];
    mask = additive_mask(graph, node->inputs[1 - side]);
  } else if (where != nullptr) {
    const auto filled = filled_scores(graph, *node);
    if (!filled) return false;
    under = filled->scores;
    mask = filled->mask;
  }
  if (under == kNoValue || !is_scores(graph, under)) return false;
  inside.add(id);
  if (where != nullptr) {
    scores.fills += where->filled ? 2 : 1;
  } else {
    ++scores.masks;
  }
  scores.mask = mask.value;
  scores.causal = mask.causal;
  id = under;
  return true;
}

std::optional<Scores> scores_of(const Rewriter& graph, ValueId id, Group& inside) {
  Scores scores;
  for (int steps = 0; steps < 6; ++steps) {
    if (made_by<MatMul>(graph, id) != nullptr) {
      inside.add(id);
      scores.product = id;
      return scores;
    }
    if (take_mask(graph, id, scores, inside)) continue;
    const ValueId under = without_scale(graph, id);
    if (under == id) return std::nullopt;
    inside.add(id);
    ++scores.scales;
    id = under;
  }
  return std::nullopt;
}

// q and k of q k^T, the scales taken off where nobody else reads the scaled tensor.
std::optional<Operands> operands_of(const Rewriter& graph, ValueId product, Group& inside) {
  const Node& node = *graph.producer(product);
  const MatMul& op = *as<MatMul>(node);
  if (op.transpose_a || node.inputs.size() != 2) return std::nullopt;
  Operands out;
  out.query = unscaled(graph, node.inputs[0], inside);
  const ValueId key = unscaled(graph, node.inputs[1], inside);
  const bool query_scaled = out.query != node.inputs[0];
  out.both_scaled = query_scaled && key != node.inputs[1];
  if (const auto found = key_of(graph, key, op.transpose_b, inside)) {
    out.key = *found;
    return out;
  }
  // Only scaled_dot_product_attention scales the key for itself: its two transpositions, the caller's and its own, are
  // gone. What a network multiplies itself stays as it is.
  out.swapped = key != node.inputs[1] && !op.transpose_b && graph.sketch(key).rank == std::size_t{4};
  if (!out.swapped) return std::nullopt;
  out.key.value = key;
  return out;
}

constexpr std::size_t kWithHeads = 4;

std::size_t axes_of(const Rewriter& graph, ValueId id) {
  return graph.sketch(id).rank.value_or(kWithHeads);
}

// What is on other than four axes has to be PyTorch's own function to be attention.
bool fits_axes(const Rewriter& graph, const Operands& operands, const Softened& under, ValueId value) {
  const std::size_t axes = axes_of(graph, operands.query);
  if (axes < 3 || axes_of(graph, value) != axes) return false;
  if (under.axis != -1 && under.axis != static_cast<std::int64_t>(axes) - 1) return false;
  if (axes == kWithHeads) return true;
  return !operands.swapped && (operands.both_scaled || under.guarded) && axes_of(graph, operands.key.value) == axes;
}

}  // namespace

bool fold_attention(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* op = as<MatMul>(node);
  if (op == nullptr || *op != MatMul{} || node.inputs.size() != 2) return false;
  Group inside;
  const auto under = under_softmax(graph, node.inputs[0], inside);
  const auto scores = under ? scores_of(graph, under->scores, inside) : std::nullopt;
  auto found = scores ? operands_of(graph, scores->product, inside) : std::nullopt;
  if (!found || !fits_axes(graph, *found, *under, node.inputs[1])) return false;
  ValueId value = node.inputs[1];
  // A mask made for the shape of the scores reads them, and goes with them where attention does not take it.
  std::vector<ValueId> read{found->query, found->key.value, value};
  if (scores->mask != kNoValue) read.push_back(scores->mask);
  if (!inside.closed(graph, node) && (found->swapped || !inside.dies(graph, node, read))) return false;
  const bool heads = axes_of(graph, found->query) == kWithHeads;
  const bool by_hand = !found->both_scaled && !under->guarded;
  // Of what exporters took apart nothing tells whether the heads were repeated for it; models repeat them where there
  // is a mask, and where they multiply themselves.
  const bool for_export = !by_hand && scores->mask == kNoValue;
  const ValueId few_keys = without_repeated_heads(graph, found->key.value);
  const ValueId few_values = without_repeated_heads(graph, value);
  if (for_export && heads && !found->swapped && found->key.order.empty() && few_keys != kNoValue &&
      few_values != kNoValue) {
    found->key.value = few_keys;
    value = few_values;
  }
  if (!found->key.order.empty()) graph.set_order(found->key.value, found->key.order);
  std::vector<ValueId> inputs{found->query, found->swapped ? scores->product : found->key.value, value};
  if (scores->mask != kNoValue) inputs.push_back(scores->mask);
  const Attention attention{.causal = scores->causal,
                            .by_hand = by_hand,
                            .scales = scores->scales,
                            .masks = scores->masks,
                            .fills = scores->fills,
                            .dropout = under->dropout,
                            .in_float = under->in_float};
  graph.replace(root, attention, std::move(inputs));
  // After the root: until then nothing but the product reads the query.
  if (found->swapped) graph.replace(graph.place(scores->product), Transpose{{0, 1, 3, 2}}, {found->key.value});
  return true;
}

}  // namespace joulecast::passes
