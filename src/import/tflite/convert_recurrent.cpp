// SPDX-License-Identifier: Apache-2.0
// Recurrent layers that are one operator.
#include <array>

#include "import/tflite/convert_operators.h"

namespace joulecast::tflite {
namespace {

// All of `places` as inputs behind x; nothing where one is left out.
Result<std::vector<std::string_view>> gather(OperatorConverter& op, const std::vector<std::size_t>& places) {
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  std::vector<std::string_view> out{x};
  for (const std::size_t i : places) {
    if (!op.has(i)) return std::vector<std::string_view>();
    JC_ASSIGN_OR_RETURN(const std::string_view one, op.input(i));
    out.push_back(one);
  }
  return out;
}

}  // namespace

// Weights of the input and of the recurrence for each gate, then the biases. Peepholes (9), a projection (16) and
// normalised gates (20) make another layer of it.
Result<void> convert_sequence_lstm(OperatorConverter& op) {
  bool plain = true;
  for (const std::size_t i : {9, 10, 11, 16, 17, 20, 21, 22, 23}) plain = plain && !op.has(i);
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, gather(op, {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15}));
  if (!plain || inputs.empty()) return op.opaque(op.target());
  return op.finish(op.target(), std::move(inputs), Attributes().flag("time_major", op.options().flag(3)));
}

// x, weights, recurrence, bias, state.
Result<void> convert_sequence_rnn(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, gather(op, {1, 2, 3}));
  if (inputs.empty()) return op.opaque(op.target());
  return op.finish(op.target(), std::move(inputs), Attributes().flag("time_major", op.options().flag(0)));
}

}  // namespace joulecast::tflite
