// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/infer_context.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

// The product of axes [begin, end) as one extent. It may be too large although the tensor is empty.
Result<std::int64_t> merged(const Shape& shape, std::size_t begin, std::size_t end) {
  Shape part;
  for (std::size_t i = begin; i < end; ++i) part.push_back(shape[i]);
  const auto elements = checked_elements(part);
  if (!elements) return invalid(fmt::format("axes {} of {} have too many elements", text(part), text(shape)));
  return *elements;
}

// PyTorch: one axis instead of first..last; a scalar becomes one element.
Result<Shape> merge_range(const Flatten& op, const Shape& x) {
  if (x.empty()) return Shape{1};
  JC_ASSIGN_OR_RETURN(const std::size_t first, normalize_axis(op.axis, x.size()));
  JC_ASSIGN_OR_RETURN(const std::size_t last, normalize_axis(*op.last_axis, x.size()));
  if (first > last) return invalid(fmt::format("first axis {} comes after the last, {}", first, last));
  Shape out;
  for (std::size_t i = 0; i < first; ++i) out.push_back(x[i]);
  JC_ASSIGN_OR_RETURN(const std::int64_t extent, merged(x, first, last + 1));
  out.push_back(extent);
  for (std::size_t i = last + 1; i < x.size(); ++i) out.push_back(x[i]);
  return out;
}

// ONNX: always a matrix; the axis may also be the rank itself.
Result<Shape> to_matrix(const Flatten& op, const Shape& x) {
  const auto rank = static_cast<std::int64_t>(x.size());
  if (op.axis < -rank || op.axis > rank) {
    return invalid(fmt::format("axis {} is outside a tensor of rank {}", op.axis, rank));
  }
  const auto axis = static_cast<std::size_t>(op.axis < 0 ? op.axis + rank : op.axis);
  JC_ASSIGN_OR_RETURN(const std::int64_t rows, merged(x, 0, axis));
  JC_ASSIGN_OR_RETURN(const std::int64_t columns, merged(x, axis, x.size()));
  return Shape{rows, columns};
}

}  // namespace

Result<void> infer(const Flatten& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  const Shape& x = context.shape(0);
  JC_ASSIGN_OR_RETURN(const Shape shape, op.last_axis ? merge_range(op, x) : to_matrix(op, x));
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  follow_unchanged(context);
  return {};
}

// A view: no kernel.
Cost cost(const Flatten&, const CostContext&) {
  return {};
}

}  // namespace joulecast
