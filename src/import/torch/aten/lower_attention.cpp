// SPDX-License-Identifier: Apache-2.0
// scaled_dot_product_attention and what it is decomposed to, on our [batch, heads, positions, head size].
#include <fmt/format.h>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

struct Heads {
  ValueId query, key, value, mask;
};

// Without heads, or with more than one batch axis: as many axes as needed in front, or merged.
ValueId on_four_axes(Call& call, ValueId x, std::size_t rank) {
  if (rank == 4) return x;
  if (rank == 3) return call.step(Unsqueeze{{1}}, {x}, "heads");
  return call.step(Flatten{0, static_cast<std::int64_t>(rank) - 4}, {x}, "merged");
}

// The extents of the query but the last, which is the value's.
ValueId result_shape(Call& call, const Heads& heads) {
  const ValueId front = call.step(ShapeOf{0, -1, false}, {heads.query}, "front");
  const ValueId last = call.step(ShapeOf{-1, std::nullopt, false}, {heads.value}, "last");
  return call.step(Concat{0}, {front, last}, "shape");
}

Result<void> attend(Call& call, const Heads& heads, const Attention& op) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(heads.query));
  if (rank == 4) return call.emit_output(0, op, {heads.query, heads.key, heads.value, heads.mask});
  if (rank < 3 || call.guess(heads.key).rank != rank || call.guess(heads.value).rank != rank) {
    return unsupported("query, key and value differ in rank");
  }
  const ValueId query = on_four_axes(call, heads.query, rank);
  const ValueId key = on_four_axes(call, heads.key, rank);
  const ValueId value = on_four_axes(call, heads.value, rank);
  ValueId mask = heads.mask;
  if (mask != kNoValue && call.guess(mask).rank != 2U) mask = on_four_axes(call, mask, *call.guess(mask).rank);
  const ValueId y = call.step(op, {query, key, value, mask}, "attention");
  if (rank == 3) return call.emit_output(0, Squeeze{{1}}, {y});
  return call.emit_output(0, Reshape{}, {y, result_shape(call, heads)});
}

}  // namespace

// Other outputs are for the way back. A mask counts as one that is applied to the scores, as in files that have the
// formula written out.
Result<void> lower_attention(Call& call) {
  Heads heads{};
  JC_ASSIGN_OR_RETURN(heads.query, call.tensor("query"));
  JC_ASSIGN_OR_RETURN(heads.key, call.tensor("key"));
  JC_ASSIGN_OR_RETURN(heads.value, call.tensor("value"));
  JC_ASSIGN_OR_RETURN(heads.mask, call.optional_tensor("attn_mask"));
  Attention op;
  JC_ASSIGN_OR_RETURN(op.causal, call.flag("is_causal", false));
  JC_ASSIGN_OR_RETURN(op.dropout, call.real("dropout_p", 0.0));
  op.masks = op.causal || heads.mask != kNoValue ? 1 : 0;
  if (call.any_used_after(0)) return call.opaque();
  return attend(call, heads, op);
}

namespace {

// [batch, positions, heads * size] -> [batch, heads, positions, size].
ValueId split_heads(Call& call, ValueId x, std::int64_t heads) {
  const ValueId parts = call.step(Reshape{}, {x, call.int_vector({0, 0, heads, -1})}, "heads");
  return call.step(Transpose{{0, 2, 1, 3}}, {parts}, "heads_first");
}

}  // namespace

// What nn.MultiheadAttention runs without gradients: both projections and the attention of one tensor to itself.
Result<void> lower_multi_head_attention(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("query"));
  JC_ASSIGN_OR_RETURN(const ValueId key, call.tensor("key"));
  JC_ASSIGN_OR_RETURN(const ValueId mask, call.optional_tensor("mask"));
  JC_ASSIGN_OR_RETURN(const std::int64_t heads, call.number("num_head"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("qkv_weight"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.tensor("qkv_bias"));
  JC_ASSIGN_OR_RETURN(const ValueId out_weight, call.tensor("proj_weight"));
  JC_ASSIGN_OR_RETURN(const ValueId out_bias, call.tensor("proj_bias"));
  if (x != key || heads < 1 || mask != kNoValue || call.any_used_after(0)) return call.opaque();
  const ValueId joined = call.step(Linear{}, {x, weight, bias}, "qkv");
  const auto parts = call.steps(Split{-1, {}}, {joined}, 3, "part");
  const ValueId y = call.step(
      Attention{},
      {split_heads(call, parts[0], heads), split_heads(call, parts[1], heads), split_heads(call, parts[2], heads)},
      "attention");
  const ValueId back = call.step(Transpose{{0, 2, 1, 3}}, {y}, "positions_first");
  const ValueId flat = call.step(Reshape{}, {back, call.int_vector({0, 0, -1})}, "joined");
  return call.emit_output(0, Linear{}, {flat, out_weight, out_bias});
}

}  // namespace joulecast::aten
