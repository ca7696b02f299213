// SPDX-License-Identifier: Apache-2.0
// Counts of hostile files: the largest number stands for all beyond it.
#pragma once

#include <cstdint>
#include <limits>

namespace joulecast {

// Requires: none is negative.
inline std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}
inline std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}

}  // namespace joulecast
