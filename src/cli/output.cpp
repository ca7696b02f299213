// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/harmless.h"
#include "cli/json.h"

namespace joulecast::cli {

namespace {

const char* name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
      return "invalid-input";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNotFound:
      return "not-found";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kDevice:
      return "device";
    case ErrorCode::kTimeout:
      break;
  }
  return "timeout";
}

}  // namespace

void Output::write(std::string_view text) {
  written_ = written_ || !text.empty();
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

std::string failure_json(const Failure& failure) {
  const Json error{{"code", name(failure.error.code())},
                   {"message", harmless_text(failure.error.text())},
                   {"hint", failure.hint.empty() ? Json(nullptr) : Json(harmless_text(failure.hint))}};
  const Json object{{"schema", "joulecast.failure/1"}, {"error", error}, {"exit_code", failure.exit_code}};
  return object.dump();
}

void Output::write_json(const Failure& failure) {
  // In a line: what prints a line at a time (watch) goes on as it began.
  write(failure_json(failure) + "\n");
  flush();
}

void Output::fail(const Failure& failure) {
  const bool told = json_ && !written_;
  if (told) write_json(failure);
  if (told && results_ == messages_) return;
  message("joulecast: " + failure.error.text());
  if (!failure.hint.empty()) message("hint: " + failure.hint);
}

bool Output::flush() {
  if (error_ == 0 && std::fflush(results_) != 0) error_ = errno;
  return error_ == 0;
}

Outcome Output::finish() {
  if (flush()) return {};
  return tl::unexpected<Failure>(
      Failure{{ErrorCode::kIo, fmt::format("standard output: {}", std::strerror(error_))}, ""});
}

bool Output::pipe_closed() const {
  return error_ == EPIPE;
}

std::string printable(std::string_view text) {
  return harmless_line(text, "?");
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
