// SPDX-License-Identifier: Apache-2.0
#include "import/einsum.h"
#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

bool is_weight_matrix(const Call& call, ValueId id) {
  return call.guess(id).parameter && call.type(id) != nullptr && call.type(id)->shape.size() == 2;
}

// A matrix of weights on the right is a linear layer's; the passes see through its transposition.
Operator product(const Call& call, ValueId b) {
  if (is_weight_matrix(call, b)) return Linear{.weight_in_out = true};
  return MatMul{};
}

}  // namespace

// The weight may be computed (of a norm, a concatenation): then it is a product with its transpose.
Result<void> lower_linear(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("weight"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.optional_tensor("bias"));
  const auto rank = call.guess(weight).rank;
  if (rank == 2U && is_weight_matrix(call, weight)) return call.emit(Linear{}, {x, weight, bias});
  if (rank == 1U) return unsupported("the weight is a vector");
  const MatMul op{false, true};
  if (bias == kNoValue) return call.emit(op, {x, weight});
  return call.emit(Binary{BinaryKind::kAdd}, {call.step(op, {x, weight}, "product"), bias});
}

// mm, bmm, mv, dot, matmul.
Result<void> lower_matmul(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("other"));
  return call.emit(product(call, b), {a, b});
}

// addmm, baddbmm, addmv: the factors ride along in the product's epilogue; beta 0 means nothing is added.
Result<void> lower_add_matmul(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("mat1"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("mat2"));
  JC_ASSIGN_OR_RETURN(const double beta, call.real("beta", 1.0));
  if (beta == 0.0) return call.emit(product(call, b), {a, b});
  const ValueId made = call.step(product(call, b), {a, b}, "product");
  return call.emit(Binary{BinaryKind::kAdd}, {made, x});
}

Result<void> lower_outer(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("vec2"));
  const ValueId column = call.step(Unsqueeze{{1}}, {a}, "column");
  return call.emit(Binary{BinaryKind::kMul}, {column, b});
}

Result<void> lower_einsum(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::string_view equation, call.text("equation", ""));
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> operands, call.tensors("tensors"));
  if (operands.size() != 2) return unsupported("is a product of other than two tensors");
  return emit_einsum(call, equation, operands[0], operands[1]);
}

}  // namespace joulecast::aten
