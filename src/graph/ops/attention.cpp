// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

constexpr std::size_t kWithHeads = 4;

Result<void> check_heads(const Shape& query, const Shape& key, const Shape& value) {
  const auto mismatch = [&](std::string_view what) {
    return invalid(fmt::format("{} (query {}, key {}, value {})", what, text(query), text(key), text(value)));
  };
  const std::size_t last = query.size() - 1, row = last - 1;
  const bool heads = query.size() == kWithHeads;
  for (std::size_t axis = 0; axis < (heads ? 1 : row); ++axis) {
    if (query[axis] != key[axis] || query[axis] != value[axis]) return mismatch("query, key and value differ in batch");
  }
  if (heads && key[1] != value[1]) return mismatch("key and value differ in heads");
  if (heads && (key[1] < 1 || query[1] % key[1] != 0)) return mismatch("query heads are no multiple of the key's");
  if (key[row] != value[row]) return mismatch("key and value differ in length");
  if (query[last] != key[last]) return mismatch("query and key differ in head size");
  return {};
}

Shape with_last(Shape shape, std::int64_t extent) {
  shape.back() = extent;
  return shape;
}

// They are no value of the graph, but are written where no kernel does all of it.
Result<void> check_scores(const Shape& query, const Shape& key) {
  const Shape scores = with_last(query, key[key.size() - 2]);
  if (checked_elements(scores)) return {};
  return invalid(fmt::format("more scores than can be counted (query {}, key {})", text(query), text(key)));
}

}  // namespace

Result<void> infer(const Attention& op, InferContext& context) {
  if (op.window < 0) return invalid(fmt::format("a window of {} keys", op.window));
  if (op.window > 0 && !op.causal) return invalid("a window needs a causal mask");
  JC_RETURN_IF_ERROR(
      require_rank(context, 0, "query", op.by_hand ? kWithHeads : 3, op.by_hand ? kWithHeads : kMaxRank));
  const std::size_t rank = context.shape(0).size();
  JC_RETURN_IF_ERROR(require_rank(context, 1, "key", rank, rank));
  JC_RETURN_IF_ERROR(require_rank(context, 2, "value", rank, rank));
  const Shape& query = context.shape(0);
  const Shape& key = context.shape(1);
  const Shape& value = context.shape(2);
  JC_RETURN_IF_ERROR(check_heads(query, key, value));
  JC_RETURN_IF_ERROR(check_scores(query, key));
  JC_RETURN_IF_ERROR(expect_broadcast(context, 3, "mask", with_last(query, key[rank - 2])));
  return context.set(0, context.input(0).element, with_last(query, value.back()));
}

// The conventions of torch.utils.flop_counter (sdpa_flop_count, sdpa_backward_flop_count): scores and weighted sum are
// 2 products forward; backward is 5: the scores once more (a fused kernel does not keep them), then the gradients of
// scores, value, query and key. So backward is 2.5 times forward where the head sizes agree. Softmax and mask count
// nothing, and a causal mask does not halve the work.
// Traffic is that of a fused kernel, whatever runs it: the scores never reach memory; it saves their log-sum-exp, a
// float a row.
Cost cost(const Attention&, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  if (!context.has_output(0)) return cost;
  const TensorType& out = context.output();
  const Shape &query = context.input(0).shape, &key = context.input(1).shape;
  double rows = 1;
  for (std::size_t axis = 0; axis + 1 < query.size(); ++axis) rows *= static_cast<double>(query[axis]);
  const double scores = rows * static_cast<double>(key[key.size() - 2]);
  const auto head = static_cast<double>(query.back());
  const auto value_head = static_cast<double>(out.shape.back());
  cost.forward_flops = Flops{2.0 * scores * (head + value_head)};
  cost.backward_flops = Flops{2.0 * scores * (3.0 * head + 2.0 * value_head)};
  cost.saved = Bytes{4.0 * rows};
  cost.forward_read = input_bytes(context);
  cost.forward_written = out.bytes();
  cost.backward_read = 2.0 * out.bytes() + input_bytes(context) + cost.saved;
  cost.backward_written = context.input(0).bytes() + context.input(1).bytes() + context.input(2).bytes();
  return cost;
}

}  // namespace joulecast
