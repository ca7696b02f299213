// SPDX-License-Identifier: Apache-2.0
// What a run says on stderr while it goes on.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "analysis/remaining.h"
#include "cli/measure/live.h"
#include "measure/recorder.h"

namespace joulecast::cli {

// "epoch 3/10, 42 s ±2 % and 12.1 kJ ±3 % to go"
std::string remaining_text(const Remaining& remaining);

// On a terminal one line, written over and over; not where the command's own output would be torn by it. Where it is
// asked for, always: elsewhere than on a terminal as a line a second. Any thread may tell it what was heard.
class ProgressLine {
 public:
  explicit ProgressLine(bool asked_for);

  void hear(const Recorder& recorder, const Event& event);
  void show(const Recorder& recorder, double seconds);
  void clear() const;

 private:
  Live& live(const Recorder& recorder);
  [[nodiscard]] std::string text(const Recorder& recorder, double seconds);

  bool terminal_, shown_;
  bool written_ = false;
  std::optional<MonotonicUs> last_line_;
  std::mutex mutex_;  // of all below
  std::optional<Live> live_;
  EpochProgress epochs_;
};

}  // namespace joulecast::cli
