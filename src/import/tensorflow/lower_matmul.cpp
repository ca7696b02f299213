// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

bool is_weight_matrix(const NodeContext& node, std::size_t i) {
  const Tensor& tensor = node.input(i);
  return tensor.is_source() && tensor.source->kind == ValueKind::kParameter && tensor.view.size() == 2;
}

// a, b, and in files of other kinds a bias.
Result<void> emit_product(NodeContext& node, bool transpose_a, bool transpose_b) {
  if (!transpose_a && is_weight_matrix(node, 1)) {
    return node.emit(Linear{.weight_in_out = !transpose_b}, {node.value(0), node.value(1), node.value(2)});
  }
  if (node.input_count() > 2) {
    const ValueId product = node.step(MatMul{transpose_a, transpose_b}, {node.value(0), node.value(1)}, "product");
    return node.emit(Binary{BinaryKind::kAdd}, {product, node.value(2)});
  }
  return node.emit(MatMul{transpose_a, transpose_b}, {node.value(0), node.value(1)});
}

}  // namespace

Result<void> lower_matmul(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const bool transpose_a, node.flag("transpose_a", false));
  JC_ASSIGN_OR_RETURN(const bool transpose_b, node.flag("transpose_b", false));
  return emit_product(node, transpose_a, transpose_b);
}

Result<void> lower_batch_matmul(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const bool transpose_a, node.flag("adj_x", false));
  JC_ASSIGN_OR_RETURN(const bool transpose_b, node.flag("adj_y", false));
  return emit_product(node, transpose_a, transpose_b);
}

}  // namespace joulecast::tensorflow
