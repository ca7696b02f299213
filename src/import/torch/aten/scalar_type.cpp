// SPDX-License-Identifier: Apache-2.0
#include "import/torch/aten/scalar_type.h"

#include <array>

namespace joulecast::aten {

ElementType element_of(std::int64_t number) {
  constexpr std::array kFirst{ElementType::kUnknown,   ElementType::kUInt8,     ElementType::kInt8,
                              ElementType::kInt16,     ElementType::kInt32,     ElementType::kInt64,
                              ElementType::kFloat16,   ElementType::kFloat32,   ElementType::kFloat64,
                              ElementType::kComplex64, ElementType::kComplex64, ElementType::kComplex128,
                              ElementType::kBool,      ElementType::kBFloat16};
  if (number >= 0 && number < static_cast<std::int64_t>(kFirst.size())) return kFirst[static_cast<std::size_t>(number)];
  switch (number) {
    case 28:
      return ElementType::kUInt16;
    case 29:
    case 31:
      return ElementType::kFloat8E4M3;
    case 30:
    case 32:
      return ElementType::kFloat8E5M2;
    case 33:
      return ElementType::kUInt8;  // scales of eight bits of exponent
    case 34:
      return ElementType::kUInt32;
    case 35:
      return ElementType::kUInt64;
    default:
      return ElementType::kUnknown;
  }
}

std::optional<std::int64_t> scalar_type_of(ElementType element) {
  constexpr std::int64_t kNumbers = 36;
  for (std::int64_t number = 0; number < kNumbers; ++number) {
    if (element != ElementType::kUnknown && element_of(number) == element) return number;
  }
  return std::nullopt;
}

}  // namespace joulecast::aten
