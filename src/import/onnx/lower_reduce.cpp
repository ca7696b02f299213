// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/lowerings.h"

namespace joulecast::onnx {

// Axes: an attribute, or an input since operator set 13 (sum) and 18 (all others), which becomes an attribute where its
// contents are known.
Result<void> lower_reduce_of(NodeContext& node, ReduceKind kind) {
  Reduce op;
  op.kind = kind;
  JC_ASSIGN_OR_RETURN(op.keep_axes, node.flag("keepdims", true));
  JC_ASSIGN_OR_RETURN(op.noop_with_empty_axes, node.flag("noop_with_empty_axes", false));
  JC_ASSIGN_OR_RETURN(auto axes, node.integers("axes"));
  if (axes) op.axes = std::move(*axes);
  ValueId input = node.input(1);
  if (const Contents* known = node.known(1)) {
    op.axes = known->ints;
    input = kNoValue;
  }
  return node.emit(std::move(op), {node.input(0), input});
}

Result<void> lower_arg_of(NodeContext& node, ReduceKind kind) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis", 0));
  JC_ASSIGN_OR_RETURN(const bool keep_axes, node.flag("keepdims", true));
  return node.emit(Reduce{kind, {axis}, keep_axes, false}, {node.input(0)});
}

}  // namespace joulecast::onnx
