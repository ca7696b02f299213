// SPDX-License-Identifier: Apache-2.0
// The format: PKWARE's APPNOTE.TXT, sections 4.3 (records) and 4.5.3 (zip64).
#include "import/zip.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "import/text.h"

namespace joulecast {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kLocalHeader = "PK\x03\x04"sv;
constexpr std::string_view kDirectoryHeader = "PK\x01\x02"sv;
constexpr std::string_view kDirectoryEnd = "PK\x05\x06"sv;
constexpr std::string_view kDirectoryEnd64 = "PK\x06\x06"sv;
constexpr std::string_view kDirectoryLocator64 = "PK\x06\x07"sv;
constexpr std::size_t kLocalSize = 30, kDirectorySize = 46, kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56;
constexpr std::uint64_t kNotHere16 = 0xFFFF, kNotHere32 = 0xFFFFFFFF;  // the number is in the zip64 record
constexpr std::uint64_t kMaxMembers = 1'000'000;
constexpr std::uint16_t kStored = 0, kDeflated = 8, kEncryptedFlag = 1;
constexpr std::uint16_t kZip64Field = 1;

// Little-endian. Requires: the bytes are there.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t out = 0;
  for (std::size_t i = width; i-- > 0;) out = out << 8U | static_cast<std::uint8_t>(bytes[at + i]);
  return out;
}
std::uint16_t u16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(number(bytes, at, 2));
}
std::uint64_t u32(std::string_view bytes, std::size_t at) {
  return number(bytes, at, 4);
}

// `count` bytes from `at`; nothing where the archive ends before.
std::optional<std::string_view> part(std::string_view bytes, std::uint64_t at, std::uint64_t count) {
  if (at > bytes.size() || count > bytes.size() - at) return std::nullopt;
  return bytes.substr(at, count);
}

struct Directory {
  std::uint64_t offset = 0, size = 0, members = 0;
};

// Behind the end record there may be a comment of up to 64 KiB.
std::optional<std::size_t> find_end(std::string_view bytes) {
  if (bytes.size() < kEndSize) return std::nullopt;
  const std::size_t from = bytes.size() - std::min<std::size_t>(bytes.size(), kEndSize + 0xFFFF);
  const std::size_t at = bytes.substr(from, bytes.size() - from - kEndSize + kDirectoryEnd.size()).rfind(kDirectoryEnd);
  return at == std::string_view::npos ? std::nullopt : std::optional(from + at);
}

Result<Directory> directory64(std::string_view bytes, std::size_t end) {
  const auto locator = end < kLocatorSize ? std::nullopt : part(bytes, end - kLocatorSize, kLocatorSize);
  if (!locator || !locator->starts_with(kDirectoryLocator64)) return invalid("the archive's zip64 record is missing");
  const auto record = part(bytes, number(*locator, 8, 8), kEnd64Size);
  if (!record || !record->starts_with(kDirectoryEnd64)) return invalid("the archive's zip64 record is damaged");
  return Directory{number(*record, 48, 8), number(*record, 40, 8), number(*record, 32, 8)};
}

Result<Directory> find_directory(std::string_view bytes) {
  const auto end = find_end(bytes);
  if (!end) return invalid("the archive has no directory at its end: cut off?");
  const std::string_view record = bytes.substr(*end, kEndSize);
  if (u16(record, 4) != 0 && u16(record, 4) != kNotHere16) return unsupported("is an archive in several parts");
  Directory out{u32(record, 16), u32(record, 12), u16(record, 10)};
  if (out.offset == kNotHere32 || out.size == kNotHere32 || out.members == kNotHere16) {
    JC_ASSIGN_OR_RETURN(out, directory64(bytes, *end));
  }
  if (out.members > kMaxMembers) return unsupported(fmt::format("the archive has {} members", out.members));
  return out;
}

struct Sizes {
  std::uint64_t inflated, stored, offset;
};

// Numbers of 32 bits that were too small are in the extra field, in this order.
Result<void> read_zip64(std::string_view extra, Sizes& sizes) {
  while (extra.size() >= 4) {
    const std::size_t length = u16(extra, 2);
    if (length > extra.size() - 4) break;
    std::string_view field = extra.substr(4, length);
    const bool wanted = u16(extra, 0) == kZip64Field;
    extra.remove_prefix(4 + length);
    if (!wanted) continue;
    for (std::uint64_t* size : {&sizes.inflated, &sizes.stored, &sizes.offset}) {
      if (*size != kNotHere32) continue;
      if (field.size() < 8) return invalid("its zip64 sizes are cut off");
      *size = number(field, 0, 8);
      field.remove_prefix(8);
    }
    return {};
  }
  return {};
}

// The header before the bytes has a name and extra field of its own lengths.
Result<std::string_view> stored_bytes(const ZipMember& member) {
  const std::string_view header = member.record.substr(0, kLocalSize);
  if (!header.starts_with(kLocalHeader)) return invalid("is not where the directory says");
  const auto stored = part(member.record, kLocalSize + u16(header, 26) + u16(header, 28), member.stored_size);
  if (!stored) return invalid("reaches beyond the end of the file: cut off?");
  return *stored;
}

Result<ZipMember> read_member(std::string_view bytes, std::string_view header, std::string_view name,
                              std::string_view extra) {
  Sizes sizes{u32(header, 24), u32(header, 20), u32(header, 42)};
  JC_RETURN_IF_ERROR(read_zip64(extra, sizes));
  ZipMember out;
  out.name = name;
  out.size = sizes.inflated;
  out.checksum = static_cast<std::uint32_t>(u32(header, 16));
  const std::uint16_t method = u16(header, 10);
  out.deflated = method == kDeflated;
  out.readable = (method == kStored || out.deflated) && (u16(header, 8) & kEncryptedFlag) == 0;
  if (sizes.offset > bytes.size() || bytes.size() - sizes.offset < kLocalSize ||
      bytes.size() - sizes.offset - kLocalSize < sizes.stored) {
    return invalid("reaches beyond the end of the file: cut off?");
  }
  out.record = bytes.substr(sizes.offset);
  out.stored_size = sizes.stored;
  if (method == kStored && sizes.stored != sizes.inflated) return invalid("is stored, yet has two sizes");
  return out;
}

}  // namespace

bool ZipMember::fits(std::string_view text) const {
  return text.size() == size && libdeflate_crc32(0, text.data(), text.size()) == checksum;
}

bool ZipArchive::recognises(std::string_view bytes) {
  return bytes.starts_with(kLocalHeader) || bytes.starts_with(kDirectoryEnd);
}

Result<ZipArchive> ZipArchive::open(std::string_view bytes) {
  JC_ASSIGN_OR_RETURN(const Directory directory, find_directory(bytes));
  auto rest = part(bytes, directory.offset, directory.size);
  if (!rest) return invalid("the archive's directory reaches beyond the end of the file");
  ZipArchive out;
  // A member takes bytes in the directory: a wrong count must not reserve memory.
  out.members_.reserve(std::min<std::uint64_t>(directory.members, rest->size() / kDirectorySize));
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    if (!rest->starts_with(kDirectoryHeader) || rest->size() < kDirectorySize) {
      return invalid(fmt::format("member {} of the archive's directory is damaged", i));
    }
    const std::string_view header = rest->substr(0, kDirectorySize);
    const std::size_t name = u16(header, 28);
    const std::size_t extra = u16(header, 30);
    const std::size_t all = kDirectorySize + name + extra + u16(header, 32);
    if (all > rest->size()) return invalid(fmt::format("member {} of the archive's directory is cut off", i));
    const std::string_view names = rest->substr(kDirectorySize, name);
    auto member = read_member(bytes, header, names, rest->substr(kDirectorySize + name, extra));
    if (!member) return tl::unexpected(std::move(member).error().in(fmt::format("member '{}'", printable(names))));
    out.members_.push_back(*member);
    rest->remove_prefix(all);
  }
  return out;
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto it = std::find_if(members_.begin(), members_.end(), [&](const ZipMember& m) { return m.name == name; });
  return it == members_.end() ? nullptr : &*it;
}

const ZipMember* ZipArchive::find_ending(std::string_view ending) const {
  const auto it =
      std::find_if(members_.begin(), members_.end(), [&](const ZipMember& m) { return m.name.ends_with(ending); });
  return it == members_.end() ? nullptr : &*it;
}

namespace {

// No byte of a deflate stream becomes more than this many: a member that says so is damaged, and gets no memory.
constexpr std::uint64_t kMaxRatio = 1032;

struct FreeInflater {
  void operator()(libdeflate_decompressor* inflater) const { libdeflate_free_decompressor(inflater); }
};

// What the decoder may write at a time, and what it reads at a time: closer to an end it goes symbol by symbol, which
// small texts would all the way.
constexpr std::size_t kWrittenAtOnce = 320, kReadAtOnce = 64;

Result<ZipText> inflate(const ZipMember& member, std::string_view stored) {
  const std::uint64_t size = member.size;
  const auto damaged = [] { return invalid("its compressed bytes are damaged"); };
  if (size / kMaxRatio > stored.size()) return damaged();
  // A new one is cleared, which for the small members of TorchScript takes as long as they do.
  thread_local const std::unique_ptr<libdeflate_decompressor, FreeInflater> inflater(libdeflate_alloc_decompressor());
  if (inflater == nullptr) return unsupported("no memory is left to inflate it");
  auto out = std::make_unique_for_overwrite<char[]>(size + kWrittenAtOnce);
  const auto behind =
      static_cast<std::size_t>(member.record.data() + member.record.size() - stored.data()) - stored.size();
  std::size_t read = 0, written = 0;
  const libdeflate_result done =
      libdeflate_deflate_decompress_ex(inflater.get(), stored.data(), stored.size() + std::min(behind, kReadAtOnce),
                                       out.get(), size + kWrittenAtOnce, &read, &written);
  if (done != LIBDEFLATE_SUCCESS || read > stored.size() || written != size) return damaged();
  return ZipText(std::move(out), size);
}

}  // namespace

Result<ZipText> ZipArchive::read(const ZipMember& member, std::size_t limit) {
  const auto read = [&]() -> Result<ZipText> {
    if (!member.readable) return unsupported("is encrypted or compressed in a way other than deflate");
    if (member.size > limit) return unsupported(fmt::format("has {} bytes, more than {}", member.size, limit));
    JC_ASSIGN_OR_RETURN(const std::string_view stored, stored_bytes(member));
    if (!member.deflated) return ZipText(stored);
    return inflate(member, stored);
  };
  auto out = read();
  if (!out) return tl::unexpected(std::move(out).error().in(fmt::format("member '{}'", printable(member.name))));
  return out;
}

}  // namespace joulecast
