// SPDX-License-Identifier: Apache-2.0
#include "import/raw_data.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace joulecast {
namespace {

bool has_readable_integers(ElementType type) {
  return type == ElementType::kBool || (is_integer(type) && bit_width(type) >= 8);
}
bool has_readable_reals(ElementType type) {
  return type == ElementType::kFloat64 || type == ElementType::kFloat32 || type == ElementType::kFloat16 ||
         type == ElementType::kBFloat16;
}

// IEEE 754 binary16.
double half_to_double(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10U) & 0x1F;
  const int mantissa = bits & 0x3FF;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  if (exponent == 31) return mantissa == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double bfloat_to_double(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
}

// The files are little-endian, and so is every machine we build for.
static_assert(std::endian::native == std::endian::little);
template <typename T>
T load(std::string_view bytes, std::size_t i) {
  T out;
  std::memcpy(&out, bytes.data() + i * sizeof(T), sizeof(T));
  return out;
}

double load_real(ElementType type, std::string_view bytes, std::size_t i) {
  switch (type) {
    case ElementType::kFloat64:
      return load<double>(bytes, i);
    case ElementType::kFloat32:
      return static_cast<double>(load<float>(bytes, i));
    case ElementType::kFloat16:
      return half_to_double(load<std::uint16_t>(bytes, i));
    default:
      return bfloat_to_double(load<std::uint16_t>(bytes, i));
  }
}

std::int64_t load_integer(ElementType type, std::string_view bytes, std::size_t i) {
  switch (type) {
    case ElementType::kInt64:
    case ElementType::kUInt64:
      return load<std::int64_t>(bytes, i);
    case ElementType::kInt32:
      return load<std::int32_t>(bytes, i);
    case ElementType::kUInt32:
      return load<std::uint32_t>(bytes, i);
    case ElementType::kInt16:
      return load<std::int16_t>(bytes, i);
    case ElementType::kUInt16:
      return load<std::uint16_t>(bytes, i);
    case ElementType::kInt8:
      return load<std::int8_t>(bytes, i);
    case ElementType::kBool:
      return load<std::uint8_t>(bytes, i) != 0 ? 1 : 0;
    default:
      return load<std::uint8_t>(bytes, i);
  }
}

}  // namespace

bool is_kept(ElementType type, std::size_t count) {
  return (has_readable_integers(type) && count <= kMaxKnownElements) ||
         (has_readable_reals(type) && count <= kMaxKnownReals);
}

Contents read_raw(ElementType type, std::string_view bytes, std::size_t count) {
  Contents out;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_floating(type)) {
      out.reals.push_back(load_real(type, bytes, i));
    } else {
      out.ints.push_back(load_integer(type, bytes, i));
    }
  }
  return out;
}

double real_from_bits(ElementType type, std::int64_t bits) {
  const auto low = static_cast<std::uint16_t>(bits);
  return type == ElementType::kFloat16 ? half_to_double(low) : bfloat_to_double(low);
}

}  // namespace joulecast
