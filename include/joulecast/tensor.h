// SPDX-License-Identifier: Apache-2.0
// Element types, shapes and the contents of small constant tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/inline_vector.h"
#include "joulecast/units.h"

namespace joulecast {

enum class ElementType : std::uint8_t {
  kUnknown,
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat8E4M3,
  kFloat8E5M2,
  kFloat4,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kInt4,
  kUInt64,
  kUInt32,
  kUInt16,
  kUInt8,
  kUInt4,
  kBool,
  kComplex64,
  kComplex128,
  kString,
};

// "f32", "bf16", "i64", "bool", ...; "?" for kUnknown.
std::string_view name(ElementType type);
std::optional<ElementType> parse_element_type(std::string_view text);
// 0 for kUnknown and kString, whose size no type tells.
int bit_width(ElementType type);
bool is_floating(ElementType type);
bool is_integer(ElementType type);  // without bool

inline constexpr std::size_t kMaxRank = 8;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;

using Shape = InlineVector<std::int64_t, kMaxRank>;  // extents, outermost first
using Extents = InlineVector<std::int64_t, 3>;       // one entry per spatial axis

// "2x3x224x224"; "scalar" for rank 0.
std::string text(const Shape& shape);

struct TensorType {
  ElementType element = ElementType::kUnknown;
  Shape shape;

  bool operator==(const TensorType&) const = default;

  // Requires: checked by infer_types (the product fits).
  [[nodiscard]] std::int64_t elements() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    return count;
  }
  [[nodiscard]] Bytes bytes() const { return Bytes{static_cast<double>(elements()) * bit_width(element) / 8.0}; }
};

// Product of the extents; nothing if one is negative or the product exceeds kMaxElements.
std::optional<std::int64_t> checked_elements(const Shape& shape);

// The contents of a small tensor, in row-major order. Integers and booleans are in `ints`, the rest in `reals`.
struct Contents {
  std::vector<std::int64_t> ints;
  std::vector<double> reals;

  bool operator==(const Contents&) const = default;
};
// Larger tensors are never followed through the integer arithmetic of shapes.
inline constexpr std::size_t kMaxKnownElements = 1024;

}  // namespace joulecast
