// SPDX-License-Identifier: Apache-2.0
#include "measure/mark_line.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/harmless.h"

namespace joulecast {
namespace {

constexpr std::int64_t kNanosecondsOfMicrosecond = 1000;

template <typename T>
std::optional<T> whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < T{}) return std::nullopt;
  return value;
}

// The text up to a space, which is taken off with it.
std::string_view take_word(std::string_view& text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  text.remove_prefix(std::min(space + 1, text.size()));
  return word;
}

std::optional<EventKind> kind_of(std::string_view word) {
  if (word == "begin") return EventKind::kBegin;
  if (word == "end") return EventKind::kEnd;
  if (word == "mark") return EventKind::kMark;
  return std::nullopt;
}

bool printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7F;
  });
}

}  // namespace

std::optional<MarkLine> parse_mark_line(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.size() > kMaxMarkLine || !printable(line)) return std::nullopt;
  MarkLine out;
  if (line.starts_with('@')) {
    const auto time = whole<std::int64_t>(take_word(line).substr(1));
    if (!time) return std::nullopt;
    out.time = *time / kNanosecondsOfMicrosecond;
  }
  const std::string_view verb = take_word(line);
  if (verb == "lost") {
    const auto lost = whole<std::uint64_t>(line);
    if (!lost) return std::nullopt;
    out.lost = *lost;
    return out;
  }
  const auto kind = kind_of(verb);
  const std::size_t tab = std::min(line.find('\t'), line.size());
  if (!kind || tab == 0 || tab > kMaxMarkName) return std::nullopt;
  out.kind = *kind;
  out.name = harmless_line(line.substr(0, tab));
  out.details = harmless_text(line.substr(std::min(tab + 1, line.size())));
  return out;
}

}  // namespace joulecast
