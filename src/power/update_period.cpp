// SPDX-License-Identifier: Apache-2.0
#include "power/update_period.h"

#include <algorithm>

namespace joulecast {
namespace {

constexpr std::size_t kEnoughGaps = 12;
constexpr std::chrono::microseconds kSlowest{100'000};  // 10 readings a second at least

}  // namespace

void UpdatePeriod::see(const Reading& reading) {
  if (period_ || gave_up_) return;
  if (!first_) first_ = reading;
  if (last_ && reading.value != last_->value) {
    if (changed_) gaps_.push_back(reading.time - *changed_);
    changed_ = reading.time;
  }
  last_ = reading;
  if (gaps_.size() >= kEnoughGaps) {
    // A value may come out the same twice, which looks like one long gap: the lower quartile is a single period.
    const auto quartile = gaps_.begin() + static_cast<std::ptrdiff_t>(gaps_.size() / 4);
    std::nth_element(gaps_.begin(), quartile, gaps_.end());
    period_ = std::chrono::microseconds(*quartile);
  } else if (reading.time - first_->time > kLongestStudy.count()) {
    gave_up_ = true;
  }
}

std::chrono::microseconds UpdatePeriod::wait() const {
  if (gave_up_) return kSlowest / 2;
  if (!period_) return kWhileLearning;
  return std::clamp(*period_ / 2, kWhileLearning, kSlowest);
}

}  // namespace joulecast
