// SPDX-License-Identifier: Apache-2.0
// For tests and fuzzing: gives changed bytes right checksums again, so that what lies behind the checksums is reached.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "predict/pack/hash.h"
#include "predict/pack/layout.h"

namespace joulecast {

inline void reseal(std::span<std::byte> bytes) {
  using namespace pack_layout;
  Header header{};
  if (bytes.size() < sizeof(header)) return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::size_t room = (bytes.size() - sizeof(header)) / sizeof(Section);
  const std::size_t count = std::min<std::size_t>(header.section_count, room);
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const at = bytes.data() + sizeof(Header) + i * sizeof(Section);
    Section section{};
    std::memcpy(&section, at, sizeof(section));
    if (section.offset > bytes.size() || section.size > bytes.size() - section.offset) continue;
    section.checksum = xxh64(bytes.subspan(section.offset, section.size));
    std::memcpy(at, &section, sizeof(section));
  }
  header.file_size = bytes.size();
  header.checksum = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.checksum = xxh64(bytes.first(sizeof(Header) + count * sizeof(Section)));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

}  // namespace joulecast
