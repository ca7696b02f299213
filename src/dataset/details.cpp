// SPDX-License-Identifier: Apache-2.0
#include "dataset/details.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/trimmed.h"

namespace joulecast {
namespace {

void append_escaped(std::string& out, std::string_view text, bool key) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool escape = byte < 0x20 || byte == 0x7F || c == '%' || c == ';' || (key && c == '=');
    if (escape) {
      fmt::format_to(std::back_inserter(out), "%{:02X}", byte);
    } else {
      out += c;
    }
  }
}

Result<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned byte = 0;
    const char* begin = text.data() + i + 1;
    const char* end = text.data() + std::min(i + 3, text.size());
    const auto [at, error] = std::from_chars(begin, end, byte, 16);
    if (error != std::errc() || at - begin != 2) return invalid(fmt::format("'{}' has a bad %", text));
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

}  // namespace

void add_detail(std::string& details, std::string_view key, std::string_view value) {
  value = trimmed(value);
  if (value.empty()) return;
  if (!details.empty()) details += "; ";
  append_escaped(details, key, true);
  details += '=';
  append_escaped(details, value, false);
}

Result<std::vector<std::pair<std::string, std::string>>> parse_details(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!trimmed(text).empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view entry = trimmed(text.substr(0, end));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) return invalid(fmt::format("'{}' is no key=value", entry));
    JC_ASSIGN_OR_RETURN(std::string key, unescaped(trimmed(entry.substr(0, equals))));
    JC_ASSIGN_OR_RETURN(std::string value, unescaped(trimmed(entry.substr(equals + 1))));
    out.emplace_back(std::move(key), std::move(value));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace joulecast
