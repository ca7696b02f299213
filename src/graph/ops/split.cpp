// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "graph/infer_context.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

// Equal parts as in ONNX: all but the last are ceil(extent / parts) long.
IntList equal_parts(std::int64_t extent, std::size_t parts) {
  IntList sizes;
  const auto count = static_cast<std::int64_t>(parts);
  const std::int64_t size = extent / count + (extent % count != 0 ? 1 : 0);
  for (std::int64_t left = extent; sizes.size() < parts; left -= sizes.back()) sizes.push_back(std::min(size, left));
  return sizes;
}

Result<IntList> part_sizes(const Split& op, const InferContext& context, std::int64_t extent) {
  const std::size_t parts = context.output_count();
  if (parts == 0) return invalid("a split has at least one output");
  IntList sizes = op.sizes;
  if (context.has(1)) {
    JC_ASSIGN_OR_RETURN(const auto given, context.ints(1, "sizes"));
    sizes.assign(given.begin(), given.end());
  }
  if (sizes.empty()) return equal_parts(extent, parts);
  if (sizes.size() != parts) return invalid(fmt::format("{} sizes for {} outputs", sizes.size(), parts));
  std::int64_t left = extent;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > left) return invalid(fmt::format("sizes do not fit an axis of {} elements", extent));
    left -= size;
  }
  if (left != 0) return invalid(fmt::format("sizes leave {} of {} elements over", left, extent));
  return sizes;
}

}  // namespace

Result<void> infer(const Split& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_ASSIGN_OR_RETURN(const std::size_t axis, normalize_axis(op.axis, context.shape(0).size()));
  Shape shape = context.shape(0);
  JC_ASSIGN_OR_RETURN(const IntList sizes, part_sizes(op, context, shape[axis]));
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shape[axis] = sizes[i];
    JC_RETURN_IF_ERROR(context.set(i, context.input(0).element, shape));
    follow_elements(context, i, shape, [&](Position position) {
      position[axis] += begin;
      return position;
    });
    begin += sizes[i];
  }
  return {};
}

// Views: no kernel.
Cost cost(const Split&, const CostContext&) {
  return {};
}

}  // namespace joulecast
