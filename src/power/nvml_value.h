// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "power/nvml_abi.h"

namespace joulecast {

// The number a tagged value holds, as a whole number; absent for types that came after us and for what does not fit.
inline std::optional<std::int64_t> whole(nvml::ValueType type, const nvml::Value& value) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  switch (type) {
    case nvml::ValueType::kDouble:
      if (!std::isfinite(value.as_double) || std::abs(value.as_double) > 9e18) return std::nullopt;
      return std::llround(value.as_double);
    case nvml::ValueType::kUnsignedInt:
      return value.as_uint;
    case nvml::ValueType::kUnsignedLong:
    case nvml::ValueType::kUnsignedLongLong:
      if (value.as_ulong_long > kMost) return std::nullopt;
      return static_cast<std::int64_t>(value.as_ulong_long);
    case nvml::ValueType::kSignedLongLong:
      return value.as_long_long;
    case nvml::ValueType::kSignedInt:
      return value.as_int;
    case nvml::ValueType::kUnsignedShort:
      return value.as_ushort;
  }
  return std::nullopt;
}

}  // namespace joulecast
