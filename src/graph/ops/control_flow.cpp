// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/control_flow.h"

#include <fmt/format.h>

#include <algorithm>

namespace joulecast {

Result<BodyOperand> operand(const InferContext& context, std::size_t i) {
  JC_RETURN_IF_ERROR(context.require(i, "operand of the body"));
  BodyOperand out{context.input(i), std::nullopt};
  if (const Contents* contents = context.known(i)) out.known = *contents;
  return out;
}

Result<void> infer_with(InferContext& context, std::uint32_t body, const std::vector<BodyOperand>& operands) {
  if (body >= context.graph().bodies.size()) return invalid(fmt::format("body {} does not exist", body));
  const Graph& graph = context.graph().bodies[body];
  if (graph.inputs.size() != operands.size()) {
    return invalid(fmt::format("body {} has {} inputs, the node gives {}", body, graph.inputs.size(), operands.size()));
  }
  TypeTable table(graph.values.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    table.set_type(graph.inputs[i].value, operands[i].type);
    if (operands[i].known) table.set_known(graph.inputs[i].value, *operands[i].known);
  }
  if (auto done = infer_body(graph, table); !done) {
    return tl::unexpected(std::move(done).error().in(fmt::format("body {}", body)));
  }
  context.table().bodies()[body] = std::move(table);
  return {};
}

const TensorType& body_output(InferContext& context, std::uint32_t body, std::size_t i) {
  return context.table().body(body).type(context.graph().bodies[body].outputs[i]);
}

Result<void> infer_repeated(InferContext& context, const Repeated& repeated, std::vector<BodyOperand> operands) {
  JC_RETURN_IF_ERROR(infer_with(context, repeated.body, operands));
  if (context.graph().bodies[repeated.body].outputs.size() < repeated.first_output + repeated.states) {
    return invalid(fmt::format("body {} returns fewer values than there are states", repeated.body));
  }
  bool changed = false;
  for (std::size_t i = 0; i < repeated.states; ++i) {
    const TensorType after = body_output(context, repeated.body, repeated.first_output + i);
    JC_RETURN_IF_ERROR(context.set(i, after.element, after.shape));
    TensorType& before = operands[repeated.first_operand + i].type;
    changed = changed || before != after;
    before = after;
  }
  if (!changed) return {};
  TypeTable first = context.table().body(repeated.body);
  bool stable = infer_with(context, repeated.body, operands).has_value();
  for (std::size_t i = 0; stable && i < repeated.states; ++i) {
    stable =
        body_output(context, repeated.body, repeated.first_output + i) == operands[repeated.first_operand + i].type;
  }
  if (!stable) context.table().bodies()[repeated.body] = std::move(first);
  return {};
}

Result<void> set_scanned(InferContext& context, const Repeated& repeated, std::int64_t trips) {
  const std::size_t first = repeated.first_output + repeated.states;
  const std::size_t count = context.graph().bodies[repeated.body].outputs.size() - first;
  if (context.output_count() > repeated.states + count) {
    return invalid(
        fmt::format("{} outputs, body {} returns {}", context.output_count(), repeated.body, repeated.states + count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const TensorType& one = body_output(context, repeated.body, first + i);
    if (one.shape.full()) return unsupported(fmt::format("a scanned output has a rank of more than {}", kMaxRank));
    Shape stacked{trips};
    for (const std::int64_t extent : one.shape) stacked.push_back(extent);
    JC_RETURN_IF_ERROR(context.set(repeated.states + i, one.element, stacked));
  }
  return {};
}

}  // namespace joulecast
