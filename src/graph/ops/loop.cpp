// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/ops/control_flow.h"
#include "graph/walk.h"

namespace joulecast {

// Body: iteration, condition, states, captures -> condition, states, scanned.
Result<void> infer(const Loop& op, InferContext& context) {
  const std::size_t given = context.input_count() < 2 ? 0 : context.input_count() - 2;
  if (op.states < 0 || static_cast<std::size_t>(op.states) > given) {
    return invalid(fmt::format("{} states, there are {} operands", op.states, given));
  }
  const auto states = static_cast<std::size_t>(op.states);
  std::vector<BodyOperand> operands{{TensorType{ElementType::kInt64, {}}, std::nullopt},
                                    // A repetition only begins where the condition holds.
                                    {TensorType{ElementType::kBool, {}}, Contents{{1}, {}}}};
  for (std::size_t i = 2; i < context.input_count(); ++i) {
    JC_ASSIGN_OR_RETURN(BodyOperand next, operand(context, i));
    if (i < 2 + states) next.known.reset();  // known for the first repetition only
    operands.push_back(std::move(next));
  }
  const Repeated repeated{.body = op.body, .first_operand = 2, .first_output = 1, .states = states};
  JC_RETURN_IF_ERROR(infer_repeated(context, repeated, std::move(operands)));
  const auto trips = repetitions(context.graph(), context.node(), context.table());
  for (std::size_t i = 0; trips == 0 && i < states; ++i) {
    JC_RETURN_IF_ERROR(context.set(i, context.input(2 + i).element, context.shape(2 + i)));
  }
  return set_scanned(context, repeated, trips.value_or(1));
}

// What its body costs is counted by whoever walks it.
Cost cost(const Loop&, const CostContext&) {
  return {};
}

}  // namespace joulecast
