// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace joulecast::cli {
namespace {

constexpr std::size_t kWidth = 80;

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Letters of UTF-8 text; good enough for names of tensors and GPUs.
std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string padded(const std::string& text, std::size_t width, Table::Align align) {
  const std::size_t count = letters(text);
  const std::string fill(width > count ? width - count : 0, ' ');
  return align == Table::Align::kRight ? fill + text : text + fill;
}

std::string without_end_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// The first `count` letters, or from letter `count` on.
std::size_t byte_of_letter(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && (count > 0 || continues(text[at]))) {
    if (!continues(text[at])) --count;
    ++at;
  }
  return at;
}

// In lines of at most that many letters, broken between words where that can be; later ones stand in by one letter.
std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> out;
  while (true) {
    const std::string before = out.empty() ? "" : " ";
    const std::size_t room = width - before.size();
    if (letters(text) <= room) {
      out.push_back(before + std::string(text));
      return out;
    }
    const std::size_t most = byte_of_letter(text, room);
    const std::size_t space = text.rfind(' ', most);
    const bool word = space != std::string_view::npos && space > 0;
    out.push_back(before + std::string(text.substr(0, word ? space : most)));
    text.remove_prefix(word ? space + 1 : most);
  }
}

}  // namespace

std::string shortened(std::string_view text, std::size_t width) {
  const std::size_t count = letters(text);
  if (count <= width) return std::string(text);
  const std::size_t tail = (width - 1) / 2;
  const std::size_t head = width - 1 - tail;
  return fmt::format("{}…{}", text.substr(0, byte_of_letter(text, head)),
                     text.substr(byte_of_letter(text, count - tail)));
}

std::vector<std::size_t> Table::widths(std::size_t indent) const {
  std::vector<std::size_t> out;
  std::size_t line = indent + 2 * (columns_.size() - 1);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = letters(columns_[i].heading);
    for (const auto& row : rows_) width = std::max(width, std::min(letters(row[i]), columns_[i].max_width));
    out.push_back(width);
    line += width;
  }
  // Names up to that length stay whole, wherever they stand; if that does not do, the first column alone gives way.
  constexpr std::size_t kName = 16, kLeast = 8;
  std::size_t excess = line > kWidth ? line - kWidth : 0;
  narrow(0, kName, excess, out);
  for (std::size_t i = out.size(); i-- > 1;) {
    if (columns_[i].align == Align::kLeft) narrow(i, kName, excess, out);
  }
  narrow(0, kLeast, excess, out);
  return out;
}

void Table::narrow(std::size_t column, std::size_t least, std::size_t& excess, std::vector<std::size_t>& widths) const {
  std::size_t& width = widths[column];
  if (columns_[column].whole) return;
  if (column > 0) least = std::max(least, letters(columns_[column].heading));
  if (width <= least) return;
  std::size_t cut = std::min(excess, width - least);
  // Only the first column can be wrapped.
  while (column > 0 && cut > 0 && cut_alike(column, width - cut)) --cut;
  width -= cut;
  excess -= cut;
}

bool Table::cut_alike(std::size_t column, std::size_t width) const {
  std::set<std::string> whole, cut;
  for (const auto& row : rows_) {
    whole.insert(row[column]);
    cut.insert(shortened(row[column], width));
  }
  return cut.size() < whole.size();
}

std::string Table::text(std::size_t indent) const {
  const std::vector<std::size_t> width = widths(indent);
  const bool wraps = cut_alike(0, width[0]);
  const auto line = [&](const std::vector<std::string>& cells) {
    const std::vector<std::string> names =
        wraps ? lines_of(cells[0], width[0]) : std::vector{shortened(cells[0], width[0])};
    std::string out = std::string(indent, ' ') + padded(names[0], width[0], columns_[0].align);
    for (std::size_t i = 1; i < columns_.size(); ++i) {
      out += "  " + padded(shortened(cells[i], width[i]), width[i], columns_[i].align);
    }
    out = without_end_spaces(std::move(out)) + "\n";
    for (std::size_t i = 1; i < names.size(); ++i) out += std::string(indent, ' ') + names[i] + "\n";
    return out;
  };
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  std::string out = line(headings);
  for (const auto& row : rows_) out += line(row);
  return out;
}

std::string Table::markdown() const {
  std::string out = "|";
  for (const Column& column : columns_) out += fmt::format(" {} |", column.heading);
  out += "\n|";
  for (const Column& column : columns_) out += column.align == Align::kRight ? "---:|" : "---|";
  for (const auto& row : rows_) {
    out += "\n|";
    for (const std::string& cell : row) out += fmt::format(" {} |", cell);
  }
  return out + "\n";
}

}  // namespace joulecast::cli
