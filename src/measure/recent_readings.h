// SPDX-License-Identifier: Apache-2.0
// The readings that somebody still wants, while more of them come.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "recording/channel.h"

namespace joulecast {

// Of each channel everything since a moment, and the last reading before it. Not for several threads at once.
class RecentReadings {
 public:
  explicit RecentReadings(std::size_t channels) : channels_(channels) {}

  // Requires: times of one channel rise.
  void add(std::size_t channel, const Reading& reading) { channels_[channel].push_back(reading); }
  // Of what came before `from`, only the last of each channel stays.
  void drop_before(MonotonicUs from);
  // Of each channel what lies in [begin, end], and the nearest reading on either side.
  [[nodiscard]] std::vector<std::vector<Reading>> around(MonotonicUs begin, MonotonicUs end) const;
  [[nodiscard]] std::size_t count() const;

 private:
  std::vector<std::deque<Reading>> channels_;
};

}  // namespace joulecast
