// SPDX-License-Identifier: Apache-2.0
#include "import/torch/aten/scalar_type.h"

#include <algorithm>
#include <array>
#include <utility>

namespace joulecast::aten {
namespace {

constexpr std::array<std::pair<std::int64_t, ElementType>, 22> kTypes{
    {{0, ElementType::kUInt8},       {1, ElementType::kInt8},        {2, ElementType::kInt16},
     {3, ElementType::kInt32},       {4, ElementType::kInt64},       {5, ElementType::kFloat16},
     {6, ElementType::kFloat32},     {7, ElementType::kFloat64},     {9, ElementType::kComplex64},
     {10, ElementType::kComplex128}, {11, ElementType::kBool},       {12, ElementType::kInt8},  // quantized
     {13, ElementType::kUInt8},      {14, ElementType::kInt32},      {15, ElementType::kBFloat16},
     {23, ElementType::kFloat8E5M2}, {24, ElementType::kFloat8E4M3}, {25, ElementType::kFloat8E5M2},
     {26, ElementType::kFloat8E4M3}, {27, ElementType::kUInt16},     {28, ElementType::kUInt32},
     {29, ElementType::kUInt64}}};

}  // namespace

ElementType element_of(std::int64_t number) {
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.first == number; });
  return found == kTypes.end() ? ElementType::kUnknown : found->second;
}

std::optional<std::int64_t> scalar_type_of(ElementType element) {
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.second == element; });
  return found == kTypes.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace joulecast::aten
