// SPDX-License-Identifier: Apache-2.0
// Interval factors that were found on what a pack was not fitted on: what tools/accuracy/families.py and elsewhere.py
// write.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fit/intervals.h"
#include "joulecast/result.h"

namespace joulecast {

// What the file says, a joulecast.calibration/1; null of an empty path. Errors: kNotFound; kInvalidInput, also of
// factors beyond reason.
Result<nlohmann::ordered_json> read_calibration(const std::string& path);

// Its factors. They were judged on families, GPUs and benchmarks left out, and stand before those of random folds:
// operations of one network resemble each other, and random folds put them on both sides.
Numbers interval_factors(const nlohmann::ordered_json& calibration);

}  // namespace joulecast
