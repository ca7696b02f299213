// SPDX-License-Identifier: Apache-2.0
// What exporters need to know about a run's time.
#pragma once

#include <string>
#include <vector>

#include "recording/recording.h"

namespace joulecast {

// Turns times of readings into UTC, quickly where they come in order.
class UtcClock {
 public:
  // Keeps a reference.
  explicit UtcClock(const std::vector<ClockPair>& pairs);
  [[nodiscard]] bool known() const { return !pairs_.empty(); }
  // Requires: known().
  [[nodiscard]] std::int64_t utc(MonotonicUs time) const;

 private:
  std::vector<ClockPair> pairs_;
};

// Begins and ends told in order, put together as event.h says.
class OpenPhases {
 public:
  // False, and nothing is kept, where more are open than any program means to have open. Keeps a pointer.
  bool begin(const Event& event);
  // The begin that this end closes; nullptr where there is none.
  const Event* end(const Event& event);
  [[nodiscard]] const std::vector<const Event*>& open() const { return open_; }

 private:
  std::vector<const Event*> open_;
};

// What phases a moment is in, outermost first: "experiment/train/epoch". The name alone, so that there are few of them.
class PhaseLabels {
 public:
  explicit PhaseLabels(std::vector<Event> events);
  // Empty outside of all phases.
  [[nodiscard]] const std::string& at(MonotonicUs time) const;

 private:
  struct Change {
    MonotonicUs time = 0;
    std::string label;
  };
  std::vector<Change> changes_;
};

// "gpu" of "gpu0".
std::string kind_of_device(const std::string& device);

// A reading in SI units with as many digits as its step has, and no more.
std::string si_text(const Reading& reading, Signal signal);

}  // namespace joulecast
