// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

Result<InlineVector<std::size_t, kMaxRank>> padded_axes(const InferContext& context, std::size_t rank) {
  if (context.has(3)) {
    JC_ASSIGN_OR_RETURN(const auto axes, context.ints(3, "axes"));
    return distinct_axes(axes, rank);
  }
  const Shape all{0, 1, 2, 3, 4, 5, 6, 7};
  return distinct_axes(all.span().first(rank), rank);
}

}  // namespace

// Negative pads cut off.
Result<void> infer(const Pad&, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_ASSIGN_OR_RETURN(const auto pads, context.ints(1, "pads"));
  Shape shape = context.shape(0);
  JC_ASSIGN_OR_RETURN(const auto axes, padded_axes(context, shape.size()));
  if (pads.size() != 2 * axes.size()) return invalid(fmt::format("{} pads for {} axes", pads.size(), axes.size()));
  bool unchanged = true;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t begin = pads[i];
    const std::int64_t end = pads[axes.size() + i];
    std::int64_t& extent = shape[axes[i]];
    if (__builtin_add_overflow(extent, begin, &extent) || __builtin_add_overflow(extent, end, &extent)) {
      return invalid(fmt::format("pads {} and {} are absurd", begin, end));
    }
    unchanged = unchanged && begin == 0 && end == 0;
  }
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  // What the padding holds is not said here: it may be reflected.
  if (unchanged) follow_unchanged(context);
  return {};
}

Cost cost(const Pad&, const CostContext& context) {
  Cost cost = copy_cost(context, context.input(0).bytes(), output_bytes(context));
  if (is_floating(context.input(0).element)) cost.backward_written = context.input(0).bytes();
  return cost;
}

}  // namespace joulecast
