// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

bool is_weight_matrix(const NodeContext& node, std::size_t i) {
  return node.guess(i).parameter && node.type(i) != nullptr && node.type(i)->shape.size() == 2;
}

Result<void> emit_product(NodeContext& node, std::size_t a, std::size_t b) {
  if (is_weight_matrix(node, b)) return node.emit(Linear{.weight_in_out = true}, {node.input(a), node.input(b)});
  return node.emit(MatMul{}, {node.input(a), node.input(b)});
}

}  // namespace

Result<void> lower_matmul(NodeContext& node) {
  return emit_product(node, 0, 1);
}
// a, b, [zero points].
Result<void> lower_matmul_integer(NodeContext& node) {
  return emit_product(node, 0, 1);
}
// a, scale, zero point, b, scale, zero point, scale of y, zero point of y.
Result<void> lower_qlinear_matmul(NodeContext& node) {
  return emit_product(node, 0, 3);
}

// alpha and beta ride along in the product's epilogue and cost nothing; beta 0 means no third input.
Result<void> lower_gemm(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const bool transpose_a, node.flag("transA", false));
  JC_ASSIGN_OR_RETURN(const bool transpose_b, node.flag("transB", false));
  JC_RETURN_IF_ERROR(node.number("alpha", 1.0));
  JC_ASSIGN_OR_RETURN(const double beta, node.number("beta", 1.0));
  const ValueId bias = beta == 0.0 ? kNoValue : node.input(2);
  if (!transpose_a && is_weight_matrix(node, 1)) {
    return node.emit(Linear{.weight_in_out = !transpose_b}, {node.input(0), node.input(1), bias});
  }
  const MatMul op{transpose_a, transpose_b};
  if (bias == kNoValue) return node.emit(op, {node.input(0), node.input(1)});
  const ValueId product = node.step(op, {node.input(0), node.input(1)}, "product");
  return node.emit(Binary{BinaryKind::kAdd}, {product, bias});
}

Result<void> lower_fused_matmul(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const bool transpose_a, node.flag("transA", false));
  JC_ASSIGN_OR_RETURN(const bool transpose_b, node.flag("transB", false));
  JC_ASSIGN_OR_RETURN(const bool batch_a, node.flag("transBatchA", false));
  JC_ASSIGN_OR_RETURN(const bool batch_b, node.flag("transBatchB", false));
  if (batch_a || batch_b) return node.opaque();
  if (!transpose_a && is_weight_matrix(node, 1)) {
    return node.emit(Linear{.weight_in_out = !transpose_b}, {node.input(0), node.input(1)});
  }
  return node.emit(MatMul{transpose_a, transpose_b}, {node.input(0), node.input(1)});
}

}  // namespace joulecast::onnx
