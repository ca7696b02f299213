// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/ops/control_flow.h"
#include "graph/walk.h"

namespace joulecast {
namespace {

Result<std::vector<BodyOperand>> captures(const InferContext& context, std::size_t begin, std::size_t end) {
  std::vector<BodyOperand> out;
  for (std::size_t i = begin; i < end; ++i) {
    JC_ASSIGN_OR_RETURN(BodyOperand next, operand(context, i));
    out.push_back(std::move(next));
  }
  return out;
}

// One branch: its body with its captures, inputs [begin, end) of the node.
Result<void> infer_branch(InferContext& context, std::uint32_t body, std::size_t begin, std::size_t end) {
  JC_ASSIGN_OR_RETURN(const auto operands, captures(context, begin, end));
  JC_RETURN_IF_ERROR(infer_with(context, body, operands));
  const std::size_t returned = context.graph().bodies[body].outputs.size();
  if (returned >= context.output_count()) return {};
  return invalid(fmt::format("body {} returns {} values of {}", body, returned, context.output_count()));
}

}  // namespace

// Where the condition is known, the other body need not even fit: exporters write an If around a squeeze. It keeps
// unknown types then. Otherwise the outputs have the types of the dearer body.
Result<void> infer(const If& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "condition"));
  const std::size_t count = context.input_count() - 1;
  if (op.then_captures < 0 || static_cast<std::size_t>(op.then_captures) > count) {
    return invalid(fmt::format("{} captures of the first body, there are {} in all", op.then_captures, count));
  }
  const std::size_t middle = 1 + static_cast<std::size_t>(op.then_captures);
  const Contents* condition = context.known(0);
  const bool decided = condition != nullptr && condition->ints.size() == 1;
  if (!decided || condition->ints[0] != 0) {
    JC_RETURN_IF_ERROR(infer_branch(context, op.then_body, 1, middle));
  }
  if (!decided || condition->ints[0] == 0) {
    JC_RETURN_IF_ERROR(infer_branch(context, op.else_body, middle, context.input_count()));
  }
  const std::uint32_t body = counted_body(context.graph(), context.node(), context.table());
  const Graph& chosen = context.graph().bodies[body];
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    const TensorType type = body_output(context, body, i);
    JC_RETURN_IF_ERROR(context.set(i, type.element, type.shape));
    const Contents* known = context.table().body(body).known(chosen.outputs[i]);
    if (decided && known != nullptr) context.set_known(i, *known);
  }
  return {};
}

// What its body costs is counted by whoever walks it.
Cost cost(const If&, const CostContext&) {
  return {};
}

}  // namespace joulecast
