// SPDX-License-Identifier: Apache-2.0
// Where results and messages go, and how text that others wrote is made fit to print.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "cli/outcome.h"
#include "dataset/csv.h"  // csv_field()

namespace joulecast::cli {

// Results on one stream, messages on another. A message is one line; on a terminal it is broken at 80 columns.
class Output {
 public:
  Output(std::FILE* results, std::FILE* messages);

  void write(std::string_view text);
  // "joulecast: note: <text>" among the messages.
  void note(std::string_view text);
  // Among the messages, with its hint.
  void fail(const Failure& failure);
  // Flushes. Fails if anything of the results could not be written.
  Outcome finish();
  // True once a write failed because nobody reads the results any more.
  [[nodiscard]] bool pipe_closed() const;

 private:
  void message(const std::string& text);

  std::FILE* results_;
  std::FILE* messages_;
  bool wraps_;
  int error_ = 0;
};

// The text with control characters replaced by '?': names in model files must not steer the terminal.
std::string printable(std::string_view text);

// The text broken into lines of at most `width` bytes at its spaces, each after the first indented. The first begins at
// `column`.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t column = 0);

}  // namespace joulecast::cli
