// SPDX-License-Identifier: Apache-2.0
// How time and power follow the clock and the power limit: one law for both, because a limit acts as a clock.
//
//   const SettingLaw law(constants);
//   const Outcome half = law.outcome(hypothesis, {.clock = 1.0, .limit = 0.5});
//   double slower = half.time / law.outcome(hypothesis, {}).time;
//
// Powers are shares of the GPU's default limit, clocks shares of its highest clock, times are relative to an uncapped
// run at the highest clock. The formulas, with where they come from: docs/how-predictions-are-made.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace joulecast::settings {

// Of one GPU. Fitted where it was swept (src/fit/settings), else the mean of those swept, its kin above all.
struct GpuConstants {
  double static_power = 0.25;  // drawn whatever the clock, while work is there
  double low_power = 0.16;     // mean in the low phase: context there, clocks up, nothing to do
  double knee = 0.69;          // clock above which the voltage rises
  double slope = 1.1;          // of the voltage above the knee
  double lowest_clock = 0.22;  // below it a limit is not kept
  double held = 0.985;         // share of the limit that the mean power stays under
  double clocked = 0.75;       // share of the dynamic power that follows the clock; the rest follows the rate of work
  double unevenness = 0.45;    // how far the dynamic demands of a network's operations lie apart

  friend bool operator==(const GpuConstants&, const GpuConstants&) = default;
};
inline constexpr std::array<double GpuConstants::*, 8> kGpuConstants{
    &GpuConstants::static_power, &GpuConstants::low_power, &GpuConstants::knee,    &GpuConstants::slope,
    &GpuConstants::lowest_clock, &GpuConstants::held,      &GpuConstants::clocked, &GpuConstants::unevenness};
inline constexpr std::array<std::string_view, kGpuConstants.size()> kGpuConstantNames{
    "static_power", "low_power", "knee", "slope", "lowest_clock", "held", "clocked", "unevenness"};

// Whether a board can be like that; what is not is neither fitted nor read from a pack.
bool possible(const GpuConstants& constants);

// A setting. Absent ones are 1: the highest clock, the default limit.
struct OperatingPoint {
  double clock = 1.0, limit = 1.0;
  friend bool operator==(const OperatingPoint&, const OperatingPoint&) = default;
};

// Clock sensitivities are steps, so that what depends on the clock alone is computed once a GPU.
inline constexpr std::array<double, 12> kSensitivities{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1};

// What is hidden of a workload on a GPU.
struct Hypothesis {
  std::size_t sensitivity = 0;  // index into kSensitivities: t(x) = 1 - s + s / x
  double low_share = 0.0;       // of the time, in a phase that no clock changes: host, input, bubbles
  double dynamic = 0.5;         // busy power beyond the static one, at the highest clock without a cap; may exceed 1
};

struct Outcome {
  double time = 1.0, power = 0.0;  // of both phases together; the mean power
};

class SettingLaw {
 public:
  explicit SettingLaw(const GpuConstants& constants);

  [[nodiscard]] const GpuConstants& constants() const { return constants_; }
  // Relative to the highest clock's.
  [[nodiscard]] double voltage(double clock) const;
  // The clock at which work of this dynamic demand stays within both settings.
  [[nodiscard]] double clock(std::size_t sensitivity, double dynamic, const OperatingPoint& at) const;

  // Dynamic power of a demand of 1 at a clock, 1 at the highest.
  [[nodiscard]] double dynamic_at(std::size_t sensitivity, double clock) const;

  // The busy phase alone: time, and energy in units of the default limit times that time at the highest clock.
  struct Busy {
    double time = 1.0, energy = 0.0;
  };
  [[nodiscard]] Busy busy(std::size_t sensitivity, double dynamic, const OperatingPoint& at) const;
  // Adds the low phase.
  [[nodiscard]] Outcome joined(const Busy& busy, double low_share, const OperatingPoint& at) const;
  [[nodiscard]] Outcome outcome(const Hypothesis& hypothesis, const OperatingPoint& at) const {
    return joined(busy(hypothesis.sensitivity, hypothesis.dynamic, at), hypothesis.low_share, at);
  }

 private:
  static constexpr std::size_t kSteps = 160;
  using Steps = std::array<double, kSteps>;

  GpuConstants constants_;
  Steps clocks_{};
  std::array<Steps, kSensitivities.size()> dynamic_{};  // of a demand of 1, at those clocks: rising
};

}  // namespace joulecast::settings
