// SPDX-License-Identifier: Apache-2.0
// How often a value behind a driver really changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "recording/channel.h"

namespace joulecast {

// Learns the update period of a sensor from its readings. While it learns it wants readings often, afterwards twice a
// period, so that no update is missed (knowledge: Zeus polls the same way).
class UpdatePeriod {
 public:
  // Gives up after this long without enough changes: an idle counter may stand still.
  static constexpr std::chrono::microseconds kLongestStudy{2'000'000};
  static constexpr std::chrono::microseconds kWhileLearning{5'000};

  // Times rise from call to call.
  void see(const Reading& reading);
  // Absent until enough changes were seen.
  [[nodiscard]] std::optional<std::chrono::microseconds> period() const { return period_; }
  // How long to wait for the next reading: between 5 and 100 ms.
  [[nodiscard]] std::chrono::microseconds wait() const;

 private:
  std::optional<Reading> first_, last_;
  std::optional<MonotonicUs> changed_;
  std::vector<MonotonicUs> gaps_;
  std::optional<std::chrono::microseconds> period_;
  bool gave_up_ = false;
};

}  // namespace joulecast
