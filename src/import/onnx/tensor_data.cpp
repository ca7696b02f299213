// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/tensor_data.h"

#include <fmt/format.h>

#include <array>
#include <protozero/iterators.hpp>
#include <utility>

#include "import/raw_data.h"
#include "import/text.h"

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

tl::unexpected<Error> mismatch(const TensorView& tensor, std::size_t have, std::string_view unit, std::size_t want) {
  return invalid(fmt::format("tensor '{}': has {} {} of data, its dimensions {} ask for {}", printable(tensor.name),
                             have, unit, text(tensor.type.shape), want));
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
  if (!is_kept(tensor.type.element, count)) return std::optional<Contents>();
  if (raw.empty()) return decode_lists(tensor, count);
  return std::optional(read_raw(tensor.type.element, raw, count));
}

Result<std::optional<Contents>> TensorData::decode_lists(const TensorView& tensor, std::size_t count) const {
  std::vector<double> reals = reals_;
  std::vector<std::int64_t> integers = integers_;
  if (packed_kind_ == Packed::kFloat || packed_kind_ == Packed::kDouble) {
    const std::size_t size = packed_kind_ == Packed::kFloat ? sizeof(float) : sizeof(double);
    if (packed_.size() != count * size) return mismatch(tensor, packed_.size(), "bytes", count * size);
    const ElementType as = packed_kind_ == Packed::kFloat ? ElementType::kFloat32 : ElementType::kFloat64;
    const Contents more = read_raw(as, packed_, count);
    reals.insert(reals.end(), more.reals.begin(), more.reals.end());
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
