// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>

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
  constexpr std::size_t kLeast = 8;
  if (line > kWidth && out[0] > kLeast) out[0] -= std::min(line - kWidth, out[0] - kLeast);
  return out;
}

std::string Table::text(std::size_t indent) const {
  const std::vector<std::size_t> width = widths(indent);
  const auto line = [&](const auto& cell_of) {
    std::string out(indent, ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out += "  ";
      out += padded(shortened(cell_of(i), width[i]), width[i], columns_[i].align);
    }
    return without_end_spaces(std::move(out)) + "\n";
  };
  std::string out = line([&](std::size_t i) { return columns_[i].heading; });
  for (const auto& row : rows_) {
    out += line([&](std::size_t i) { return row[i]; });
  }
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
