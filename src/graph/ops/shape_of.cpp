// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/infer_context.h"

namespace joulecast {
namespace {

// ONNX Shape: from the end where negative, then clamped.
std::int64_t clamped(std::int64_t axis, std::int64_t rank) {
  return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
}

}  // namespace

Result<void> infer(const ShapeOf& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  const TensorType& x = context.input(0);
  Contents extents;
  if (op.count_only) {
    JC_RETURN_IF_ERROR(context.set(0, ElementType::kInt64, {}));
    extents.ints = {x.elements()};
  } else {
    const auto rank = static_cast<std::int64_t>(x.shape.size());
    const std::int64_t begin = clamped(op.begin, rank);
    const std::int64_t end = std::max(begin, op.end ? clamped(*op.end, rank) : rank);
    JC_RETURN_IF_ERROR(context.set(0, ElementType::kInt64, {end - begin}));
    extents.ints.assign(x.shape.begin() + begin, x.shape.begin() + end);
  }
  context.set_known(0, std::move(extents));
  return {};
}

// Computed on the host.
Cost cost(const ShapeOf&, const CostContext&) {
  return {};
}

}  // namespace joulecast
