// SPDX-License-Identifier: Apache-2.0
// The pieces around attention that exporters write in many ways: scales, transposed keys, masks, repeated heads.
#pragma once

#include "graph/passes/match.h"

namespace joulecast::passes {

// What `id` scales, or `id` itself. A scale is a scalar from constants and extents.
ValueId without_scale(const Rewriter& graph, ValueId id);
// The same where nobody else reads `id`, which then belongs to the idiom.
ValueId unscaled(const Rewriter& graph, ValueId id, Group& inside);
// p of where(is_nan(p), 0, p).
std::optional<ValueId> without_nan_guard(const Rewriter& graph, const Node& node, Group& inside);

// p of where(every score of the row is -inf, 0, p), which torch puts behind the softmax itself; `scores` are its input.
std::optional<ValueId> without_row_guard(const Rewriter& graph, const Node& node, Group& inside);

// A value that the graph has; with an order, the transposition that makes it must get that order to be the key.
struct Key {
  ValueId value = kNoValue;
  IntList order;
};
// The key [batch, heads, keys, head] of its transpose `id` (or of itself, for a product that transposes).
std::optional<Key> key_of(const Rewriter& graph, ValueId id, bool already, Group& inside);

struct Mask {
  ValueId value = kNoValue;
  bool causal = false;  // nothing but the lower triangle; value is then absent
};
// What is added to the scores. A boolean mask that was turned into 0 and -inf comes out as the boolean one, which is
// what the model passed.
Mask additive_mask(const Rewriter& graph, ValueId id);

// where(mask, -inf, scores) or where(mask, scores, -inf).
struct Filled {
  ValueId scores = kNoValue;
  Mask mask;
};
std::optional<Filled> filled_scores(const Rewriter& graph, const Node& where);

// Keys or values before each head was repeated (grouped-query attention): unsqueeze(2), expand, reshape to four axes.
// kNoValue if they were not.
ValueId without_repeated_heads(const Rewriter& graph, ValueId id);

}  // namespace joulecast::passes
