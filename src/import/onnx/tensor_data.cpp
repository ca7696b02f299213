// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/tensor_data.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <protozero/iterators.hpp>
#include <utility>

#include "import/onnx/text.h"

namespace joulecast::onnx {
namespace {

// Indexed by TensorProto.DataType of onnx.proto. The FNUZ variants of the 8-bit types differ in their special values
// only. Missing: 2-bit integers, 6-bit floats and E8M0, which no runtime computes with.
constexpr std::array kElementTypes{
    ElementType::kUnknown,    ElementType::kFloat32,    ElementType::kUInt8,      ElementType::kInt8,
    ElementType::kUInt16,     ElementType::kInt16,      ElementType::kInt32,      ElementType::kInt64,
    ElementType::kString,     ElementType::kBool,       ElementType::kFloat16,    ElementType::kFloat64,
    ElementType::kUInt32,     ElementType::kUInt64,     ElementType::kComplex64,  ElementType::kComplex128,
    ElementType::kBFloat16,   ElementType::kFloat8E4M3, ElementType::kFloat8E4M3, ElementType::kFloat8E5M2,
    ElementType::kFloat8E5M2, ElementType::kUInt4,      ElementType::kInt4,       ElementType::kFloat4,
};

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

// ONNX files are little-endian, and so is every machine we build for.
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

tl::unexpected<Error> mismatch(const TensorView& tensor, std::size_t have, std::string_view unit, std::size_t want) {
  return invalid(fmt::format("tensor '{}': has {} {} of data, its dimensions {} ask for {}", printable(tensor.name),
                             have, unit, text(tensor.type.shape), want));
}

// Half precision is kept as its bits in the list of integers.
double real_from_bits(ElementType type, std::int64_t bits) {
  const auto low = static_cast<std::uint16_t>(bits);
  return type == ElementType::kFloat16 ? half_to_double(low) : bfloat_to_double(low);
}

}  // namespace

ElementType element_type(std::int64_t data_type) {
  if (data_type < 0 || data_type >= static_cast<std::int64_t>(kElementTypes.size())) return ElementType::kUnknown;
  return kElementTypes[static_cast<std::size_t>(data_type)];
}

void TensorData::add_dimension(std::int64_t extent) {
  too_many_axes_ = too_many_axes_ || shape_.full();
  shape_.push_back(extent);
}

void TensorData::add_packed(Packed kind, std::string_view bytes) {
  packed_kind_ = kind;
  packed_ = bytes;
}

// One entry more than is ever decoded, so that too many are noticed.
void TensorData::add_real(double value) {
  if (reals_.size() <= kMaxKnownElements) reals_.push_back(value);
}
void TensorData::add_integer(std::int64_t value) {
  if (integers_.size() <= kMaxKnownElements) integers_.push_back(value);
}

Result<Shape> TensorData::shape(std::string_view name) const {
  if (too_many_axes_) return unsupported(fmt::format("tensor '{}': more than {} axes", printable(name), kMaxRank));
  if (!checked_elements(shape_)) {
    return invalid(fmt::format("tensor '{}': dimensions {} are not those of a tensor", printable(name), text(shape_)));
  }
  return shape_;
}

Result<std::optional<Contents>> TensorData::decode(const TensorView& tensor) const {
  const auto count = static_cast<std::size_t>(tensor.type.elements());
  const int bits = bit_width(tensor.type.element);
  if (!raw.empty() && bits > 0) {
    const std::size_t bytes = (count * static_cast<std::size_t>(bits) + 7) / 8;
    if (raw.size() != bytes) return mismatch(tensor, raw.size(), "bytes", bytes);
  }
  if (count == 0) return std::optional<Contents>(Contents{});
  if (external) return std::optional<Contents>();
  const bool small = (has_readable_integers(tensor.type.element) && count <= kMaxKnownElements) ||
                     (has_readable_reals(tensor.type.element) && count <= kMaxKnownReals);
  if (!small) return std::optional<Contents>();
  return raw.empty() ? decode_lists(tensor, count) : decode_raw(tensor, count);
}

Result<std::optional<Contents>> TensorData::decode_raw(const TensorView& tensor, std::size_t count) const {
  Contents out;
  const ElementType type = tensor.type.element;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_floating(type)) {
      out.reals.push_back(load_real(type, raw, i));
    } else {
      out.ints.push_back(load_integer(type, raw, i));
    }
  }
  return std::optional<Contents>(std::move(out));
}

Result<std::optional<Contents>> TensorData::decode_lists(const TensorView& tensor, std::size_t count) const {
  std::vector<double> reals = reals_;
  std::vector<std::int64_t> integers = integers_;
  if (packed_kind_ == Packed::kFloat || packed_kind_ == Packed::kDouble) {
    const std::size_t size = packed_kind_ == Packed::kFloat ? sizeof(float) : sizeof(double);
    if (packed_.size() != count * size) return mismatch(tensor, packed_.size(), "bytes", count * size);
    const ElementType as = packed_kind_ == Packed::kFloat ? ElementType::kFloat32 : ElementType::kFloat64;
    for (std::size_t i = 0; i < count; ++i) reals.push_back(load_real(as, packed_, i));
  }
  if (packed_kind_ == Packed::kVarint) {
    const char* const end = packed_.data() + packed_.size();
    using Iterator = protozero::const_varint_iterator<std::int64_t>;
    for (Iterator it(packed_.data(), end); it != Iterator(end, end) && integers.size() <= count; ++it) {
      integers.push_back(*it);
    }
  }
  if (reals.empty() && integers.empty()) return std::optional<Contents>();  // stripped
  const bool floating = is_floating(tensor.type.element);
  if (floating && reals.empty()) {
    for (const std::int64_t bits : integers) reals.push_back(real_from_bits(tensor.type.element, bits));
  }
  const std::size_t have = floating ? reals.size() : integers.size();
  if (have != count) return mismatch(tensor, have, "entries", count);
  Contents out;
  if (floating) {
    out.reals = std::move(reals);
  } else {
    out.ints = std::move(integers);
  }
  return std::optional<Contents>(std::move(out));
}

}  // namespace joulecast::onnx
