// SPDX-License-Identifier: Apache-2.0
// scaled_dot_product_attention and what it is decomposed to.
#include <fmt/format.h>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

struct Heads {
  ValueId query, key, value, mask;
};

Result<void> attend(Call& call, const Heads& heads, const Attention& op) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(heads.query));
  if (rank < 3 || call.guess(heads.key).rank != rank || call.guess(heads.value).rank != rank) {
    return unsupported("query, key and value differ in rank");
  }
  return call.emit_output(0, op, {heads.query, heads.key, heads.value, heads.mask});
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

// Weights and biases of a tensor's attention to itself.
struct SelfAttention {
  std::int64_t heads = 0;
  ValueId qkv_weight = kNoValue, qkv_bias = kNoValue, out_weight = kNoValue, out_bias = kNoValue;
  ValueId mask = kNoValue;
};

// What is added to the scores or hides some of them: [positions, positions], of the batch's paddings, or whole.
Result<ValueId> mask_of(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId mask, call.optional_tensor("mask"));
  if (mask == kNoValue) return mask;
  constexpr std::int64_t kPaddings = 1;
  JC_ASSIGN_OR_RETURN(const std::int64_t type, call.number("mask_type", 0));
  const auto rank = call.guess(mask).rank;
  if (rank == 2U) return type == kPaddings ? call.step(Unsqueeze{{1, 2}}, {mask}, "mask") : mask;
  if (rank != 4U) return unsupported("a mask of another rank");
  return mask;
}

Result<SelfAttention> self_attention(Call& call, std::string_view heads) {
  SelfAttention out;
  JC_ASSIGN_OR_RETURN(out.heads, call.number(heads));
  if (out.heads < 1) return call.wrong(heads, fmt::format("is {}", out.heads));
  JC_ASSIGN_OR_RETURN(out.qkv_weight, call.tensor("qkv_weight"));
  JC_ASSIGN_OR_RETURN(out.qkv_bias, call.tensor("qkv_bias"));
  JC_ASSIGN_OR_RETURN(out.out_weight, call.tensor("proj_weight"));
  JC_ASSIGN_OR_RETURN(out.out_bias, call.tensor("proj_bias"));
  JC_ASSIGN_OR_RETURN(out.mask, mask_of(call));
  return out;
}

// [batch, heads, positions, size] each.
Heads projected(Call& call, ValueId x, const SelfAttention& in) {
  const ValueId joined = call.step(Linear{}, {x, in.qkv_weight, in.qkv_bias}, "qkv");
  const auto parts = call.steps(Split{-1, {}}, {joined}, 3, "part");
  return {split_heads(call, parts[0], in.heads), split_heads(call, parts[1], in.heads),
          split_heads(call, parts[2], in.heads), in.mask};
}

ValueId join_heads(Call& call, ValueId x) {
  const ValueId back = call.step(Transpose{{0, 2, 1, 3}}, {x}, "positions_first");
  return call.step(Reshape{}, {back, call.int_vector({0, 0, -1})}, "joined");
}

// All but the projection at its end.
ValueId attended(Call& call, ValueId x, const SelfAttention& in) {
  const Heads heads = projected(call, x, in);
  Attention op;
  op.masks = in.mask != kNoValue ? 1 : 0;
  std::vector<ValueId> inputs{heads.query, heads.key, heads.value};
  if (in.mask != kNoValue) inputs.push_back(in.mask);
  return join_heads(call, call.step(op, std::move(inputs), "attention"));
}

// The same where the attention's weights are asked for: no fused kernel gives these. They are the second output, the
// heads' mean of them or each.
Result<ValueId> attended_with_weights(Call& call, ValueId x, const SelfAttention& in) {
  const Heads heads = projected(call, x, in);
  const ValueId scores = call.step(MatMul{false, true}, {heads.query, heads.key}, "scores");
  const ValueId weights = call.step(Softmax{-1, false}, {scores}, "weights");
  JC_ASSIGN_OR_RETURN(const bool mean, call.flag("average_attn_weights", true));
  if (mean) JC_RETURN_IF_ERROR(call.emit_output(1, Reduce{ReduceKind::kMean, {1}, false, false}, {weights}));
  if (!mean) JC_RETURN_IF_ERROR(call.alias(1, weights));
  return join_heads(call, call.step(MatMul{}, {weights, heads.value}, "attention"));
}

}  // namespace

// What nn.MultiheadAttention runs without gradients: both projections and the attention of one tensor to itself.
Result<void> lower_multi_head_attention(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("query"));
  JC_ASSIGN_OR_RETURN(const ValueId key, call.tensor("key"));
  JC_ASSIGN_OR_RETURN(const SelfAttention attention, self_attention(call, "num_head"));
  const bool with_weights = call.any_used_after(0);
  if (x != key || (with_weights && attention.mask != kNoValue)) return call.opaque();
  ValueId flat = kNoValue;
  if (with_weights) {
    JC_ASSIGN_OR_RETURN(flat, attended_with_weights(call, x, attention));
  } else {
    flat = attended(call, x, attention);
  }
  return call.emit_output(0, Linear{}, {flat, attention.out_weight, attention.out_bias});
}

namespace {

// One of the two norms, "1" before or behind the attention, "2" the other.
Result<ValueId> encoder_norm(Call& call, ValueId x, char which) {
  JC_ASSIGN_OR_RETURN(const ValueId scale, call.tensor(fmt::format("norm_weight_{}", which)));
  JC_ASSIGN_OR_RETURN(const ValueId shift, call.tensor(fmt::format("norm_bias_{}", which)));
  return call.step(LayerNorm{1, false}, {x, scale, shift}, fmt::format("norm{}", which));
}

Result<ValueId> feed_forward(Call& call, ValueId x) {
  JC_ASSIGN_OR_RETURN(const bool gelu, call.flag("use_gelu", false));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("ffn_weight_1"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.tensor("ffn_bias_1"));
  JC_ASSIGN_OR_RETURN(const ValueId out_weight, call.tensor("ffn_weight_2"));
  JC_ASSIGN_OR_RETURN(const ValueId out_bias, call.tensor("ffn_bias_2"));
  const ValueId wide = call.step(Linear{}, {x, weight, bias}, "linear1");
  const Activation kind{gelu ? ActivationKind::kGelu : ActivationKind::kRelu};
  return call.step(Linear{}, {call.step(kind, {wide}, "activation"), out_weight, out_bias}, "linear2");
}

}  // namespace

// What nn.TransformerEncoderLayer runs without gradients.
Result<void> lower_encoder_layer(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("src"));
  JC_ASSIGN_OR_RETURN(const bool norm_first, call.flag("norm_first", false));
  JC_ASSIGN_OR_RETURN(const SelfAttention attention, self_attention(call, "num_heads"));
  const auto sum = [&](ValueId a, ValueId b) { return call.step(Binary{BinaryKind::kAdd}, {a, b}, "sum"); };
  ValueId in = x;
  if (norm_first) {
    JC_ASSIGN_OR_RETURN(in, encoder_norm(call, x, '1'));
  }
  const ValueId flat = attended(call, in, attention);
  ValueId half = sum(x, call.step(Linear{}, {flat, attention.out_weight, attention.out_bias}, "out"));
  if (norm_first) {
    JC_ASSIGN_OR_RETURN(in, encoder_norm(call, half, '2'));
  } else {
    JC_ASSIGN_OR_RETURN(half, encoder_norm(call, half, '1'));
    in = half;
  }
  JC_ASSIGN_OR_RETURN(const ValueId wide, feed_forward(call, in));
  const ValueId whole = sum(half, wide);
  if (norm_first) return call.alias(0, whole);
  JC_ASSIGN_OR_RETURN(const ValueId y, encoder_norm(call, whole, '2'));
  return call.alias(0, y);
}

}  // namespace joulecast::aten
