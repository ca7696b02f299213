// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/ops/control_flow.h"

namespace joulecast {
namespace {

// One slice of a scanned input, without axis 0.
Result<BodyOperand> slice(const InferContext& context, std::size_t i, std::int64_t trips) {
  JC_ASSIGN_OR_RETURN(BodyOperand out, operand(context, i));
  const Shape& whole = context.shape(i);
  if (whole.empty() || whole[0] != trips) {
    return invalid(fmt::format("scanned input {} of shape {} is not {} long", i, text(whole), trips));
  }
  out.type.shape.clear();
  for (std::size_t axis = 1; axis < whole.size(); ++axis) out.type.shape.push_back(whole[axis]);
  out.known.reset();
  return out;
}

}  // namespace

// Body: states, scanned, captures -> states, scanned.
Result<void> infer(const Scan& op, InferContext& context) {
  const auto count = static_cast<std::int64_t>(context.input_count());
  if (op.states < 0 || op.states > count || op.scanned < 1 || op.scanned > count - op.states) {
    return invalid(fmt::format("{} states and {} scanned inputs of {} inputs", op.states, op.scanned, count));
  }
  const auto states = static_cast<std::size_t>(op.states);
  const std::size_t scanned_end = states + static_cast<std::size_t>(op.scanned);
  JC_RETURN_IF_ERROR(context.require(states, "scanned input"));
  if (context.shape(states).empty()) return invalid("a scalar cannot be scanned");
  const std::int64_t trips = context.shape(states)[0];
  std::vector<BodyOperand> operands;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const bool scanned = i >= states && i < scanned_end;
    JC_ASSIGN_OR_RETURN(BodyOperand next, scanned ? slice(context, i, trips) : operand(context, i));
    if (i < states) next.known.reset();  // known for the first repetition only
    operands.push_back(std::move(next));
  }
  const Repeated repeated{.body = op.body, .first_operand = 0, .first_output = 0, .states = states};
  JC_RETURN_IF_ERROR(infer_repeated(context, repeated, std::move(operands)));
  for (std::size_t i = 0; trips == 0 && i < states; ++i) {
    JC_RETURN_IF_ERROR(context.set(i, context.input(i).element, context.shape(i)));
  }
  return set_scanned(context, repeated, trips);
}

// What its body costs is counted by whoever walks it.
Cost cost(const Scan&, const CostContext&) {
  return {};
}

}  // namespace joulecast
