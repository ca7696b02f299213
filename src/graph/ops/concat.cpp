// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

Result<Shape> joined(const InferContext& context, std::size_t axis) {
  Shape out = context.shape(0);
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    JC_RETURN_IF_ERROR(context.require(i, "tensor"));
    const Shape& next = context.shape(i);
    bool fits = next.size() == out.size();
    for (std::size_t k = 0; fits && k < out.size(); ++k) fits = k == axis || next[k] == out[k];
    if (!fits) {
      return invalid(fmt::format("{} and {} cannot be joined along axis {}", text(out), text(next), axis));
    }
    out[axis] += next[axis];
    if (out[axis] > kMaxElements) return invalid(fmt::format("axis {} would be too long", axis));
  }
  return out;
}

void follow(InferContext& context, std::size_t axis, const Shape& shape) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.known(i) == nullptr) return;
  }
  if (!followable_shape(shape)) return;
  Contents out;
  const auto count = static_cast<std::size_t>(*checked_elements(shape));
  for (std::size_t at = 0; at < count; ++at) {
    Position position = unravel(at, shape);
    std::size_t part = 0;
    for (; position[axis] >= context.shape(part)[axis]; ++part) position[axis] -= context.shape(part)[axis];
    append_element(out, *context.known(part), ravel(position, context.shape(part)));
  }
  context.set_known(0, std::move(out));
}

}  // namespace

Result<void> infer(const Concat& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "tensor"));
  JC_ASSIGN_OR_RETURN(const std::size_t axis, normalize_axis(op.axis, context.shape(0).size()));
  JC_ASSIGN_OR_RETURN(const Shape shape, joined(context, axis));
  TensorType widest = context.input(0);
  for (std::size_t i = 1; i < context.input_count(); ++i) widest.element = promoted(widest, context.input(i));
  JC_RETURN_IF_ERROR(context.set(0, widest.element, shape));
  follow(context, axis, shape);
  return {};
}

Cost cost(const Concat&, const CostContext& context) {
  return copy_cost(context, input_bytes(context), output_bytes(context));
}

}  // namespace joulecast
