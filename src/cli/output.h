// SPDX-License-Identifier: Apache-2.0
// Where results and messages go, and how text that others wrote is made fit to print.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/csv.h"  // csv_field()
#include "cli/outcome.h"

namespace joulecast::cli {

// Results on one stream, messages on another. A message is one line; on a terminal it is broken at 80 columns.
class Output {
 public:
  Output(std::FILE* results, std::FILE* messages);

  void write(std::string_view text);
  // "joulecast: note: <text>" among the messages.
  void note(std::string_view text);
  // From here on a failure is a JSON object where results go, if nothing of them was written before.
  void answer_in_json() { json_ = true; }
  // Results go where messages go.
  void join_results_to_messages() { results_ = messages_; }
  // Among the messages, with its hint; or, and, in JSON (docs/formats/failure.md). On one stream there is only one.
  void fail(const Failure& failure);
  // False where what was written so far did not reach its reader.
  bool flush();
  // Flushes. Fails if anything of the results could not be written.
  Outcome finish();
  // True once a write failed because nobody reads the results any more.
  [[nodiscard]] bool pipe_closed() const;

 private:
  void message(const std::string& text);
  void write_json(const Failure& failure);

  std::FILE* results_;
  std::FILE* messages_;
  bool wraps_;
  int error_ = 0;
  bool json_ = false, written_ = false;
};

// "joulecast.failure/1", in one line without its end.
std::string failure_json(const Failure& failure);

// The text in one line, what is no UTF-8, steers a terminal or turns the direction of the rest replaced by '?'.
std::string printable(std::string_view text);

// The text broken into lines of at most `width` bytes at its spaces, each after the first indented. The first begins at
// `column`.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t column = 0);

}  // namespace joulecast::cli
