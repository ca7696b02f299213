// SPDX-License-Identifier: Apache-2.0
// Whole numbers in as few bytes as they need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace joulecast::recording {

// Seven bits a byte, lowest first; the high bit says that more follow.
void append_varint(std::string& out, std::uint64_t value);
// Small magnitudes of either sign stay small.
void append_signed(std::string& out, std::int64_t value);
void append_text(std::string& out, std::string_view text);  // varint length, bytes
void append_fixed32(std::string& out, std::uint32_t value);

// Takes numbers off the front of bytes; nullopt where the bytes end first or a number has more than 64 bits.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  std::optional<std::uint64_t> varint();
  std::optional<std::int64_t> signed_varint();
  std::optional<std::string_view> text();
  std::optional<std::uint32_t> fixed32();
  std::optional<std::uint64_t> fixed64();
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace joulecast::recording
