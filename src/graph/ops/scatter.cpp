// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

bool same(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// ONNX ScatterND: updates are [indices without the last axis, axes of x behind the positions].
bool nd_fits(const Shape& x, const Shape& indices, const Shape& updates) {
  if (indices.empty() || indices.back() < 0 || indices.back() > static_cast<std::int64_t>(x.size())) return false;
  const std::size_t lead = indices.size() - 1;
  return updates.size() >= lead && same(updates.span().first(lead), indices.span().first(lead)) &&
         same(updates.span().subspan(lead), x.span().subspan(static_cast<std::size_t>(indices.back())));
}

// The reverse of numpy.take: updates have the axes of the indices in the place of `axis`.
bool slices_fit(const Shape& x, const Shape& indices, const Shape& updates, std::size_t axis) {
  if (updates.size() + 1 != x.size() + indices.size()) return false;
  return same(updates.span().first(axis), x.span().first(axis)) &&
         same(updates.span().subspan(axis, indices.size()), indices.span()) &&
         same(updates.span().subspan(axis + indices.size()), x.span().subspan(axis + 1));
}

Result<bool> fits(const Scatter& op, const Shape& x, const Shape& indices, const Shape& updates) {
  if (op.kind == GatherKind::kNd) return nd_fits(x, indices, updates);
  JC_ASSIGN_OR_RETURN(const std::size_t axis, normalize_axis(op.axis, x.size()));
  if (op.kind == GatherKind::kSlices) return slices_fit(x, indices, updates, axis);
  // PyTorch takes updates larger than the indices, and scalars; ONNX only equal ones.
  return indices.size() == x.size() && (updates.empty() || updates.size() == indices.size());
}

}  // namespace

Result<void> infer(const Scatter& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_RETURN_IF_ERROR(context.require(1, "indices"));
  JC_RETURN_IF_ERROR(context.require(2, "updates"));
  const Shape& x = context.shape(0);
  JC_ASSIGN_OR_RETURN(const bool ok, fits(op, x, context.shape(1), context.shape(2)));
  if (!ok) {
    return invalid(fmt::format("indices {} and updates {} do not fit input {}", text(context.shape(1)),
                               text(context.shape(2)), text(x)));
  }
  return context.set(0, context.input(0).element, x);
}

// Only what is touched: the rest of x stays where it is. Backward takes the gradient of the updates from the output's
// and writes zeros in these places.
Cost cost(const Scatter&, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  const Bytes indices = context.input(1).bytes();
  const Bytes updates = context.input(2).bytes();
  cost.forward_read = indices + updates;
  cost.forward_written = updates;
  if (!is_floating(context.input(0).element)) return cost;
  cost.backward_read = indices + updates;
  cost.backward_written = 2.0 * updates;
  return cost;
}

}  // namespace joulecast
