// SPDX-License-Identifier: Apache-2.0
// The predictor pack: the one file that holds everything fitted. Layout: docs/formats/pack.md.
//
//   JC_ASSIGN_OR_RETURN(Pack pack, Pack::open("joulecast.jcpack"));
//   JC_ASSIGN_OR_RETURN(ForestView time, pack.forest("time"));
//   JC_ASSIGN_OR_RETURN(double overhead, pack.number("compose", "pytorch-eager/launch_s"));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "joulecast/result.h"
#include "predict/trees/forest.h"

namespace joulecast {

namespace pack_layout {
struct Section;
enum class SectionKind : std::uint32_t;
}  // namespace pack_layout

// Numbers by key, sorted by key. A view into a pack.
class TableView {
 public:
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  // Requires: i < size().
  [[nodiscard]] std::string_view key(std::size_t i) const;
  [[nodiscard]] double value(std::size_t i) const { return values_[i]; }
  [[nodiscard]] std::optional<double> find(std::string_view key) const;

 private:
  friend class Pack;
  static Result<TableView> over(std::span<const std::byte> bytes);

  std::span<const double> values_;
  std::span<const std::uint32_t> ends_;
  std::string_view text_;
};

// A pack, mapped or in memory. Opening checks header and directory; each section is checked when it is asked for, in
// time proportional to its size, so keep what you got. Views are valid as long as the pack (moving it is fine).
// Safe to share among threads.
class Pack {
 public:
  // Errors: kNotFound, kIo; kInvalidInput for a file that is no pack or damaged, kUnsupported for one of a newer
  // version. All name the path.
  static Result<Pack> open(const std::string& path);
  // Over bytes that outlive the pack. Requires: an address that is a multiple of 8 (an error otherwise).
  static Result<Pack> over(std::span<const std::byte> bytes);

  // Errors: kNotFound, kInvalidInput (damaged), naming the section.
  [[nodiscard]] Result<ForestView> forest(std::string_view name) const;
  [[nodiscard]] Result<TableView> table(std::string_view name) const;
  [[nodiscard]] Result<std::string_view> json(std::string_view name) const;
  // One number of one table. Errors: those of table(), and kNotFound for the key.
  [[nodiscard]] Result<double> number(std::string_view table, std::string_view key) const;

  // In the order of the file: sorted.
  [[nodiscard]] std::vector<std::string_view> forests() const;
  [[nodiscard]] std::vector<std::string_view> tables() const;
  [[nodiscard]] std::vector<std::string_view> jsons() const;

  // The bytes of a section of any kind, checked like those of the others.
  struct RawSection {
    pack_layout::SectionKind kind;
    std::string_view name;
    std::span<const std::byte> bytes;
  };
  [[nodiscard]] Result<std::vector<RawSection>> raw_sections() const;

  // Checks every section, as an explicit test of the whole file.
  [[nodiscard]] Result<void> verify() const;

 private:
  Pack() = default;
  [[nodiscard]] Result<std::span<const std::byte>> section(pack_layout::SectionKind kind, std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> names(pack_layout::SectionKind kind) const;

  std::optional<MappedFile> file_;
  std::span<const std::byte> bytes_;
  std::span<const pack_layout::Section> sections_;
};

}  // namespace joulecast
