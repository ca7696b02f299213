// SPDX-License-Identifier: Apache-2.0
// The constants of the predictor pack, shared by reader and writer; docs/formats/pack.md describes it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace joulecast::pack_layout {

static_assert(std::endian::native == std::endian::little, "packs are little endian and read in place");

// The carriage return and line feed show a file that was transferred as text.
inline constexpr std::array<char, 8> kMagic = {'J', 'C', 'P', 'A', 'C', 'K', '\r', '\n'};
inline constexpr std::uint32_t kVersion = 1;

// Magic and version keep their places in every version to come.
struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t section_count;
  std::uint64_t file_size;
  std::uint64_t checksum;  // XXH64 of header and directory, this field taken as 0
};
static_assert(sizeof(Header) == 32);

enum class SectionKind : std::uint32_t { kForest = 1, kTable = 2, kJson = 3 };

// The directory follows the header, sorted by kind and name; the sections follow in the same order, each at the next
// multiple of kSectionAlignment, zeros between, the last one ending the file.
struct Section {
  std::array<char, 64> name;  // at most 63 bytes, rest 0
  SectionKind kind;
  std::uint32_t reserved;  // 0
  std::uint64_t offset;    // bytes from the start of the file
  std::uint64_t size;
  std::uint64_t checksum;  // XXH64 of its bytes
};
static_assert(sizeof(Section) == 96);
inline constexpr std::size_t kSectionAlignment = 64;
inline constexpr std::size_t kMaxSections = 4096;

// A table: this, `count` doubles, `count` ends of keys (each as an offset into the text, its start is the end before),
// the text. Keys are sorted.
struct TableHeader {
  std::uint32_t count;
  std::uint32_t text_size;
};
static_assert(sizeof(TableHeader) == 8);

constexpr std::size_t aligned(std::size_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

}  // namespace joulecast::pack_layout
