// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

// The value as one of the element type, where a known integer or real can hold it.
std::optional<Contents> contents_of(const Fill& op, std::size_t count) {
  Contents out;
  if (is_floating(op.element)) {
    out.reals.assign(count, op.value);
    return out;
  }
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  const bool whole = is_integer(op.element) || op.element == ElementType::kBool;
  if (!whole || !(op.value >= -kLimit && op.value < kLimit) || std::trunc(op.value) != op.value) return std::nullopt;
  out.ints.assign(count, static_cast<std::int64_t>(op.value));
  return out;
}

}  // namespace

Result<void> infer(const Fill& op, InferContext& context) {
  JC_ASSIGN_OR_RETURN(const auto extents, context.ints(0, "shape"));
  if (extents.size() > kMaxRank) return unsupported(fmt::format("rank {} is more than {}", extents.size(), kMaxRank));
  Shape shape;
  for (const std::int64_t extent : extents) shape.push_back(extent);
  JC_RETURN_IF_ERROR(context.set(0, op.element, shape));
  if (!followable_shape(shape)) return {};
  if (auto contents = contents_of(op, static_cast<std::size_t>(*checked_elements(shape)))) {
    context.set_known(0, *std::move(contents));
  }
  return {};
}

// Written, never read: the shape is known on the host.
Cost cost(const Fill&, const CostContext& context) {
  Cost cost;
  cost.forward_written = output_bytes(context);
  return cost;
}

}  // namespace joulecast
