// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <fmt/format.h>

#include "report/text.h"

namespace joulecast::report {
namespace {

std::string class_of(std::string_view css_class) {
  return css_class.empty() ? std::string() : fmt::format(" class=\"{}\"", css_class);
}

}  // namespace

std::string element(std::string_view tag, std::string_view text, std::string_view css_class) {
  if (text.empty()) return {};
  return fmt::format("<{0}{1}>{2}</{0}>\n", tag, class_of(css_class), html_text(text));
}

std::string HtmlTable::html() const {
  if (rows_.empty()) return {};
  const auto css = [&](std::size_t column) { return columns_[column].number ? " class=\"n\"" : ""; };
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", css(i), html_text(columns_[i].title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows_) {
    out += "<tr>";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      out += fmt::format("<td{}>{}</td>", css(i), i < row.size() ? html_text(row[i]) : std::string());
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string definition_list(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out;
  for (const auto& [name, value] : entries) {
    if (!value.empty()) out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(value));
  }
  return out.empty() ? out : "<dl>\n" + out + "</dl>\n";
}

std::string bullet_list(const std::vector<std::string>& sentences, std::string_view css_class) {
  if (sentences.empty()) return {};
  std::string out = fmt::format("<ul{}>\n", class_of(css_class));
  for (const std::string& sentence : sentences) out += element("li", sentence);
  return out + "</ul>\n";
}

}  // namespace joulecast::report
