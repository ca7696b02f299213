// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace joulecast::cli {

void Output::write(std::string_view text) {
  if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), results_) != text.size()) error_ = errno;
}

void Output::note(std::string_view text) {
  const std::string line = fmt::format("joulecast: note: {}\n", printable(text));
  std::fwrite(line.data(), 1, line.size(), messages_);
}

void Output::fail(const Failure& failure) {
  std::string text = fmt::format("joulecast: {}\n", printable(failure.error.text()));
  if (!failure.hint.empty()) text += fmt::format("hint: {}\n", printable(failure.hint));
  std::fwrite(text.data(), 1, text.size(), messages_);
}

Outcome Output::finish() {
  if (error_ == 0 && std::fflush(results_) != 0) error_ = errno;
  if (error_ == 0) return {};
  return tl::unexpected<Failure>(
      Failure{{ErrorCode::kIo, fmt::format("standard output: {}", std::strerror(error_))}, ""});
}

bool Output::pipe_closed() const {
  return error_ == EPIPE;
}

std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return out;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + "\"";
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column != 0 && column + 1 + end > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column != 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace joulecast::cli
