// SPDX-License-Identifier: Apache-2.0
#include "measure/recent_readings.h"

#include <algorithm>

namespace joulecast {

void RecentReadings::drop_before(MonotonicUs from) {
  for (auto& readings : channels_) {
    while (readings.size() > 1 && readings[1].time <= from) readings.pop_front();
  }
}

std::vector<std::vector<Reading>> RecentReadings::around(MonotonicUs begin, MonotonicUs end) const {
  std::vector<std::vector<Reading>> out;
  for (const auto& readings : channels_) {
    auto first = std::partition_point(readings.begin(), readings.end(),
                                      [&](const Reading& reading) { return reading.time < begin; });
    auto last =
        std::partition_point(first, readings.end(), [&](const Reading& reading) { return reading.time <= end; });
    if (first != readings.begin()) --first;
    if (last != readings.end()) ++last;
    out.emplace_back(first, last);
  }
  return out;
}

std::size_t RecentReadings::count() const {
  std::size_t sum = 0;
  for (const auto& readings : channels_) sum += readings.size();
  return sum;
}

}  // namespace joulecast
