// SPDX-License-Identifier: Apache-2.0
#include "store/content_hash.h"

#define XXH_INLINE_ALL  // no library at run time
#include <xxhash.h>

#include <bit>
#include <string>

namespace joulecast {
namespace {

void append_bits(std::string& out, std::uint64_t bits) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(bits >> shift & 0xFF);
}

// One byte of kind, then little-endian bits or a length and the text: nothing runs into its neighbour.
void append(std::string& out, const Measurement::Cell& cell) {
  out += static_cast<char>(cell.index());
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) append_bits(out, static_cast<std::uint64_t>(*integer));
  if (const auto* real = std::get_if<double>(&cell)) append_bits(out, std::bit_cast<std::uint64_t>(*real));
  if (const auto* text = std::get_if<std::string>(&cell)) {
    append_bits(out, text->size());
    out += *text;
  }
}

RowKey hash128(const std::string& bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {static_cast<std::int64_t>(hash.high64), static_cast<std::int64_t>(hash.low64)};
}

}  // namespace

RowKey identity_hash(const Measurement& row) {
  std::string bytes;
  for (const Column column : all_columns()) {
    if (info(column).identity) append(bytes, row.cell(column));
  }
  return hash128(bytes);
}

RowKey row_key(const RowKey& identity, std::int64_t occurrence) {
  if (occurrence == 0) return identity;
  std::string bytes;
  for (const std::int64_t part : {identity.high, identity.low, occurrence}) {
    append_bits(bytes, static_cast<std::uint64_t>(part));
  }
  return hash128(bytes);
}

std::int64_t home_id(const Measurement& row, ColumnHome home) {
  std::string bytes;
  for (const Column column : all_columns()) {
    if (info(column).home == home) append(bytes, row.cell(column));
  }
  return static_cast<std::int64_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

}  // namespace joulecast
