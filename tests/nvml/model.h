// SPDX-License-Identifier: Apache-2.0
// The physics of one GPU that is not there: load, limit and clocks make power; sensor and counter make readings of it.
// Between two edges (of the load, of a setting, of a limit set by others) everything is constant, so means and energy
// are exact sums and not samples of samples.
#pragma once

#include <optional>
#include <vector>

#include "settings.h"

namespace joulecast::nvml {

struct Settings {
  std::optional<std::uint32_t> limit_mw;
  std::optional<Pair> sm_lock_mhz;
  std::optional<Pair> memory_lock_mhz;
  std::optional<Pair> application_mhz;  // memory, graphics
};

// What holds from an edge to the next.
struct Condition {
  double power_w = 0;
  std::uint32_t sm_clock_mhz = 0;
  bool idle = false;
  bool capped = false;        // by the power limit
  bool clocks_bound = false;  // by locked or application clocks
};

class GpuModel {
 public:
  explicit GpuModel(const GpuSpec& spec) : spec_(&spec) { forget(); }

  // Requires: `change.at` is not before an earlier one's.
  void apply(const Change& change);
  void forget();

  [[nodiscard]] Settings settings(Nanoseconds at) const;
  [[nodiscard]] std::uint32_t requested_limit_mw(Nanoseconds at) const;
  [[nodiscard]] std::uint32_t enforced_limit_mw(Nanoseconds at) const;
  [[nodiscard]] std::uint32_t memory_clock_mhz(Nanoseconds at) const;
  [[nodiscard]] Condition condition(Nanoseconds at) const;

  [[nodiscard]] double energy_j(Nanoseconds from, Nanoseconds to) const;
  [[nodiscard]] double mean_w(Nanoseconds from, Nanoseconds to) const;

  // What the library says at `at`: the sensor's last update decides. Watts with gain and offset, never below 0.
  [[nodiscard]] Nanoseconds last_update(Nanoseconds at) const;
  [[nodiscard]] double instant_w(Nanoseconds at) const;
  [[nodiscard]] double average_w(Nanoseconds at) const;
  [[nodiscard]] double legacy_w(Nanoseconds at) const;
  [[nodiscard]] std::uint64_t counter_mj(Nanoseconds at) const;

  [[nodiscard]] const GpuSpec& spec() const { return *spec_; }

 private:
  [[nodiscard]] double demand_w(Nanoseconds at) const;
  [[nodiscard]] Nanoseconds next_edge(Nanoseconds at) const;
  [[nodiscard]] Nanoseconds next_load_edge(Nanoseconds at) const;
  [[nodiscard]] const Settings& settings_ref(Nanoseconds at) const;
  [[nodiscard]] double rc_w(Nanoseconds at) const;
  [[nodiscard]] double reading(double power_w) const;

  struct Since {
    Nanoseconds at = 0;
    Settings settings;
  };
  const GpuSpec* spec_;
  std::vector<Since> history_;  // the first holds before the start, too
  // Energy up to here was summed already: a counter that is read for hours must not add up its hours each time.
  mutable Nanoseconds summed_to_ = 0;
  mutable double summed_j_ = 0;
};

}  // namespace joulecast::nvml
