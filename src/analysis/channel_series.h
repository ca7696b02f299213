// SPDX-License-Identifier: Apache-2.0
// Readings of a channel as the plain series that src/series works on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "recording/recording.h"
#include "series/series.h"

namespace joulecast {

inline double seconds_of(MonotonicUs time) {
  constexpr double kSecondsOfMicrosecond = 1e-6;
  return static_cast<double>(time) * kSecondsOfMicrosecond;
}

struct ChannelSeries {
  // Seconds on the recording's clock, SI units. Of a counter: joules since its first reading at each moment it stepped;
  // what lies between two of them is a straight line.
  series::Series series;
  std::string doubt;  // about the whole channel; empty for none
};
ChannelSeries series_of(const Recording& recording, std::size_t channel);

// Watts between the steps of a counter: Between::kSinceLast. Empty with fewer than two steps.
series::Series power_of_counter(const series::Series& steps);

// Power of any channel that tells power or energy.
series::Series power_series(const Recording& recording, std::size_t channel);

// Counters and power.
bool tells_energy(const Channel& channel);
// 0 for a counter, then from the best source of power to the worst.
int source_rank(const Channel& channel);
// The best channel of the device that tells energy and has two readings; with `source`, that source's. A counter only
// where nothing else is there, or asked for: its steps are coarser than readings of power.
std::optional<std::size_t> power_channel(const Recording& recording, const std::string& device,
                                         const std::string& source = {});

}  // namespace joulecast
