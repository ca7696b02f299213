// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>

namespace joulecast {

// An input that several runs of a command are to read. A file is wound back for each; of a pipe only the first has
// anything, and that is told.
//
//   RepeatedInput input(STDIN_FILENO);
//   while (...) { if (input.begin_run() == RepeatedInput::Left::kNothing) warn(); run(); }
class RepeatedInput {
 public:
  enum class Left { kAll, kUnknown, kNothing };

  // Keeps the descriptor's number, and does not close it.
  explicit RepeatedInput(int descriptor);

  // What a run that begins now can read of what the first could: kNothing where the ones before read a pipe to its end,
  // kUnknown where that goes on or is none.
  Left begin_run();

 private:
  [[nodiscard]] bool at_end() const;

  int descriptor_;
  std::optional<off_t> start_;  // of a file
  bool empty_ = false;          // there was nothing to be read from the beginning
  bool first_ = true;
};

}  // namespace joulecast
