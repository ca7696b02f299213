// SPDX-License-Identifier: Apache-2.0
// Fused operators of com.microsoft (ONNX Runtime's ContribOperators.md), taken apart again.
#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

ValueId add(NodeContext& node, ValueId a, ValueId b) {
  return b == kNoValue ? a : node.step(Binary{BinaryKind::kAdd}, {a, b}, "add");
}

// Mean and deviation (outputs 1 and 2) have no counterpart; output 3 is the sum before the norm.
Result<void> emit_after_sum(NodeContext& node, ValueId sum, Operator norm, std::vector<ValueId> further) {
  JC_RETURN_IF_ERROR(node.alias(3, sum));
  std::vector<ValueId> inputs{sum};
  inputs.insert(inputs.end(), further.begin(), further.end());
  return node.emit(std::move(norm), std::move(inputs));
}

}  // namespace

// input, skip, gamma, [beta], [bias].
Result<void> lower_skip_layer_norm(NodeContext& node) {
  const ValueId sum = add(node, add(node, node.input(0), node.input(1)), node.input(4));
  return emit_after_sum(node, sum, LayerNorm{}, {node.input(2), node.input(3)});
}

// input, skip, gamma, [bias].
Result<void> lower_skip_rms_norm(NodeContext& node) {
  const ValueId sum = add(node, add(node, node.input(0), node.input(1)), node.input(3));
  return emit_after_sum(node, sum, RmsNorm{}, {node.input(2)});
}

// ids, [segments], words, positions, [segment table], gamma, beta, [mask], [position ids].
Result<void> lower_embed_layer_norm(NodeContext& node) {
  if (node.used(1) || !node.has(8)) return node.opaque();  // positions counted inside, index of the mask
  ValueId sum = node.step(Embedding{}, {node.input(2), node.input(0)}, "words");
  sum = add(node, sum, node.step(Embedding{}, {node.input(3), node.input(8)}, "positions"));
  if (node.has(1) && node.has(4)) {
    sum = add(node, sum, node.step(Embedding{}, {node.input(4), node.input(1)}, "segments"));
  }
  JC_RETURN_IF_ERROR(node.alias(2, sum));
  return node.emit(LayerNorm{}, {sum, node.input(5), node.input(6)});
}

Result<void> lower_bias_gelu(NodeContext& node) {
  return node.emit(Activation{ActivationKind::kGelu}, {add(node, node.input(0), node.input(1))});
}

Result<void> lower_fast_gelu(NodeContext& node) {
  return node.emit(Activation{ActivationKind::kGeluTanh}, {add(node, node.input(0), node.input(1))});
}

}  // namespace joulecast::onnx
