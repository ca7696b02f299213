// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

Result<std::int64_t> count_of(const TopK& op, const InferContext& context) {
  if (op.k) return *op.k;
  JC_ASSIGN_OR_RETURN(const auto k, context.ints(1, "k"));
  if (k.size() != 1) return invalid(fmt::format("k has {} elements, expected 1", k.size()));
  return k[0];
}

}  // namespace

Result<void> infer(const TopK& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 1));
  const TensorType& x = context.input(0);
  JC_ASSIGN_OR_RETURN(const std::size_t axis, normalize_axis(op.axis, x.shape.size()));
  JC_ASSIGN_OR_RETURN(const std::int64_t k, count_of(op, context));
  if (k < 0 || k > x.shape[axis]) return invalid(fmt::format("k is {} of {} elements", k, x.shape[axis]));
  Shape out = x.shape;
  out[axis] = k;
  JC_RETURN_IF_ERROR(context.set(0, x.element, out));
  return context.set(1, ElementType::kInt64, out);
}

// One flop a comparison: every element meets a heap of k, log2(k) deep (at least 1); a full sort is n log2(n).
// Backward puts the gradient back by the indices, which are saved where they are no output themselves.
Cost cost(const TopK& op, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  if (!context.has_output(0) && !context.has_output(1)) return cost;
  const TensorType& x = context.input(0);
  const TensorType& out = context.output(context.has_output(0) ? 0 : 1);
  const auto axis = normalize_axis(op.axis, x.shape.size());
  const double k = axis ? static_cast<double>(out.shape[*axis]) : 1.0;
  cost.forward_flops = Flops{static_cast<double>(x.elements()) * std::max(1.0, std::log2(std::max(k, 1.0)))};
  cost.forward_read = x.bytes();
  cost.forward_written = output_bytes(context);
  if (!context.has_output(0) || !is_floating(x.element)) return cost;
  const Bytes indices{8.0 * static_cast<double>(out.elements())};
  cost.backward_read = out.bytes() + indices;
  cost.backward_written = x.bytes();
  if (!context.has_output(1)) cost.saved = indices;
  return cost;
}

}  // namespace joulecast
