// SPDX-License-Identifier: Apache-2.0
// The contents of small tensors as their bytes lie in a file, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "joulecast/tensor.h"

namespace joulecast {

inline constexpr std::size_t kMaxKnownReals = 64;  // longer floating-point tensors are weights

// Whether contents of this type and size are ever looked at: small integers and tiny floating-point tensors.
bool is_kept(ElementType type, std::size_t count);

// Requires: is_kept(type) for some count, and `bytes` holds `count` elements.
Contents read_raw(ElementType type, std::string_view bytes, std::size_t count);

// Half precision and bfloat16 from their bits.
double real_from_bits(ElementType type, std::int64_t bits);

}  // namespace joulecast
