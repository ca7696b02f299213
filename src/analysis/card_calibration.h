// SPDX-License-Identifier: Apache-2.0
// Calibration lines of a card: each of its sources against a meter that measures the same card.
#pragma once

#include <string>
#include <vector>

#include "recording/recording.h"
#include "series/calibration.h"

namespace joulecast {

// A line with whose it is.
struct CardLine {
  std::string uuid, name;  // of the card; the UUID is empty where recordings do not say
  std::string source;      // "nvml-instant": sources of one card differ, so each has its own
  std::string meter;
  series::CalibrationLine line;
};

// Means over steady stretches of all recordings together, for each source of power or energy of `device`. Times of the
// two are on the recording's one clock. Errors: kNotFound where a recording lacks the device or the meter;
// kInvalidInput where recordings are of different cards, and fit_calibration()'s and steady_blocks()'s.
Result<std::vector<CardLine>> fit_card(const std::vector<const Recording*>& recordings, const std::string& device,
                                       const std::string& meter);

}  // namespace joulecast
