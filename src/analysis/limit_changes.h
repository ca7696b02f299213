// SPDX-License-Identifier: Apache-2.0
// Limits in force that did not stay what they were: a board's controller, a power manager or another program set them.
#pragma once

#include <string>
#include <vector>

#include "analysis/phases.h"
#include "recording/recording.h"

namespace joulecast {

// A driver rounds limits to what its board can hold; more than this is another limit.
inline constexpr double kLimitSlackW = 1;

// What was read within [begin, end], and what was in force when it began. Times rise.
std::vector<Reading> in_force(const std::vector<Reading>& readings, MonotonicUs begin, MonotonicUs end);

// A sentence for each GPU whose limit changed while one of the commands ran.
std::vector<std::string> limit_doubts(const Recording& recording, const std::vector<Phase>& commands);

}  // namespace joulecast
