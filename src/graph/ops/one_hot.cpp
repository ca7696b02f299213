// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

Result<std::int64_t> depth_of(const OneHot& op, const InferContext& context) {
  if (op.depth) return *op.depth;
  JC_RETURN_IF_ERROR(context.require(1, "depth"));
  const Contents* known = context.known(1);
  if (known == nullptr) return unsupported("input 1 (depth) depends on data, so the shape does too");
  if (known->ints.size() == 1) return known->ints[0];
  // ONNX allows any number type for depth.
  if (known->reals.size() == 1 && known->reals[0] >= 0.0 && known->reals[0] <= static_cast<double>(kMaxElements)) {
    return static_cast<std::int64_t>(known->reals[0]);
  }
  return invalid("depth is not one number of a possible size");
}

}  // namespace

Result<void> infer(const OneHot& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "indices", 0, kMaxRank - 1));
  const Shape& indices = context.shape(0);
  JC_ASSIGN_OR_RETURN(const std::int64_t depth, depth_of(op, context));
  JC_ASSIGN_OR_RETURN(const std::size_t axis, normalize_axis(op.axis, indices.size() + 1));
  Shape out;
  for (std::size_t i = 0; i <= indices.size(); ++i) {
    if (i == axis) out.push_back(depth);
    if (i < indices.size()) out.push_back(indices[i]);
  }
  return context.set(0, op.element, out);
}

// Writes every element and computes nothing. Indices take no gradient.
Cost cost(const OneHot&, const CostContext& context) {
  Cost cost;
  if (!context.has_output(0)) return cost;
  cost.forward_read = context.input(0).bytes();
  cost.forward_written = context.output().bytes();
  return cost;
}

}  // namespace joulecast
