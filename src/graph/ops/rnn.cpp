// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

enum Input : std::size_t { kX, kWeight, kRecurrence, kBias, kLengths, kInitialHidden, kInitialCell, kProjection };

struct Sizes {
  std::int64_t time, batch, input;
};

Sizes sizes_of(const Rnn& op, const Shape& x) {
  return op.batch_first ? Sizes{x[1], x[0], x[2]} : Sizes{x[0], x[1], x[2]};
}

// What a step hands on: the hidden state, or its projection.
Result<std::int64_t> state_width(const Rnn& op, const InferContext& context) {
  if (!context.has(kProjection)) return op.hidden;
  if (op.kind != RnnKind::kLstm) return invalid("only an LSTM has a projection");
  JC_RETURN_IF_ERROR(require_rank(context, kProjection, "projection", 3, 3));
  const std::int64_t width = context.shape(kProjection)[1];
  JC_RETURN_IF_ERROR(expect_shape(context, kProjection, "projection", Shape{op.directions, width, op.hidden}));
  return width;
}

// ONNX and PyTorch have one bias for the input and one for the recurrence; others have their sum.
Result<void> check_bias(const InferContext& context, std::int64_t rows) {
  if (!context.has(kBias)) return {};
  const std::int64_t elements = context.input(kBias).elements();
  if (elements == rows || elements == 2 * rows) return {};
  return invalid(fmt::format("bias {} has neither {} nor {} elements", text(context.shape(kBias)), rows, 2 * rows));
}

Result<void> check(const Rnn& op, const InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, kX, "x", 3, 3));
  JC_RETURN_IF_ERROR(context.require(kWeight, "weight"));
  JC_RETURN_IF_ERROR(context.require(kRecurrence, "recurrence"));
  // Any network is far below, and the products below stay far from overflow.
  constexpr std::int64_t kMaxHidden = std::int64_t{1} << 32;
  if (op.hidden < 1 || op.hidden > kMaxHidden) return invalid(fmt::format("hidden is {}", op.hidden));
  if (op.directions < 1 || op.directions > 2) return invalid(fmt::format("directions is {}", op.directions));
  const auto [time, batch, input] = sizes_of(op, context.shape(kX));
  const std::int64_t rows = gate_count(op.kind) * op.hidden;
  JC_ASSIGN_OR_RETURN(const std::int64_t width, state_width(op, context));
  JC_RETURN_IF_ERROR(expect_shape(context, kWeight, "weight", Shape{op.directions, rows, input}));
  JC_RETURN_IF_ERROR(expect_shape(context, kRecurrence, "recurrence", Shape{op.directions, rows, width}));
  JC_RETURN_IF_ERROR(check_bias(context, op.directions * rows));
  JC_RETURN_IF_ERROR(expect_shape(context, kLengths, "lengths", Shape{batch}));
  JC_RETURN_IF_ERROR(expect_shape(context, kInitialHidden, "initial hidden", Shape{op.directions, batch, width}));
  JC_RETURN_IF_ERROR(expect_shape(context, kInitialCell, "initial cell", Shape{op.directions, batch, op.hidden}));
  if (op.kind != RnnKind::kLstm && (context.has(kInitialCell) || context.output_count() > 2)) {
    return invalid("only an LSTM has a cell");
  }
  return {};
}

}  // namespace

Result<void> infer(const Rnn& op, InferContext& context) {
  JC_RETURN_IF_ERROR(check(op, context));
  const ElementType element = context.input(kX).element;
  const auto [time, batch, input] = sizes_of(op, context.shape(kX));
  JC_ASSIGN_OR_RETURN(const std::int64_t width, state_width(op, context));
  JC_RETURN_IF_ERROR(context.set(0, element, Shape{time, op.directions, batch, width}));
  JC_RETURN_IF_ERROR(context.set(1, element, Shape{op.directions, batch, width}));
  return context.set(2, element, Shape{op.directions, batch, op.hidden});
}

// 2 flops for every weight that a step of a sequence meets; the gates' elementwise arithmetic counts nothing beside it.
// Backward is the gradient of the inputs and of the weights, each as much work. Saved are the gates of every step and,
// for an LSTM, its cells, and what is projected. Weights count as read once although a long sequence may read them
// every step.
Cost cost(const Rnn& op, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  const TensorType& x = context.input(kX);
  const Sizes sizes = sizes_of(op, x.shape);
  const double steps = static_cast<double>(sizes.time) * static_cast<double>(sizes.batch);
  const bool projects = context.has(kProjection);
  const auto weights = static_cast<double>(context.input(kWeight).elements()) +
                       static_cast<double>(context.input(kRecurrence).elements()) +
                       static_cast<double>(projects ? context.input(kProjection).elements() : 0);
  cost.forward_flops = Flops{2.0 * steps * weights};
  cost.backward_flops = 2.0 * cost.forward_flops;
  cost.forward_read = input_bytes(context);
  cost.forward_written = output_bytes(context);
  const auto bytes_of = [&](std::int64_t width) {
    return Bytes{steps * static_cast<double>(op.directions * width) * bit_width(x.element) / 8.0};
  };
  const double kept =
      static_cast<double>(gate_count(op.kind)) + (op.kind == RnnKind::kLstm ? 1.0 : 0.0) + (projects ? 1.0 : 0.0);
  cost.saved = kept * bytes_of(op.hidden);
  const Bytes lengths = context.has(kLengths) ? context.input(kLengths).bytes() : Bytes{};
  const Bytes states = bytes_of(projects ? context.input(kProjection).shape[1] : op.hidden);
  cost.backward_read = 2.0 * states + input_bytes(context) + cost.saved;  // states and their gradient first
  cost.backward_written = input_bytes(context) - lengths;
  // Every step's state is written, and kept for the way back, also where nobody else reads it.
  if (context.has_output(0)) return cost;
  cost.forward_written += states;
  cost.saved += states;
  return cost;
}

}  // namespace joulecast
