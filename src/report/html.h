// SPDX-License-Identifier: Apache-2.0
// Pieces of a page. All text is escaped here, so nobody else has to think of it.
#pragma once

#include <cstddef>
#include <string>

#include <string_view>
#include <utility>
#include <vector>

namespace joulecast::report {

// <p class="note">text</p>. Requires of tag and class: ours. Empty for an empty text.
std::string element(std::string_view tag, std::string_view text, std::string_view css_class = {});

// A table that scrolls sideways by itself where the screen is narrow.
class HtmlTable {
 public:
  struct Column {
    std::string title;
    bool number = false;  // to the right
  };
  explicit HtmlTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One text a column.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  // Empty without rows.
  [[nodiscard]] std::string html() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Names and their values; those without a value are left out.
std::string definition_list(const std::vector<std::pair<std::string, std::string>>& entries);

// <ul> of sentences; empty for none.
std::string bullet_list(const std::vector<std::string>& sentences, std::string_view css_class = {});

}  // namespace joulecast::report
