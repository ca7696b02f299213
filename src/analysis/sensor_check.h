// SPDX-License-Identifier: Apache-2.0
// How sensors behaved in a recording: how often they update, and what that means on their chip.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recording/recording.h"
#include "series/sensor_class.h"

namespace joulecast {

struct SensorCheck {
  Channel channel;
  std::optional<double> newest;          // SI units
  std::optional<double> changes_s;       // between changes of the value; absent where it hardly changed
  std::optional<double> period_s;        // between updates (update_period_of()); absent where it hardly changed
  std::optional<double> known_period_s;  // of the sensor's class
  std::optional<double> window_s;        // that a reading is the mean of
  std::optional<double> seen;            // share of the time that is in some window
  std::string sensor_class;              // "A" to "G", for power of NVIDIA's chips that were studied; else empty
  std::string meaning;                   // a sentence for power; else empty
  std::uint64_t failures = 0;            // readings that were absent
};

// Of a channel of power of NVIDIA's chips that were studied, by what the recording's head says of chip and driver; the
// name of the product stands in where an import knows no architecture. The driver's buffer holds what its register
// showed only where the register has one meaning.
std::optional<series::SensorClass> sensor_class_of(const Recording& recording, const Channel& channel);
// Seconds between updates of a channel's sensor: its class', which single cards are some percent off, made exact by
// what was seen where that tells it. What is seen alone is not the period: a load that turns every 200 ms changes the
// value of a sensor of 100 ms as seldom. Without a class what was seen, of a buffer the time between its samples;
// absent where the value hardly changed.
std::optional<double> update_period_of(const Recording& recording, std::size_t channel);

// One entry a channel.
std::vector<SensorCheck> check_sensors(const Recording& recording);

}  // namespace joulecast
