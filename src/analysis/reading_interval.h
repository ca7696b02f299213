// SPDX-License-Identifier: Apache-2.0
// Readings that should be there and are not, told by the interval at which they were to come.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/summary.h"

namespace joulecast {

// Sentences about the sources of power that give the devices' energy. The interval is `expected`, else that of the
// driver's buffer where it is known (20 ms of Pascal and Volta). Without one an imported log is only as complete as it
// looks: it is said how often it was read against the sensor's own pace, and where that changes on the way.
std::vector<std::string> interval_doubts(const Recording& recording, const std::vector<DeviceSummary>& devices,
                                         std::optional<Seconds> expected);

}  // namespace joulecast
