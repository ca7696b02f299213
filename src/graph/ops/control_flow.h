// SPDX-License-Identifier: Apache-2.0
// Types through the bodies of control flow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/infer_context.h"

namespace joulecast {

// What a body gets for one of its inputs.
struct BodyOperand {
  TensorType type;
  std::optional<Contents> known;
};

// Input i of the node, with its contents where these are known. Fails if it is absent.
Result<BodyOperand> operand(const InferContext& context, std::size_t i);

// Propagates types through body `body` of the context's graph, whose inputs get `operands`.
Result<void> infer_with(InferContext& context, std::uint32_t body, const std::vector<BodyOperand>& operands);
// The type of output i of that body. Requires: infer_with() succeeded, i is within its outputs.
const TensorType& body_output(InferContext& context, std::uint32_t body, std::size_t i);

// A body that runs again and again: operands [first_operand, first_operand + states) are what its outputs
// [first_output, first_output + states) were the last time.
struct Repeated {
  std::uint32_t body = 0;
  std::size_t first_operand = 0, first_output = 0, states = 0;
};
// Types of states that are other than the initial ones after the first repetition, and then stay, are those of the
// body; states that go on changing (a cache that grows) keep the types of the first repetition. Sets outputs 0..states
// of the node to the states after the first repetition.
Result<void> infer_repeated(InferContext& context, const Repeated& repeated, std::vector<BodyOperand> operands);

// Sets outputs [states, ...) of the node to the scanned outputs, stacked `trips` times.
Result<void> set_scanned(InferContext& context, const Repeated& repeated, std::int64_t trips);

}  // namespace joulecast
