// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "graph/infer_context.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

Result<Shape> without(const Shape& x, std::span<const std::int64_t> given) {
  JC_ASSIGN_OR_RETURN(const auto axes, distinct_axes(given, x.size()));
  Shape out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool goes = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (goes && x[i] != 1) return invalid(fmt::format("axis {} of {} is not 1", i, text(x)));
    if (!goes) out.push_back(x[i]);
  }
  return out;
}

Shape without_ones(const Shape& x) {
  Shape out;
  for (const std::int64_t extent : x) {
    if (extent != 1) out.push_back(extent);
  }
  return out;
}

Result<Shape> squeezed(const Squeeze& op, const InferContext& context) {
  if (context.has(1)) {
    JC_ASSIGN_OR_RETURN(const auto axes, context.ints(1, "axes"));
    return without(context.shape(0), axes);
  }
  if (op.axes.empty()) return without_ones(context.shape(0));
  return without(context.shape(0), op.axes);
}

}  // namespace

Result<void> infer(const Squeeze& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_ASSIGN_OR_RETURN(const Shape shape, squeezed(op, context));
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  follow_unchanged(context);
  return {};
}

// A view: no kernel.
Cost cost(const Squeeze&, const CostContext&) {
  return {};
}

}  // namespace joulecast
