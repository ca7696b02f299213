// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace joulecast::cli {

void Output::write(std::string_view text) {
  if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), results_) != text.size()) error_ = errno;
}

Output::Output(std::FILE* results, std::FILE* messages)
    : results_(results), messages_(messages), wraps_(::isatty(::fileno(messages)) == 1) {}

void Output::message(const std::string& text) {
  const std::string line = (wraps_ ? wrapped(printable(text), 80, 2) : printable(text)) + "\n";
  std::fwrite(line.data(), 1, line.size(), messages_);
}

void Output::note(std::string_view text) {
  message(fmt::format("joulecast: note: {}", text));
}

void Output::fail(const Failure& failure) {
  message("joulecast: " + failure.error.text());
  if (!failure.hint.empty()) message("hint: " + failure.hint);
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

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t column) {
  std::string out;
  bool line_begins = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (!line_begins && column + 1 + end > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!line_begins) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    line_begins = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace joulecast::cli
