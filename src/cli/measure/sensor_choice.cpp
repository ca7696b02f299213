// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/sensor_choice.h"

#include <fmt/format.h>

#include <cmath>

namespace joulecast::cli {

SensorOptions sensor_options(const SensorChoice& choice) {
  SensorOptions out;
  out.gpus = choice.gpu;
  out.meters = choice.meters;
  out.replay = choice.replay;
  constexpr double kMicrosecondsOfMillisecond = 1000;
  if (choice.interval_ms) {
    out.interval = std::chrono::microseconds(std::llround(*choice.interval_ms * kMicrosecondsOfMillisecond));
  }
  return out;
}

std::string sentence(const Missing& missing) {
  return missing.remedy.empty() ? fmt::format("{}: {}", missing.what, missing.why)
                                : fmt::format("{}: {}; {}", missing.what, missing.why, missing.remedy);
}

}  // namespace joulecast::cli
