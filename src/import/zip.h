// SPDX-License-Identifier: Apache-2.0
// A zip archive over bytes in memory, read only. Names of members are names: nothing is ever written to a disk.
//
//   JC_ASSIGN_OR_RETURN(const ZipArchive archive, ZipArchive::open(bytes));
//   if (const ZipMember* member = archive.find_ending("/models/model.json")) {
//     JC_ASSIGN_OR_RETURN(const ZipText text, archive.read(*member, kLimit));
//     use(text.view());
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/result.h"

namespace joulecast {

struct ZipMember {
  std::string_view name;          // as the archive has it: any bytes
  std::string_view record;        // the archive from the member's own header on
  std::uint64_t stored_size = 0;  // of its bytes in the archive, compressed where `deflated`
  std::uint64_t size = 0;         // when inflated, as the archive says
  bool deflated = false;
  bool readable = true;        // neither encrypted nor compressed in another way
  std::uint32_t checksum = 0;  // CRC-32 of what it holds, as the archive says

  // Whether a text has its size and checksum.
  [[nodiscard]] bool fits(std::string_view text) const;
};

// What a member holds: the archive's own bytes where it is stored, a copy where it was inflated.
class ZipText {
 public:
  explicit ZipText(std::string_view borrowed) : view_(borrowed) {}
  ZipText(std::unique_ptr<char[]> owned, std::size_t size) : owned_(std::move(owned)), view_(owned_.get(), size) {}
  // Valid as long as this object, moved or not, and the archive's bytes are.
  [[nodiscard]] std::string_view view() const { return view_; }

 private:
  std::unique_ptr<char[]> owned_;
  std::string_view view_;
};

// Borrows the bytes it is opened on.
class ZipArchive {
 public:
  // "PK": what a zip archive starts with.
  static bool recognises(std::string_view bytes);

  // Reads the directory at the end (zip64 too); no member is looked at. Errors: kInvalidInput for an archive that is
  // cut off or whose directory does not fit it; kUnsupported for more than a million members and for archives in parts.
  static Result<ZipArchive> open(std::string_view bytes);

  // In the order of the directory. Of members of one name the first counts.
  [[nodiscard]] std::span<const ZipMember> members() const { return members_; }
  // nullptr where there is none.
  [[nodiscard]] const ZipMember* find(std::string_view name) const;
  // The first whose name is `ending` or ends with it.
  [[nodiscard]] const ZipMember* find_ending(std::string_view ending) const;

  // At most `limit` bytes: a member that says or turns out to be longer is kUnsupported.
  [[nodiscard]] static Result<ZipText> read(const ZipMember& member, std::size_t limit);

 private:
  std::vector<ZipMember> members_;
};

}  // namespace joulecast
