// SPDX-License-Identifier: Apache-2.0
#include "import/einsum.h"
#include "import/onnx/lowerings.h"

namespace joulecast::onnx {

Result<void> lower_einsum(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::string_view equation, node.string("equation"));
  if (node.input_count() != 2) return node.opaque();
  return emit_einsum(node, equation, node.input(0), node.input(1));
}

}  // namespace joulecast::onnx
