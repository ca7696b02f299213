// SPDX-License-Identifier: Apache-2.0
#include "recording/packed.h"

namespace joulecast::recording {
namespace {

constexpr int kBitsOfByte = 7;

template <typename T>
void append_fixed(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

template <typename T>
std::optional<T> take_fixed(std::string_view& rest) {
  if (rest.size() < sizeof(T)) return std::nullopt;
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<unsigned char>(rest[i])) << (8 * i);
  rest.remove_prefix(sizeof(T));
  return value;
}

}  // namespace

void append_varint(std::string& out, std::uint64_t value) {
  for (; value > 0x7F; value >>= kBitsOfByte) out += static_cast<char>((value & 0x7F) | 0x80);
  out += static_cast<char>(value);
}

void append_signed(std::string& out, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  append_varint(out, bits << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void append_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out += text;
}

void append_fixed32(std::string& out, std::uint32_t value) {
  append_fixed(out, value);
}

std::optional<std::uint64_t> Unpacker::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += kBitsOfByte) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) return std::nullopt;
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> Unpacker::signed_varint() {
  const auto bits = varint();
  if (!bits) return std::nullopt;
  return static_cast<std::int64_t>(*bits >> 1 ^ (~(*bits & 1) + 1));
}

std::optional<std::string_view> Unpacker::text() {
  const auto size = varint();
  if (!size || *size > rest_.size()) return std::nullopt;
  const std::string_view text = rest_.substr(0, *size);
  rest_.remove_prefix(*size);
  return text;
}

std::optional<std::uint32_t> Unpacker::fixed32() {
  return take_fixed<std::uint32_t>(rest_);
}

std::optional<std::uint64_t> Unpacker::fixed64() {
  return take_fixed<std::uint64_t>(rest_);
}

}  // namespace joulecast::recording
