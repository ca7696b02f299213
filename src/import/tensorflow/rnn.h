// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, which Keras writes as a loop over time whose body is the cell.
#pragma once

#include <optional>

#include "import/tensorflow/node_context.h"

namespace joulecast::tensorflow {

// A loop that is a layer: its variables by index, its weights.
struct RnnLayer {
  RnnKind kind = RnnKind::kLstm;
  std::int64_t input = 0, hidden = 0;
  const Source* weight = nullptr;      // [input, gates * hidden]
  const Source* recurrence = nullptr;  // [hidden, gates * hidden]
  std::vector<const Source*> biases;
  std::size_t list = 0;   // the variable that holds the inputs of all steps
  std::size_t state = 0;  // the hidden state
  std::optional<std::size_t> cell;
};

// `node` is the loop, `body` what it repeats. Nothing for any other loop.
std::optional<RnnLayer> find_rnn(const NodeContext& node, const FunctionView& body);
Result<void> emit_rnn(NodeContext& node, const RnnLayer& layer);

}  // namespace joulecast::tensorflow
