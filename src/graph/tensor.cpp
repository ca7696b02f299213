// SPDX-License-Identifier: Apache-2.0
#include "joulecast/tensor.h"

#include <array>
#include <cstddef>

namespace joulecast {
namespace {

enum class Family : std::uint8_t { kOther, kFloat, kInteger };

struct ElementInfo {
  std::string_view name;
  int bits;
  Family family;
};

// In the order of ElementType.
constexpr std::array<ElementInfo, 22> kElements{{
    {"?", 0, Family::kOther},      {"f64", 64, Family::kFloat},   {"f32", 32, Family::kFloat},
    {"f16", 16, Family::kFloat},   {"bf16", 16, Family::kFloat},  {"f8e4m3", 8, Family::kFloat},
    {"f8e5m2", 8, Family::kFloat}, {"f4", 4, Family::kFloat},     {"i64", 64, Family::kInteger},
    {"i32", 32, Family::kInteger}, {"i16", 16, Family::kInteger}, {"i8", 8, Family::kInteger},
    {"i4", 4, Family::kInteger},   {"u64", 64, Family::kInteger}, {"u32", 32, Family::kInteger},
    {"u16", 16, Family::kInteger}, {"u8", 8, Family::kInteger},   {"u4", 4, Family::kInteger},
    {"bool", 8, Family::kOther},   {"c64", 64, Family::kOther},   {"c128", 128, Family::kOther},
    {"string", 0, Family::kOther},
}};
static_assert(kElements.size() == static_cast<std::size_t>(ElementType::kString) + 1);

const ElementInfo& info(ElementType type) {
  return kElements[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view name(ElementType type) {
  return info(type).name;
}

std::optional<ElementType> parse_element_type(std::string_view text) {
  for (std::size_t i = 0; i < kElements.size(); ++i) {
    if (kElements[i].name == text) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

int bit_width(ElementType type) {
  return info(type).bits;
}
bool is_floating(ElementType type) {
  return info(type).family == Family::kFloat;
}
bool is_integer(ElementType type) {
  return info(type).family == Family::kInteger;
}

std::string text(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string out;
  for (const std::int64_t extent : shape) {
    if (!out.empty()) out += 'x';
    out += std::to_string(extent);
  }
  return out;
}

std::optional<std::int64_t> checked_elements(const Shape& shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (count > kMaxElements / extent) return std::nullopt;
    count *= extent;
  }
  return empty ? 0 : count;
}

}  // namespace joulecast
