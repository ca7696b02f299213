// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/infer_context.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

// The product of axes [begin, end): it fits, for that of all extents but zeros does.
std::int64_t merged(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t i = begin; i < end; ++i) product *= shape[i];
  return product;
}

// PyTorch: one axis instead of first..last; a scalar becomes one element.
Result<Shape> merge_range(const Flatten& op, const Shape& x) {
  if (x.empty()) return Shape{1};
  JC_ASSIGN_OR_RETURN(const std::size_t first, normalize_axis(op.axis, x.size()));
  JC_ASSIGN_OR_RETURN(const std::size_t last, normalize_axis(*op.last_axis, x.size()));
  if (first > last) return invalid(fmt::format("first axis {} comes after the last, {}", first, last));
  Shape out;
  for (std::size_t i = 0; i < first; ++i) out.push_back(x[i]);
  out.push_back(merged(x, first, last + 1));
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
  return Shape{merged(x, 0, axis), merged(x, axis, x.size())};
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
