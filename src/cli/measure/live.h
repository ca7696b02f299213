// SPDX-License-Identifier: Apache-2.0
// What devices do at this moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/recorder.h"

namespace joulecast::cli {

struct LiveDevice {
  std::string device;
  std::optional<double> power_w, energy_j, sm_clock_hz, memory_clock_hz, temperature_c, utilization_ratio,
      memory_used_bytes, power_limit_w;
  std::optional<std::uint64_t> event_reasons;
  bool silent = false;  // it answered once and does no more: everything but the energy so far is absent
};

// Energy is counted from the first look: by the counter where there is one, else power times time between looks.
class Live {
 public:
  explicit Live(const Recorder& recorder) : recorder_(recorder) {}
  std::vector<LiveDevice> look();

 private:
  struct Progress {
    std::optional<Reading> counter;  // at the first look
    std::optional<Reading> power;    // at the last
    double integrated_j = 0;
  };
  // What the recorder knows at a look, one entry a channel.
  struct Known {
    std::vector<std::optional<Reading>> newest;
    std::vector<std::optional<Absence>> failing;
  };
  [[nodiscard]] bool answers(const std::string& device, const Known& known) const;
  void add(LiveDevice& device, const Channel& channel, const Reading& reading);

  const Recorder& recorder_;
  std::map<std::string, Progress> progress_;
};

}  // namespace joulecast::cli
