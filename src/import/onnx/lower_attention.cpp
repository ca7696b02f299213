// SPDX-License-Identifier: Apache-2.0
// Attention of ONNX (operator set 23) and of com.microsoft, on our [batch, heads, positions, head size].
#include <fmt/format.h>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

// [batch, positions, heads * size] -> [batch, heads, positions, size].
ValueId split_heads(NodeContext& node, ValueId x, std::int64_t heads) {
  const ValueId parts = node.step(Reshape{}, {x, node.int_vector({0, 0, heads, -1})}, "heads");
  return node.step(Transpose{{0, 2, 1, 3}}, {parts}, "heads_first");
}

// And back, as output 0 of the node.
Result<void> emit_joined(NodeContext& node, ValueId y) {
  const ValueId back = node.step(Transpose{{0, 2, 1, 3}}, {y}, "positions_first");
  return node.emit_output(0, Reshape{}, {back, node.int_vector({0, 0, -1})});
}

Result<std::int64_t> head_count(const NodeContext& node, std::string_view name) {
  JC_ASSIGN_OR_RETURN(const std::int64_t heads, node.integer(name));
  if (heads < 1 || heads > kMaxElements) return node.wrong_attribute(name, fmt::format("is {}", heads));
  return heads;
}

// Keys and values so far, then those of this step.
ValueId with_past(NodeContext& node, std::size_t past, ValueId now) {
  return node.has(past) ? node.step(Concat{2}, {node.input(past), now}, "present") : now;
}

struct Heads {
  ValueId query, key, value;
};

Result<void> attend(NodeContext& node, const Heads& heads, ValueId mask, bool causal, bool joined) {
  const std::vector<ValueId> inputs{heads.query, heads.key, heads.value, mask};
  if (!joined) return node.emit_output(0, Attention{.causal = causal}, inputs);
  return emit_joined(node, node.step(Attention{.causal = causal}, inputs, "attention"));
}

}  // namespace

// Q, K, V, [mask], [past key], [past value]: all of rank 4, or of rank 3 with the numbers of heads as attributes.
Result<void> lower_attention(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const bool causal, node.flag("is_causal", false));
  if (node.used(3)) return node.opaque();  // the scores themselves
  const bool joined = node.has_attribute("q_num_heads");
  Heads heads{node.input(0), node.input(1), node.input(2)};
  if (joined) {
    JC_ASSIGN_OR_RETURN(const std::int64_t query_heads, head_count(node, "q_num_heads"));
    JC_ASSIGN_OR_RETURN(const std::int64_t key_heads, head_count(node, "kv_num_heads"));
    heads = {split_heads(node, heads.query, query_heads), split_heads(node, heads.key, key_heads),
             split_heads(node, heads.value, key_heads)};
  }
  heads.key = with_past(node, 4, heads.key);
  heads.value = with_past(node, 5, heads.value);
  JC_RETURN_IF_ERROR(node.alias(1, heads.key));
  JC_RETURN_IF_ERROR(node.alias(2, heads.value));
  return attend(node, heads, node.input(3), causal, joined);
}

// x [batch, positions, width], weights [width, 3 * hidden], [bias]: projections and attention in one.
Result<void> lower_ms_attention(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t heads, head_count(node, "num_heads"));
  JC_ASSIGN_OR_RETURN(const bool causal, node.flag("unidirectional", false));
  JC_ASSIGN_OR_RETURN(auto sizes, node.integers("qkv_hidden_sizes"));
  if (node.has(4) || node.any_used_after(0)) return node.opaque();  // past and present in one tensor
  const ValueId joined = node.step(Linear{.weight_in_out = true}, {node.input(0), node.input(1), node.input(2)}, "qkv");
  const auto parts = node.steps(Split{-1, sizes.value_or(IntList{})}, {joined}, 3, "part");
  const Heads split{split_heads(node, parts[0], heads), split_heads(node, parts[1], heads),
                    split_heads(node, parts[2], heads)};
  return attend(node, split, kNoValue, causal, true);
}

// query, key, value of rank 3, [bias], ...: packed forms and caches stay as they are.
Result<void> lower_multi_head_attention(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t heads, head_count(node, "num_heads"));
  JC_ASSIGN_OR_RETURN(const bool causal, node.flag("unidirectional", false));
  if (!node.has(1) || !node.has(2) || node.has(3) || node.has(6) || node.any_used_after(0)) return node.opaque();
  if (node.guess(1).rank.value_or(3) != 3) return node.opaque();
  const Heads split{split_heads(node, node.input(0), heads), split_heads(node, node.input(1), heads),
                    split_heads(node, node.input(2), heads)};
  return attend(node, split, node.input(5), causal, true);
}

// query, key, value of rank 3, past key, past value of rank 4. The cache's length is data, so it counts as grown.
Result<void> lower_group_query_attention(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t heads, head_count(node, "num_heads"));
  JC_ASSIGN_OR_RETURN(const std::int64_t key_heads, head_count(node, "kv_num_heads"));
  if (!node.has(1) || !node.has(2)) return node.opaque();
  Heads split{split_heads(node, node.input(0), heads), split_heads(node, node.input(1), key_heads),
              split_heads(node, node.input(2), key_heads)};
  split.key = with_past(node, 3, split.key);
  split.value = with_past(node, 4, split.value);
  JC_RETURN_IF_ERROR(node.alias(1, split.key));
  JC_RETURN_IF_ERROR(node.alias(2, split.value));
  return attend(node, split, kNoValue, true, true);
}

}  // namespace joulecast::onnx
