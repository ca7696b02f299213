// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

Result<InlineVector<std::size_t, kMaxRank>> resolve(const Transpose& op, std::size_t rank) {
  if (!op.order.empty()) {
    if (op.order.size() != rank) return invalid(fmt::format("order of {} axes for rank {}", op.order.size(), rank));
    return distinct_axes(op.order, rank);
  }
  InlineVector<std::size_t, kMaxRank> reversed;
  for (std::size_t i = rank; i-- > 0;) reversed.push_back(i);
  return reversed;
}

}  // namespace

Result<void> infer(const Transpose& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  const Shape& x = context.shape(0);
  JC_ASSIGN_OR_RETURN(const auto order, resolve(op, x.size()));
  Shape shape;
  for (const std::size_t axis : order) shape.push_back(x[axis]);
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  follow_elements(context, 0, shape, [&](const Position& position) {
    Position from(position.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) from[order[i]] = position[i];
    return from;
  });
  return {};
}

// A view: no kernel. Where somebody needs the tensor contiguous, lowering adds the copy.
Cost cost(const Transpose& op, const CostContext& context) {
  return op.contiguous ? copy_cost(context, context.input(0).bytes(), output_bytes(context)) : Cost{};
}

}  // namespace joulecast
