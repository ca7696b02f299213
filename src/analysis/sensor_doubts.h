// SPDX-License-Identifier: Apache-2.0
// What a sensor's class means for the figure that rests on it. Where a counter gives the answer there is no such doubt:
// it sees all of the time.
#pragma once

#include <string>
#include <vector>

#include "analysis/summary.h"
#include "recording/recording.h"
#include "series/warning.h"

namespace joulecast {

// For every device whose energy is, or would have been, of power readings:
//   classes A and D   kPartlySeen; and kAliasing where a meter on steady blocks shows that readings wander while the
//                     load stays, or where marked phases repeat in step with the sensor,
//                     also where readings then stand still
//   class C           kOneSecondAverage with what was done about it; kShortWindow where it was refused
//   classes E and F   kSlowSensor, also where it was refused
//   class G           kEstimatedSensor: refused
// A meter witnesses the only GPU of a recording; of several it must be named after one ("gpu0-rail").
std::vector<SensorDoubt> sensor_doubts(const Recording& recording, const std::vector<Phase>& phases,
                                       const std::vector<DeviceSummary>& devices);

}  // namespace joulecast
