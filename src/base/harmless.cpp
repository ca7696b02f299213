// SPDX-License-Identifier: Apache-2.0
#include "base/harmless.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace joulecast {
namespace {

struct Range {
  char32_t first, last;
};

// Unicode 15, category Cc whole; of Cf, Zl and Zp what is not seen, but for the joiners U+200C and U+200D.
constexpr std::array kHarmful{
    Range{0x0, 0x1F},        Range{0x7F, 0x9F},       Range{0xAD, 0xAD},        // controls, soft hyphen
    Range{0x61C, 0x61C},     Range{0x180E, 0x180E},   Range{0x200B, 0x200B},    // Arabic mark, invisible separators
    Range{0x200E, 0x200F},   Range{0x2028, 0x202E},   Range{0x2060, 0x206F},    // marks, embeddings, isolates
    Range{0xFEFF, 0xFEFF},   Range{0xFFF9, 0xFFFB},   Range{0x1BCA0, 0x1BCA3},  // byte order, annotations, shorthand
    Range{0x1D173, 0x1D17A}, Range{0xE0000, 0xE0FFF},                           // notes, tags and what selects forms
};

struct Decoded {
  char32_t character = 0;
  std::size_t size = 1;
};

// Of the beginning of a text that is not empty; absent where that is no UTF-8 (RFC 3629).
std::optional<Decoded> decoded(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};  // of so many bytes
  if (byte(0) < 0x80) return Decoded{byte(0), 1};
  const std::size_t size = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < size) return std::nullopt;
  char32_t character = byte(0) & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    character = character << 6 | (byte(i) & 0x3FU);
  }
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  if (character < kLeast[size] || character > 0x10FFFF || surrogate) return std::nullopt;
  return Decoded{character, size};
}

bool harmful(char32_t character) {
  return std::any_of(kHarmful.begin(), kHarmful.end(),
                     [&](const Range& range) { return character >= range.first && character <= range.last; });
}

std::string replaced(std::string_view text, std::string_view instead, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto next = decoded(text);
    const std::size_t size = next ? next->size : 1;
    const bool stays = next && (!harmful(next->character) || kept.find(text.front()) != std::string_view::npos);
    out += stays ? text.substr(0, size) : instead;
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

std::string harmless_text(std::string_view text) {
  return replaced(text, "\uFFFD", "\t\n");
}

std::string harmless_line(std::string_view text, std::string_view instead) {
  return replaced(text, instead, {});
}

}  // namespace joulecast
