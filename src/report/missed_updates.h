// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "recording/channel.h"

namespace joulecast::report {

// Updates of a sensor that came and were overwritten between two readings. Half a period late is still in time.
// Requires: period_s > 0.
std::size_t missed_updates(std::span<const Reading> readings, double period_s);

}  // namespace joulecast::report
