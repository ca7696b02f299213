// SPDX-License-Identifier: Apache-2.0
// Small zip archives for tests, right or wrong.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast {

struct ZipOddities {
  std::uint16_t method = 0, flags = 0;
  std::optional<std::uint32_t> size;  // as both sizes, whatever the member has
};

// What a deflated member says of itself that is not so.
struct ZipLies {
  int more = 0;                   // bytes when inflated
  std::uint32_t less_stored = 0;  // bytes in the archive
  std::optional<std::string_view> checksum_of = std::nullopt;
};

class ZipWriter {
 public:
  void add(std::string_view name, std::string_view content, const ZipOddities& odd = {}) {
    const auto size = odd.size.value_or(static_cast<std::uint32_t>(content.size()));
    write(name, content, odd.method, odd.flags, size, size);
  }
  void add_deflated(std::string_view name, std::string_view content, const ZipLies& lies = {}) {
    const std::string packed = deflated(content);
    write(name, packed, 8, 0, static_cast<std::uint32_t>(packed.size()) - lies.less_stored,
          static_cast<std::uint32_t>(static_cast<int>(content.size()) + lies.more));
    entries_.back().checksum = checksum(lies.checksum_of.value_or(content));
  }

  [[nodiscard]] std::string finish() const {
    std::string out = bytes_;
    for (const Entry& entry : entries_) append_entry(out, entry, false);
    append_end(out, static_cast<std::uint16_t>(entries_.size()), static_cast<std::uint32_t>(out.size() - bytes_.size()),
               static_cast<std::uint32_t>(bytes_.size()));
    return out;
  }
  // The same, every number in the records for large archives.
  [[nodiscard]] std::string finish_zip64() const {
    std::string out = bytes_;
    for (const Entry& entry : entries_) append_entry(out, entry, true);
    const std::uint64_t end = out.size();
    out += "PK\x06\x06";
    append(out, 44, 8);
    append(out, 45, 2);
    append(out, 45, 2);
    append(out, 0, 8);  // disks
    append(out, entries_.size(), 8);
    append(out, entries_.size(), 8);
    append(out, end - bytes_.size(), 8);
    append(out, bytes_.size(), 8);
    out += "PK\x06\x07";
    append(out, 0, 4);
    append(out, end, 8);
    append(out, 1, 4);
    append_end(out, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF);
    return out;
  }

 private:
  struct Entry {
    std::string name;
    std::uint16_t method, flags;
    std::uint32_t stored, size;
    std::uint64_t offset;
    std::uint32_t checksum = 0;
  };

  static std::uint32_t checksum(std::string_view content) {
    const std::string bytes(content);
    return static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()),
                                            static_cast<uInt>(bytes.size())));  // NOLINT: zlib's byte
  }

  static void append(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(i < 8 ? value >> (8 * i) & 0xFFU : 0);
  }
  static void append_end(std::string& out, std::uint16_t count, std::uint32_t size, std::uint32_t offset) {
    out += "PK\x05\x06";
    append(out, 0, 4);
    append(out, count, 2);
    append(out, count, 2);
    append(out, size, 4);
    append(out, offset, 4);
    append(out, 0, 2);
  }
  static void append_entry(std::string& out, const Entry& entry, bool zip64) {
    out += "PK\x01\x02";
    append(out, 45, 2);
    append(out, 45, 2);
    append(out, entry.flags, 2);
    append(out, entry.method, 2);
    append(out, 0, 4);  // time, date
    append(out, entry.checksum, 4);
    append(out, zip64 ? 0xFFFFFFFF : entry.stored, 4);
    append(out, zip64 ? 0xFFFFFFFF : entry.size, 4);
    append(out, entry.name.size(), 2);
    append(out, zip64 ? 28 : 0, 2);
    append(out, 0, 10);  // comment, disk, attributes
    append(out, zip64 ? 0xFFFFFFFF : entry.offset, 4);
    out += entry.name;
    if (!zip64) return;
    append(out, 1, 2);
    append(out, 24, 2);
    append(out, entry.size, 8);
    append(out, entry.stored, 8);
    append(out, entry.offset, 8);
  }

  void write(std::string_view name, std::string_view stored, std::uint16_t method, std::uint16_t flags,
             std::uint32_t stored_size, std::uint32_t size) {
    entries_.push_back({std::string(name), method, flags, stored_size, size, bytes_.size(), 0});
    bytes_ += "PK\x03\x04";
    append(bytes_, 45, 2);
    append(bytes_, flags, 2);
    append(bytes_, method, 2);
    append(bytes_, 0, 8);
    append(bytes_, stored_size, 4);
    append(bytes_, size, 4);
    append(bytes_, name.size(), 2);
    append(bytes_, 0, 2);
    bytes_ += name;
    bytes_ += stored;
  }

  static std::string deflated(std::string_view content) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string in(content);
    std::string out(deflateBound(&stream, in.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(in.data());  // NOLINT: zlib's type of a byte
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());  // NOLINT
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(out.size() - stream.avail_out);
    deflateEnd(&stream);
    return out;
  }

  std::string bytes_;
  std::vector<Entry> entries_;
};

}  // namespace joulecast
