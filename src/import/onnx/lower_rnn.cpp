// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

Result<std::int64_t> hidden_size(const NodeContext& node) {
  if (node.has_attribute("hidden_size")) {
    JC_ASSIGN_OR_RETURN(const std::int64_t hidden, node.integer("hidden_size"));
    if (hidden < 1 || hidden > kMaxElements) return node.wrong_attribute("hidden_size", fmt::format("is {}", hidden));
    return hidden;
  }
  // recurrence [directions, gates * hidden, hidden]
  if (const TensorType* type = node.type(2); type != nullptr && type->shape.size() == 3) return type->shape[2];
  return node.wrong_attribute("hidden_size", "is missing");
}

Result<Rnn> read_rnn(const NodeContext& node, RnnKind kind) {
  Rnn op;
  op.kind = kind;
  JC_ASSIGN_OR_RETURN(op.hidden, hidden_size(node));
  JC_ASSIGN_OR_RETURN(const std::string_view direction, node.string("direction", "forward"));
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return node.wrong_attribute("direction", "is not forward, reverse or bidirectional");
  }
  op.directions = direction == "bidirectional" ? 2 : 1;
  JC_ASSIGN_OR_RETURN(op.batch_first, node.flag("layout", false));
  return op;
}

// Layout 1 has the batch first in the states and outputs too, ours never: one transpose each.
ValueId state(NodeContext& node, std::size_t i, bool batch_first) {
  if (!node.has(i) || !batch_first) return node.input(i);
  return node.step(Transpose{{1, 0, 2}}, {node.input(i)}, "state");
}

Result<void> emit_batch_first(NodeContext& node, const Rnn& op, const std::vector<ValueId>& inputs,
                              std::size_t outputs) {
  const std::vector<ValueId> raw = node.steps(op, inputs, outputs, "rnn");
  JC_RETURN_IF_ERROR(node.emit_output(0, Transpose{{2, 0, 1, 3}}, {raw[0]}));
  for (std::size_t i = 1; i < outputs; ++i) JC_RETURN_IF_ERROR(node.emit_output(i, Transpose{{1, 0, 2}}, {raw[i]}));
  return {};
}

}  // namespace

// x, w, r, [b], [sequence lengths], [initial hidden], [initial cell], [peepholes: three products of vectors].
Result<void> lower_rnn_of(NodeContext& node, RnnKind kind) {
  JC_ASSIGN_OR_RETURN(const Rnn op, read_rnn(node, kind));
  const bool lstm = kind == RnnKind::kLstm;
  std::vector<ValueId> inputs{node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)};
  inputs.push_back(state(node, 5, op.batch_first));
  if (lstm) inputs.push_back(state(node, 6, op.batch_first));
  const std::size_t outputs = lstm ? 3 : 2;
  return op.batch_first ? emit_batch_first(node, op, inputs, outputs) : node.emit(op, inputs, outputs);
}

}  // namespace joulecast::onnx
