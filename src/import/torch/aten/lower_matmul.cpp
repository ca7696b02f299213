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

namespace {

// x's rows, whatever axes lie before its last one.
ValueId rows_of(Call& call, ValueId x, std::int64_t width) {
  if (call.guess(x).rank == 2U) return x;
  return call.step(Reshape{}, {x, call.int_vector({-1, width})}, "rows");
}

// Rows of a and b by a weight [outputs, in a, in b] -> [rows, outputs]: torch multiplies a by the matrix of each
// output, and the result with b row by row.
Result<ValueId> row_products(Call& call, ValueId a, ValueId weight, ValueId b) {
  const TensorType* type = call.type(weight);
  if (type == nullptr || type->shape.size() != 3) return unsupported("a weight that is computed");
  const std::int64_t a_width = type->shape[1];  // steps add values, and `type` is one of theirs
  const std::int64_t b_width = type->shape[2];
  const ValueId products = call.step(MatMul{}, {rows_of(call, a, a_width), weight}, "products");
  const ValueId left = call.step(Unsqueeze{{-2}}, {products}, "left");
  const ValueId right = call.step(Unsqueeze{{-1}}, {rows_of(call, b, b_width)}, "right");
  const ValueId sums = call.step(MatMul{}, {left, right}, "sums");
  call.note("bilinear: all outputs are costed as one batch of products, which PyTorch runs one after the other");
  return call.step(Squeeze{{-2, -1}}, {sums}, "columns");
}

}  // namespace

Result<void> lower_bilinear(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("input1"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("input2"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("weight"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.optional_tensor("bias"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(a));
  JC_ASSIGN_OR_RETURN(const ValueId columns, row_products(call, a, weight, b));
  const bool plain = rank == 2;
  if (plain && bias == kNoValue) return call.emit(Transpose{{1, 0}}, {columns});
  ValueId out = call.step(Transpose{{1, 0}}, {columns}, "turned");
  if (!plain) {
    std::vector<Integer> shape;
    for (std::size_t axis = 0; axis + 1 < rank; ++axis) shape.push_back({0, call.extent(a, axis)});
    shape.push_back({call.type(weight)->shape[0]});
    const ValueId to = call.folded(call.vector(shape), "shape");
    if (bias == kNoValue) return call.emit(Reshape{}, {out, to});
    out = call.step(Reshape{}, {out, to}, "shaped");
  }
  return call.emit(Binary{BinaryKind::kAdd}, {out, bias});
}

// What bilinear is decomposed into; in no other form has it been seen.
Result<void> lower_trilinear(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("i1"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("i2"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("i3"));
  const auto is = [&](std::string_view name, const IntList& wanted) {
    const auto list = call.numbers(name);
    return list && *list == wanted;
  };
  if (!is("expand1", {1, 3}) || !is("expand2", {0}) || !is("expand3", {1, 2}) || !is("sumdim", {2, 3})) {
    return unsupported("is no bilinear layer");
  }
  JC_ASSIGN_OR_RETURN(const ValueId columns, row_products(call, a, weight, b));
  return call.emit(Transpose{{1, 0}}, {columns});
}

Result<void> lower_outer(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("vec2"));
  const ValueId column = call.step(Unsqueeze{{1}}, {a}, "column");
  return call.emit(Binary{BinaryKind::kMul}, {column, b});
}

// Rows of x, sorted by their expert, times the weight [experts, in, out] of each. Experts are taken as equally loaded,
// and fewer rows than experts as one each.
Result<void> lower_grouped_mm(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("mat2"));
  if (!call.has("offs")) return call.emit(MatMul{}, {x, weight});
  if (call.guess(x).rank != 2U || call.guess(weight).rank != 3U) return unsupported("is not rows by experts");
  if (call.has("bias")) return unsupported("has a bias");
  const auto binary = [&](BinaryKind kind, ValueId a, ValueId b) { return call.step(Binary{kind}, {a, b}, "groups"); };
  const auto vector = [&](const std::vector<Integer>& list) { return call.folded(call.vector(list), "extents"); };
  const ValueId rows = call.extent(x, 0);
  const ValueId groups =
      binary(BinaryKind::kMax, call.int_scalar(1), binary(BinaryKind::kMin, rows, call.extent(weight, 0)));
  const ValueId over = binary(BinaryKind::kSub, groups, call.int_scalar(1));
  const ValueId each = binary(BinaryKind::kDiv, binary(BinaryKind::kAdd, rows, over), groups);
  const ValueId all = binary(BinaryKind::kMul, each, groups);
  const ValueId missing = vector({{0}, {0}, {0, binary(BinaryKind::kSub, all, rows)}, {0}});
  const Contents* known = call.known(missing);
  const bool even = known != nullptr && known->ints == IntList(4, 0);
  const ValueId padded = even ? x : call.step(Pad{}, {x, missing}, "padded");
  const ValueId split =
      call.step(Reshape{}, {padded, vector({{0, groups}, {0, each}, {0, call.extent(x, 1)}})}, "split");
  const ValueId zero = call.int_vector({0});
  const ValueId experts = call.step(Slice{}, {weight, zero, vector({{0, groups}}), zero}, "experts");
  const ValueId product = call.step(MatMul{}, {split, experts}, "product");
  call.note("grouped_mm: experts are taken as equally loaded");
  const ValueId joined = call.step(Flatten{0, 1}, {product}, "joined");
  return call.emit(Slice{}, {joined, zero, vector({{0, rows}}), zero});
}

namespace {

// x's rows with two columns more, of what torch adds up in one product: [-2x, |x|^2, 1] or [x, 1, |x|^2].
ValueId with_norm(Call& call, ValueId x, bool left) {
  const ElementType element = call.guess(x).element;
  const ValueId square = call.step(Unary{UnaryKind::kSquare}, {x}, "square");
  const ValueId norm = call.step(Reduce{ReduceKind::kSum, {-1}, true, false}, {square}, "norm");
  const ValueId ones = call.step(Fill{element, 1.0}, {call.step(ShapeOf{}, {norm}, "shape")}, "ones");
  if (!left) return call.step(Concat{-1}, {x, ones, norm}, "columns");
  const ValueId scaled = call.step(Binary{BinaryKind::kMul}, {x, call.real_scalar(-2.0, element)}, "scaled");
  return call.step(Concat{-1}, {scaled, norm, ones}, "columns");
}

// Where there are few rows torch computes each distance by itself.
Result<bool> by_product(const Call& call, ValueId a, ValueId b) {
  constexpr std::int64_t kFewRows = 25;
  JC_ASSIGN_OR_RETURN(const double order, call.real("p", 2.0));
  JC_ASSIGN_OR_RETURN(const std::int64_t mode, call.number("compute_mode", 0));
  if (order != 2.0 || mode == 2) return false;
  const auto rows = [&](ValueId x) {
    const std::size_t rank = call.guess(x).rank.value_or(0);
    return rank < 2 ? kFewRows + 1 : call.known_extent(x, rank - 2).value_or(kFewRows + 1);
  };
  return mode == 1 || rows(a) > kFewRows || rows(b) > kFewRows;
}

}  // namespace

// The distance of each row of x1 from each of x2. One kernel for all of it reads and writes what a product of the two
// does, with a subtraction more for each of its multiplications and additions.
Result<void> lower_cdist(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("x1"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("x2"));
  JC_ASSIGN_OR_RETURN(const bool product, by_product(call, a, b));
  const MatMul op{false, true};
  if (!product) {
    call.note("cdist: costed as a product of the two matrices");
    return call.emit(op, {a, b});
  }
  const ValueId left = with_norm(call, a, true);
  const ValueId squares = call.step(op, {left, with_norm(call, b, false)}, "squares");
  const ValueId positive = call.step(Activation{ActivationKind::kRelu}, {squares}, "positive");
  return call.emit(Unary{UnaryKind::kSqrt}, {positive});
}

// Of x's rows from each other, each pair once: half as many as the product has, at twice its work for each.
Result<void> lower_pdist(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  call.note("pdist: costed as a product of the matrix with itself");
  const ValueId all = call.step(MatMul{false, true}, {x, x}, "products");
  const ValueId flat = call.step(Reshape{}, {all, call.int_vector({-1})}, "flat");
  const ValueId rows = call.extent(x, 0);
  const ValueId others = call.step(Binary{BinaryKind::kSub}, {rows, call.int_scalar(1)}, "others");
  const ValueId twice = call.step(Binary{BinaryKind::kMul}, {rows, others}, "twice");
  const ValueId pairs = call.step(Binary{BinaryKind::kDiv}, {twice, call.int_scalar(2)}, "pairs");
  const ValueId end = call.folded(call.step(Unsqueeze{{0}}, {pairs}, "end"), "end");
  return call.emit(Slice{}, {flat, call.int_vector({0}), end, call.int_vector({0})});
}

Result<void> lower_einsum(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::string_view equation, call.text("equation", ""));
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> operands, call.tensors("tensors"));
  if (operands.size() != 2) return unsupported("is a product of other than two tensors");
  return emit_einsum(call, equation, operands[0], operands[1]);
}

}  // namespace joulecast::aten
