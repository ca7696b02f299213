// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "graph/infer_context.h"
#include "graph/ops/known.h"

namespace joulecast {

// The axes are those of the output.
Result<void> infer(const Unsqueeze& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  std::span<const std::int64_t> given = op.axes;
  if (context.has(1)) {
    JC_ASSIGN_OR_RETURN(given, context.ints(1, "axes"));
  }
  const Shape& x = context.shape(0);
  if (given.size() > kMaxRank - x.size()) {
    return unsupported(fmt::format("rank {} is more than {}", x.size() + given.size(), kMaxRank));
  }
  const std::size_t rank = x.size() + given.size();
  JC_ASSIGN_OR_RETURN(const auto axes, distinct_axes(given, rank));
  Shape shape;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool added = std::find(axes.begin(), axes.end(), i) != axes.end();
    shape.push_back(added ? 1 : x[next++]);
  }
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  follow_unchanged(context);
  return {};
}

// A view: no kernel.
Cost cost(const Unsqueeze&, const CostContext&) {
  return {};
}

}  // namespace joulecast
