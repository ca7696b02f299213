// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, which Keras writes as a loop over time whose body is the cell.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "import/tensorflow/node_context.h"

namespace joulecast::tensorflow {

// A loop that is a layer: its variables by index, its weights.
struct RnnLayer {
  RnnKind kind = RnnKind::kLstm;
  std::int64_t gates = 0, input = 0, hidden = 0;
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

// "'gru/while' (GRU) is a loop over its steps: ...", of a loop around a recurrent cell that find_rnn() finds no layer
// in, which costs many times what the layer does; empty for other loops.
std::string steps_told(const NodeContext& node, const FunctionView& body);

// The same of any recurrent layer.
std::string told_as_steps(std::string_view name, std::string_view kind, std::string_view why);
inline constexpr std::string_view kNeverCudnn = "Keras has no kernel of cuDNN for it";

}  // namespace joulecast::tensorflow
