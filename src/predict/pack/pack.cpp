// SPDX-License-Identifier: Apache-2.0
#include "predict/pack/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <tuple>

#include "predict/pack/hash.h"
#include "predict/pack/layout.h"

namespace joulecast {
namespace {

using namespace pack_layout;

template <typename T>
std::span<const T> as_span(std::span<const std::byte> bytes, std::size_t offset, std::size_t count) {
  return {reinterpret_cast<const T*>(bytes.data() + offset), count};
}

std::string_view name(const Section& section) {
  return {section.name.data(), ::strnlen(section.name.data(), section.name.size())};
}

std::string_view word(SectionKind kind) {
  switch (kind) {
    case SectionKind::kForest:
      return "forest";
    case SectionKind::kTable:
      return "table";
    case SectionKind::kJson:
      return "text";
  }
  return "section of unknown kind";
}

tl::unexpected<Error> damaged(std::string_view what) {
  return invalid(fmt::format("the predictor pack is damaged: {}", what));
}

// What can be said before anything is known of the rest: also of packs of versions to come.
Result<Header> read_header(std::span<const std::byte> bytes) {
  constexpr std::size_t kPrefix = offsetof(Header, section_count);
  if (bytes.size() < kMagic.size()) return invalid("not a predictor pack");
  Header header{};
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof(header)));
  if (header.magic != kMagic) return invalid("not a predictor pack");
  if (bytes.size() < kPrefix) return damaged("it ends within its header");
  if (header.version > kVersion) {
    return unsupported(
        fmt::format("made by a newer joulecast (pack format {}, this program reads {}): update joulecast",
                    header.version, kVersion));
  }
  if (header.version != kVersion) return damaged(fmt::format("format {} does not exist", header.version));
  if (bytes.size() < sizeof(header)) return damaged("it ends within its header");
  if (bytes.size() != header.file_size) {
    return damaged(fmt::format("it has {} bytes, its header says {}", bytes.size(), header.file_size));
  }
  return header;
}

std::size_t directory_end(const Header& header) {
  return sizeof(Header) + header.section_count * sizeof(Section);
}

std::uint64_t header_checksum(std::span<const std::byte> bytes, const Header& header) {
  std::vector<std::byte> copy(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(directory_end(header)));
  std::fill_n(copy.begin() + offsetof(Header, checksum), sizeof(header.checksum), std::byte{0});
  return xxh64(copy);
}

auto order(const Section& section) {
  return std::tuple(section.kind, name(section));
}

// The writer leaves no freedom: one place for every section.
Result<void> check_directory(std::span<const Section> sections, std::size_t directory_end, std::size_t file_size) {
  std::size_t end = directory_end;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    const std::string_view called = name(section);
    const auto rest = std::span(section.name).subspan(called.size());
    const bool named = !called.empty() && !rest.empty() && std::all_of(rest.begin(), rest.end(), std::logical_not<>());
    const bool placed = section.offset == aligned(end) && section.offset <= file_size &&
                        section.size <= file_size - section.offset && section.reserved == 0;
    const bool known = section.kind >= SectionKind::kForest && section.kind <= SectionKind::kJson;
    if (!named || !placed || !known || (i > 0 && order(sections[i - 1]) >= order(section))) {
      return damaged(fmt::format("entry {} of its directory makes no sense", i));
    }
    end = section.offset + section.size;
  }
  return end == file_size ? Result<void>() : damaged("its sections do not fill it");
}

}  // namespace

std::string_view TableView::key(std::size_t i) const {
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return text_.substr(begin, ends_[i] - begin);
}

std::optional<double> TableView::find(std::string_view key) const {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (this->key(middle) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < size() && this->key(low) == key ? std::optional(values_[low]) : std::nullopt;
}

Result<TableView> TableView::over(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(TableHeader)) return invalid("ends within its header");
  const TableHeader header = as_span<TableHeader>(bytes, 0, 1).front();
  const std::size_t values_end = sizeof(TableHeader) + std::size_t{header.count} * sizeof(double);
  const std::size_t ends_end = values_end + std::size_t{header.count} * sizeof(std::uint32_t);
  if (ends_end + header.text_size != bytes.size()) return invalid("has another size than its header says");
  TableView view;
  view.values_ = as_span<double>(bytes, sizeof(TableHeader), header.count);
  view.ends_ = as_span<std::uint32_t>(bytes, values_end, header.count);
  view.text_ = {reinterpret_cast<const char*>(bytes.data()) + ends_end, header.text_size};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const std::uint32_t begin = i == 0 ? 0 : view.ends_[i - 1];
    if (view.ends_[i] < begin || view.ends_[i] > header.text_size) return invalid(fmt::format("key {} has no text", i));
    if (i > 0 && view.key(i - 1) >= view.key(i)) return invalid(fmt::format("key {} is out of order", i));
    if (!std::isfinite(view.values_[i])) return invalid(fmt::format("value {} is not a number", i));
  }
  if (header.count > 0 && view.ends_.back() != header.text_size) return invalid("holds text of no key");
  return view;
}

Result<Pack> Pack::open(const std::string& path) {
  JC_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  auto pack = over(file.bytes());
  if (!pack) return tl::unexpected(std::move(pack).error().in(path));
  pack->file_ = std::move(file);
  return pack;
}

Result<Pack> Pack::over(std::span<const std::byte> bytes) {
  JC_ASSIGN_OR_RETURN(const Header header, read_header(bytes));
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Section) != 0) return invalid("not aligned in memory");
  if (header.section_count > kMaxSections || directory_end(header) > bytes.size()) {
    return damaged(fmt::format("it has no room for {} sections", header.section_count));
  }
  if (header_checksum(bytes, header) != header.checksum) return damaged("the checksum of its directory differs");
  Pack pack;
  pack.bytes_ = bytes;
  pack.sections_ = as_span<Section>(bytes, sizeof(Header), header.section_count);
  JC_RETURN_IF_ERROR(check_directory(pack.sections_, directory_end(header), bytes.size()));
  return pack;
}

Result<std::span<const std::byte>> Pack::section(SectionKind kind, std::string_view name) const {
  const auto wanted = std::tuple(kind, name);
  const auto found = std::lower_bound(sections_.begin(), sections_.end(), wanted,
                                      [](const Section& section, const auto& value) { return order(section) < value; });
  if (found == sections_.end() || order(*found) != wanted) {
    return not_found(fmt::format("the predictor pack has no {} '{}'", word(kind), name));
  }
  const auto bytes = bytes_.subspan(found->offset, found->size);
  if (xxh64(bytes) != found->checksum) {
    return damaged(fmt::format("the checksum of its {} '{}' differs", word(kind), name));
  }
  return bytes;
}

Result<ForestView> Pack::forest(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(const auto bytes, section(SectionKind::kForest, name));
  auto view = ForestView::over(bytes);
  if (!view) return tl::unexpected(std::move(view).error().in(fmt::format("forest '{}' of the predictor pack", name)));
  return view;
}

Result<TableView> Pack::table(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(const auto bytes, section(SectionKind::kTable, name));
  auto view = TableView::over(bytes);
  if (!view) return tl::unexpected(std::move(view).error().in(fmt::format("table '{}' of the predictor pack", name)));
  return view;
}

Result<std::string_view> Pack::json(std::string_view name) const {
  JC_ASSIGN_OR_RETURN(const auto bytes, section(SectionKind::kJson, name));
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<std::vector<Pack::RawSection>> Pack::raw_sections() const {
  std::vector<RawSection> out;
  for (const Section& entry : sections_) {
    const std::string_view called = joulecast::name(entry);
    JC_ASSIGN_OR_RETURN(const auto bytes, section(entry.kind, called));
    out.push_back({entry.kind, called, bytes});
  }
  return out;
}

Result<double> Pack::number(std::string_view table, std::string_view key) const {
  JC_ASSIGN_OR_RETURN(const TableView view, this->table(table));
  if (const auto value = view.find(key)) return *value;
  return not_found(fmt::format("table '{}' of the predictor pack has no '{}'", table, key));
}

std::vector<std::string_view> Pack::names(SectionKind kind) const {
  std::vector<std::string_view> names;
  for (const Section& section : sections_) {
    if (section.kind == kind) names.push_back(name(section));
  }
  return names;
}
std::vector<std::string_view> Pack::forests() const {
  return names(SectionKind::kForest);
}
std::vector<std::string_view> Pack::tables() const {
  return names(SectionKind::kTable);
}
std::vector<std::string_view> Pack::jsons() const {
  return names(SectionKind::kJson);
}

Result<void> Pack::verify() const {
  for (const auto name : forests()) JC_RETURN_IF_ERROR(forest(name));
  for (const auto name : tables()) JC_RETURN_IF_ERROR(table(name));
  for (const auto name : jsons()) JC_RETURN_IF_ERROR(json(name));
  return {};
}

}  // namespace joulecast
