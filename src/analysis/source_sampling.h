// SPDX-License-Identifier: Apache-2.0
// How well the sources of power and energy of a recording were sampled.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "recording/recording.h"
#include "series/sampling.h"

namespace joulecast {

struct SourceSampling {
  Channel channel;
  // Of the readings; times count from the recording's begin. `lost` are updates of the sensor that no reading saw, in
  // gaps of more than 1.5 of its periods: a register polled faster than it updates loses
  // nothing by a poll that came late. Absent with fewer than three readings.
  std::optional<series::Sampling> sampling;
  std::optional<double> update_period_s;  // of the sensor: update_period_of()
  std::uint64_t dropped = 0;              // the driver said that they were lost
  std::uint64_t absent = 0;               // asked for and not there, for other reasons
};

// One entry a channel of power or energy.
std::vector<SourceSampling> sampling_of_sources(const Recording& recording);

}  // namespace joulecast
