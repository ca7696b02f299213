// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/infer_context.h"
#include "graph/ops/known.h"

namespace joulecast {

Result<void> infer(const Expand&, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_ASSIGN_OR_RETURN(const auto wanted, context.ints(1, "shape"));
  if (wanted.size() > kMaxRank) return unsupported(fmt::format("rank {} is more than {}", wanted.size(), kMaxRank));
  Shape to;
  for (const std::int64_t extent : wanted) to.push_back(extent);
  const Shape& x = context.shape(0);
  JC_ASSIGN_OR_RETURN(const Shape shape, broadcast(x, to));
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  follow_elements(context, 0, shape, [&](const Position& position) {
    Position from(x.size(), 0);
    const std::size_t offset = shape.size() - x.size();
    for (std::size_t i = 0; i < x.size(); ++i) from[i] = x[i] == 1 ? 0 : position[offset + i];
    return from;
  });
  return {};
}

// A view with strides of 0: no kernel.
Cost cost(const Expand&, const CostContext&) {
  return {};
}

}  // namespace joulecast
