// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <charconv>
#include <cstdio>

namespace joulecast::runner {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte != '%' && byte != 0x7f) {
      out += c;
      continue;
    }
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned>(byte));
    out += code;
  }
  return out;
}

std::string unescaped(std::string_view value) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    int code = 0;
    const char* begin = value.data() + i + 1;
    if (value[i] == '%' && i + 2 < value.size() && std::from_chars(begin, begin + 2, code, 16).ptr == begin + 2) {
      out += static_cast<char>(code);
      i += 2;
    } else {
      out += value[i];
    }
  }
  return out;
}

std::int64_t to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Refusal("protocol", "'" + std::string(text) + "' is no whole number");
  }
  return value;
}

double to_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Refusal("protocol", "'" + std::string(text) + "' is no number");
  }
  return value;
}

Fields::Fields(const std::vector<std::string_view>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos) continue;
    values_.emplace(words[i].substr(0, equals), unescaped(words[i].substr(equals + 1)));
  }
}

std::string Fields::text(std::string_view key, std::string_view absent) const {
  const auto at = values_.find(key);
  return at == values_.end() ? std::string(absent) : at->second;
}

std::int64_t Fields::integer(std::string_view key, std::int64_t absent) const {
  const auto at = values_.find(key);
  return at == values_.end() ? absent : to_integer(at->second);
}

double Fields::real(std::string_view key, double absent) const {
  const auto at = values_.find(key);
  return at == values_.end() ? absent : to_real(at->second);
}

std::vector<std::int64_t> Fields::integers(std::string_view key) const {
  std::vector<std::int64_t> out;
  const auto at = values_.find(key);
  if (at == values_.end()) return out;
  for (const std::string_view word : split(at->second, ',')) out.push_back(to_integer(word));
  return out;
}

}  // namespace joulecast::runner
