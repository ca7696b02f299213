// SPDX-License-Identifier: Apache-2.0
// Checks of inputs that several operators make, and arithmetic that cannot overflow.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/infer_context.h"

namespace joulecast {

inline std::optional<std::int64_t> checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

// Input i is there and its rank is within [least, most].
inline Result<void> require_rank(const InferContext& context, std::size_t i, std::string_view what, std::size_t least,
                                 std::size_t most = kMaxRank) {
  JC_RETURN_IF_ERROR(context.require(i, what));
  const std::size_t rank = context.shape(i).size();
  if (rank >= least && rank <= most) return {};
  if (least == most) return invalid(fmt::format("{} has rank {}, expected {}", what, rank, least));
  return invalid(fmt::format("{} has rank {}, expected {} to {}", what, rank, least, most));
}

// Input i, where it is there, has exactly this shape.
inline Result<void> expect_shape(const InferContext& context, std::size_t i, std::string_view what,
                                 const Shape& wanted) {
  if (!context.has(i) || context.shape(i) == wanted) return {};
  return invalid(fmt::format("{} has shape {}, expected {}", what, text(context.shape(i)), text(wanted)));
}

// Input i, where it is there, broadcasts to `to` without making it larger.
inline Result<void> expect_broadcast(const InferContext& context, std::size_t i, std::string_view what,
                                     const Shape& to) {
  if (!context.has(i)) return {};
  const auto both = broadcast(context.shape(i), to);
  if (both && *both == to) return {};
  return invalid(fmt::format("{} of shape {} does not broadcast to {}", what, text(context.shape(i)), text(to)));
}

}  // namespace joulecast
