// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

Result<void> check_heads(const Shape& query, const Shape& key, const Shape& value) {
  const auto mismatch = [&](std::string_view what) {
    return invalid(fmt::format("{} (query {}, key {}, value {})", what, text(query), text(key), text(value)));
  };
  if (query[0] != key[0] || query[0] != value[0]) return mismatch("query, key and value differ in batch");
  if (key[1] != value[1]) return mismatch("key and value differ in heads");
  if (key[1] < 1 || query[1] % key[1] != 0) return mismatch("query heads are no multiple of the key's");
  if (key[2] != value[2]) return mismatch("key and value differ in length");
  if (query[3] != key[3]) return mismatch("query and key differ in head size");
  return {};
}

}  // namespace

Result<void> infer(const Attention&, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "query", 4, 4));
  JC_RETURN_IF_ERROR(require_rank(context, 1, "key", 4, 4));
  JC_RETURN_IF_ERROR(require_rank(context, 2, "value", 4, 4));
  const Shape& query = context.shape(0);
  const Shape& key = context.shape(1);
  const Shape& value = context.shape(2);
  JC_RETURN_IF_ERROR(check_heads(query, key, value));
  JC_RETURN_IF_ERROR(expect_broadcast(context, 3, "mask", Shape{query[0], query[1], query[2], key[2]}));
  return context.set(0, context.input(0).element, Shape{query[0], query[1], query[2], value[3]});
}

// The conventions of torch.utils.flop_counter (sdpa_flop_count, sdpa_backward_flop_count): scores and weighted sum are
// 2 products forward; backward is 5: the scores once more (a fused kernel does not keep them), then the gradients of
// scores, value, query and key. So backward is 2.5 times forward where the head sizes agree. Softmax and mask count
// nothing, and a causal mask does not halve the work.
// Traffic is that of a fused kernel: the scores never reach memory; it saves their log-sum-exp, a float a row.
Cost cost(const Attention&, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  if (!context.has_output(0)) return cost;
  const TensorType& out = context.output();
  const Shape& query = context.input(0).shape;
  const double rows = static_cast<double>(query[0]) * static_cast<double>(query[1]) * static_cast<double>(query[2]);
  const double scores = rows * static_cast<double>(context.input(1).shape[2]);
  const auto head = static_cast<double>(query[3]);
  const auto value_head = static_cast<double>(out.shape[3]);
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
