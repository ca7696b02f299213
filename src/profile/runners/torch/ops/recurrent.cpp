// SPDX-License-Identifier: Apache-2.0
// One layer of a recurrent network, by PyTorch's own (cuDNN's on NVIDIA).
#include "operators.h"

namespace joulecast::runner {
namespace {

struct Layer {
  std::string kind;
  std::int64_t hidden, directions;
  bool batch_first;
};

// Weights [directions, rows, ...] and biases [directions, 2 * rows] in PyTorch's order: of each direction the two
// weights, then the two biases.
std::vector<at::Tensor> parameters(const Slots& slots, std::size_t weight, std::size_t recurrence,
                                   const std::optional<std::size_t>& bias, const Layer& layer) {
  std::vector<at::Tensor> out;
  for (std::int64_t d = 0; d < layer.directions; ++d) {
    out.push_back(slots[weight].select(0, d));
    out.push_back(slots[recurrence].select(0, d));
    if (!bias) continue;
    const std::int64_t rows = slots[weight].size(1);
    const at::Tensor both = slots[*bias].reshape({layer.directions, -1}).select(0, d);
    out.push_back(both.slice(0, 0, rows));
    out.push_back(both.slice(0, both.size(0) - rows));
  }
  return out;
}

Kernel rnn(const StepContext& context) {
  const Fields& fields = context.fields();
  const Layer layer{fields.text("kind", "lstm"), fields.integer("hidden"), fields.integer("directions", 1),
                    fields.flag("batch_first")};
  if (context.has(4)) refuse(context, "sequences of different lengths");
  if (context.has(7)) refuse(context, "with a projection");
  return [layer, training = context.training(), x = context.in(0), weight = context.in(1), recurrence = context.in(2),
          bias = context.optional_in(3), y = context.optional_out(0), last = context.optional_out(1),
          cell = context.optional_out(2)](Slots& slots) {
    const at::Tensor& in = slots[x];
    const std::int64_t batch = in.size(layer.batch_first ? 0 : 1);
    const at::Tensor zero = at::zeros({layer.directions, batch, layer.hidden}, in.options());
    const std::vector<at::Tensor> weights = parameters(slots, weight, recurrence, bias, layer);
    const bool both = layer.directions == 2, biased = bias.has_value();
    at::Tensor out, hidden, memory;
    if (layer.kind == "lstm") {
      std::tie(out, hidden, memory) =
          at::lstm(in, {zero, zero}, weights, biased, 1, 0.0, training, both, layer.batch_first);
    } else if (layer.kind == "gru") {
      std::tie(out, hidden) = at::gru(in, zero, weights, biased, 1, 0.0, training, both, layer.batch_first);
    } else {
      std::tie(out, hidden) = at::rnn_tanh(in, zero, weights, biased, 1, 0.0, training, both, layer.batch_first);
    }
    // [time, batch, directions * hidden] -> [time, directions, batch, hidden], a view.
    const at::Tensor in_time = layer.batch_first ? out.transpose(0, 1) : out;
    if (y) slots[*y] = in_time.unflatten(2, {layer.directions, layer.hidden}).transpose(1, 2);
    if (last) slots[*last] = hidden;
    if (cell) slots[*cell] = memory;
  };
}

}  // namespace

std::vector<OperatorEntry> recurrent_operators() {
  return {{"rnn", rnn}};
}

}  // namespace joulecast::runner
