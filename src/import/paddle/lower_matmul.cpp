// SPDX-License-Identifier: Apache-2.0
// Products of matrices, attention and layers over time.
#include <fmt/format.h>

#include <algorithm>

#include "import/paddle/lowerings.h"

namespace joulecast::paddle {
namespace {

bool is_weight_matrix(const Call& call, ValueId id) {
  return call.guess(id).parameter && call.type(id) != nullptr && call.type(id)->shape.size() == 2;
}

// A matrix of weights on the right is a linear layer's.
Operator product(const Call& call, ValueId b, bool transpose_a, bool transpose_b) {
  if (!transpose_a && is_weight_matrix(call, b)) return Linear{.weight_in_out = !transpose_b};
  return MatMul{transpose_a, transpose_b};
}

}  // namespace

Result<void> lower_matmul(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("y"));
  JC_ASSIGN_OR_RETURN(const bool transpose_a, call.flag("transpose_x", false));
  JC_ASSIGN_OR_RETURN(const bool transpose_b, call.flag("transpose_y", false));
  JC_ASSIGN_OR_RETURN(const double alpha, call.real("alpha", 1.0));
  Operator op = product(call, b, transpose_a, transpose_b);
  if (alpha == 1.0) return call.emit(std::move(op), {a, b});
  const ValueId made = call.step(std::move(op), {a, b}, "product");
  return call.emit(Binary{BinaryKind::kMul}, {made, call.real_scalar(alpha)});
}

// Of vectors, or of the last axes of two tensors.
Result<void> lower_dot(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("y"));
  const ValueId product = call.step(Binary{BinaryKind::kMul}, {a, b}, "product");
  return call.emit(Reduce{ReduceKind::kSum, {-1}, false, false}, {product});
}

namespace {

// x as a matrix of its first axes and the others; as it is where the others are one.
Result<ValueId> as_rows(Call& call, ValueId x, std::int64_t first) {
  const auto rank = call.guess(x).rank;
  if (first < 1) return invalid(fmt::format("{} axes of rows", first));
  if (rank && static_cast<std::int64_t>(*rank) == first + 1) return x;
  return call.step(Flatten{first, std::nullopt}, {x}, "rows");
}

}  // namespace

// Paddle 1's product: both sides are matrices of their first axes and the others.
Result<void> lower_mul(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId y, call.tensor("y"));
  JC_ASSIGN_OR_RETURN(const std::int64_t x_rows, call.number("x_num_col_dims", 1));
  JC_ASSIGN_OR_RETURN(const std::int64_t y_rows, call.number("y_num_col_dims", 1));
  if (y_rows != 1 || call.guess(y).rank.value_or(2) != 2) return unsupported("a matrix of several axes on the right");
  JC_ASSIGN_OR_RETURN(const ValueId rows, as_rows(call, x, x_rows));
  const auto rank = call.guess(x).rank;
  if (x_rows > 1 && rows != x) return unsupported(fmt::format("{} axes of rows, of rank {}", x_rows, rank.value_or(0)));
  return call.emit(product(call, y, false, false), {rows, y});
}

// A linear layer that a pass of Paddle has made, with its activation.
Result<void> lower_fc(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("w"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.optional_tensor("bias"));
  JC_ASSIGN_OR_RETURN(const std::int64_t rows, call.number("in_num_col_dims", 1));
  JC_ASSIGN_OR_RETURN(const std::string_view activation, call.text("activation_type", ""));
  if (!is_weight_matrix(call, weight) || (!activation.empty() && activation != "relu" && activation != "gelu")) {
    return unsupported("its weight is none, or its activation unknown");
  }
  JC_ASSIGN_OR_RETURN(const ValueId flat, as_rows(call, x, rows));
  const Linear op{.weight_in_out = true};
  if (activation.empty()) return call.emit(op, {flat, weight, bias});
  const ActivationKind kind = activation == "relu" ? ActivationKind::kRelu : ActivationKind::kGelu;
  return call.emit(Activation{kind}, {call.step(op, {flat, weight, bias}, "product")});
}

// [batch, positions, heads, size], with the heads behind the positions.
Result<void> lower_flash_attention(Call& call) {
  const auto heads_first = [&](ValueId x) { return call.step(Transpose{{0, 2, 1, 3}}, {x}, "heads_first"); };
  JC_ASSIGN_OR_RETURN(const ValueId query, call.tensor("q"));
  JC_ASSIGN_OR_RETURN(const ValueId key, call.tensor("k"));
  JC_ASSIGN_OR_RETURN(const ValueId value, call.tensor("v"));
  JC_ASSIGN_OR_RETURN(const ValueId mask, call.optional_tensor("attn_mask"));
  if (call.guess(query).rank != 4U || call.guess(key).rank != 4U || call.guess(value).rank != 4U) {
    return unsupported("is not on four axes");
  }
  Attention op;
  JC_ASSIGN_OR_RETURN(op.causal, call.flag("causal", false));
  JC_ASSIGN_OR_RETURN(const bool inference, call.flag("is_test", false));
  JC_ASSIGN_OR_RETURN(op.dropout, inference ? Result<double>(0.0) : call.real("dropout", 0.0));
  op.masks = op.causal || mask != kNoValue ? 1 : 0;
  const ValueId made = call.step(op, {heads_first(query), heads_first(key), heads_first(value), mask}, "attention");
  return call.emit(Transpose{{0, 2, 1, 3}}, {made});
}

namespace {

// Both matrices of every layer and direction, then both biases of every one; PyTorch has the four beside each other.
std::vector<ValueId> beside_each_other(const std::vector<ValueId>& weights) {
  std::vector<ValueId> out;
  const std::size_t half = weights.size() / 2;
  for (std::size_t i = 0; i + 1 < half; i += 2) {
    for (const std::size_t at : {i, i + 1, half + i, half + i + 1}) out.push_back(weights[at]);
  }
  return out;
}

}  // namespace

// All layers in one call, time first. With weights in PyTorch's order it is PyTorch's.
Result<void> lower_rnn(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::string_view mode, call.text("mode", ""));
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> weights, call.tensors("params"));
  if (weights.size() % 4 != 0) return unsupported("layers without biases");
  call.set_named("params", beside_each_other(weights));
  if (mode == "LSTM") return aten::lower_rnn_of(call, RnnKind::kLstm);
  if (mode == "GRU") return aten::lower_rnn_of(call, RnnKind::kGru);
  if (mode == "RNN_TANH" || mode == "RNN_RELU") return aten::lower_rnn_of(call, RnnKind::kRnn);
  return call.wrong("mode", "is no kind of layer over time");
}

}  // namespace joulecast::paddle
