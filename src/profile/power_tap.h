// SPDX-License-Identifier: Apache-2.0
// The recorder's readings of the last case, kept in memory: what it drew is known as soon as it is done.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "power/gpu_settings.h"
#include "profile/case_result.h"
#include "profile/sensor_span.h"
#include "profile/time_case.h"
#include "recording/recording.h"

namespace joulecast::profile {

struct PowerFinding {
  std::optional<CasePower> power;
  std::vector<std::string> doubts;
  std::string slowed_by;  // reasons that held the clocks down at some moment; empty for none
};

// One device's readings. add() and the rest may be called by different threads.
class PowerTap {
 public:
  // Those of `device` count, "gpu0" say.
  PowerTap(std::vector<Channel> channels, nlohmann::json head, std::string device);

  void add(std::size_t channel, const Reading& reading);
  // Forgets what was before; settings are in force from that moment on.
  void begin(MonotonicUs now);
  // Power over all windows of the case and the pauses between, and the energy of an iteration at that power. Where the
  // power had not settled at the first window, what comes before its change point is left out, and a doubt says so.
  [[nodiscard]] PowerFinding finding(const CaseTiming& timing) const;
  // Why settings did not last through the windows, by what was read since begin(); empty where nothing speaks against
  // it.
  [[nodiscard]] std::string not_held(const CaseTiming& timing, const GpuSettings& wanted) const;
  // What span_for_power() says of these channels.
  [[nodiscard]] std::optional<SensorSpan> span() const;
  // Every channel has a reading after that moment, or a second has passed.
  [[nodiscard]] bool reaches(MonotonicUs time) const;

 private:
  mutable std::mutex mutex_;
  Recording recent_;
  std::string device_;
  MonotonicUs begun_ = 0;
};

}  // namespace joulecast::profile
