// SPDX-License-Identifier: Apache-2.0
// Columns of text for a terminal of 80 columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast::cli {

//   Table table({{"id"}, {"memory", Align::kRight}});
//   table.add({"a100", "40"});
//   output.write(table.text());
class Table {
 public:
  enum class Align : std::uint8_t { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
    std::size_t max_width = 40;  // longer cells lose their middle
    bool whole = false;          // never gives way to others
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Requires: one cell a column.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }

  // Two spaces between columns, no spaces at the ends of lines, `indent` in front of each. Where lines would have more
  // than 80 letters long names of the first column give way, then other text, then names, but for columns that are
  // `whole`; cells of the first column
  // that would look the same without their middles are wrapped.
  [[nodiscard]] std::string text(std::size_t indent = 0) const;
  // As a table of Markdown.
  [[nodiscard]] std::string markdown() const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t indent) const;
  // Takes `excess` letters from a column as far as it has more than `least`, and its heading.
  void narrow(std::size_t column, std::size_t least, std::size_t& excess, std::vector<std::size_t>& widths) const;
  // Cells of the column that differ would not, were they cut to that width.
  [[nodiscard]] bool cut_alike(std::size_t column, std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Cuts the middle out of a text that is too long: "encoder.laye…output.dense". `width` counts letters, not bytes.
std::string shortened(std::string_view text, std::size_t width);

}  // namespace joulecast::cli
