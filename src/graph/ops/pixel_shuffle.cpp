// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

Result<Shape> shuffled(const Shape& x, std::int64_t factor, std::int64_t square) {
  Shape out = x;
  const std::size_t channel = x.size() - 3;
  if (x[channel] % square != 0) {
    return invalid(fmt::format("{} channels do not divide by the square of {}", x[channel], factor));
  }
  out[channel] /= square;
  for (const std::size_t axis : {channel + 1, channel + 2}) {
    const auto extent = checked_product(x[axis], factor);
    if (!extent) return invalid(fmt::format("extent {} times {} is too large", x[axis], factor));
    out[axis] = *extent;
  }
  return out;
}

Result<Shape> unshuffled(const Shape& x, std::int64_t factor, std::int64_t square) {
  Shape out = x;
  const std::size_t channel = x.size() - 3;
  for (const std::size_t axis : {channel + 1, channel + 2}) {
    if (x[axis] % factor != 0) return invalid(fmt::format("extent {} does not divide by {}", x[axis], factor));
    out[axis] /= factor;
  }
  const auto channels = checked_product(x[channel], square);
  if (!channels) return invalid(fmt::format("{} channels times the square of {} are too many", x[channel], factor));
  out[channel] = *channels;
  return out;
}

}  // namespace

Result<void> infer(const PixelShuffle& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 3));
  const auto square = checked_product(op.factor, op.factor);
  if (op.factor < 1 || !square) return invalid(fmt::format("factor is {}", op.factor));
  const Shape& x = context.shape(0);
  JC_ASSIGN_OR_RETURN(const Shape out,
                      op.inverse ? unshuffled(x, op.factor, *square) : shuffled(x, op.factor, *square));
  return context.set(0, context.input(0).element, out);
}

// Moves every element and computes nothing, in both directions.
Cost cost(const PixelShuffle&, const CostContext& context) {
  return elementwise_cost(context, {.forward_steps = 0.0, .backward_steps = 0.0, .saved_reads = 0.0});
}

}  // namespace joulecast
