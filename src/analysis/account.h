// SPDX-License-Identifier: Apache-2.0
// What a device drew in a stretch of a run, by every source there is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/averaged_power.h"
#include "joulecast/units.h"
#include "recording/recording.h"
#include "series/calibration.h"
#include "series/energy.h"
#include "series/sensor_class.h"
#include "series/series.h"

namespace joulecast {

// Energy by one source.
struct SourceEnergy {
  std::string source;  // "nvml-counter"
  series::EnergyMethod method = series::EnergyMethod::kCounter;
  Joules energy, standard_error;
  double coverage = 1;                        // share of the time between its readings, without gaps too long for it
  std::optional<series::SensorClass> sensor;  // absent for counters, and where nobody studied the chip
  Correction correction = Correction::kNone;
  std::optional<Joules> uncalibrated;  // what was read, where a calibration line was applied
};

// A source whose readings cannot tell the energy of this stretch.
struct RefusedSource {
  std::string source;
  std::optional<series::SensorClass> sensor;
  std::string why;
};

// The line of one source of one device. It is applied to that source alone.
struct AppliedLine {
  std::string device, source;
  series::CalibrationLine line;
};

// The least, the most, and the mean over time.
struct ReadingRange {
  double low = 0, mean = 0, high = 0;
};

// One device over [begin, end].
struct DeviceAccount {
  std::string device;
  // From best to worst: the counter, the driver's buffer, instants, what is left. The first is the answer, the others
  // witnesses. Empty where nothing could be read.
  std::vector<SourceEnergy> energy;
  std::vector<RefusedSource> refused;
  std::optional<ReadingRange> power_w;  // of single readings; the mean is the energy's where there is one
  std::optional<ReadingRange> sm_clock_hz, temperature_c, utilization_ratio, memory_used_bytes;
  // All bits that were seen, and the share of readings in which the power limit held the clocks down; absent where
  // nobody reads them.
  std::optional<std::uint64_t> event_reasons;
  std::optional<double> capped_share;
  std::vector<std::string> doubts;  // sentences for people
};

// The share of a stretch that readings must cover for a total to be given.
inline constexpr double kLeastCoverage = 0.9;
// A gap between readings of power is not covered where it is longer than five usual (median) ones and than a second:
// lost readings here and there and polls that a busy host held up are shorter, and what a device did in a longer one
// nobody knows. It is bridged by a straight line, with a standard error as if the power in it were anything from
// nothing to twice the mean. Gaps of counters do not matter: their difference is right whatever lies between.
inline constexpr double kUsualGapsBridged = 5;
inline constexpr Seconds kShortestUncovered{1.0};
// Sources of one device, and a meter of it by its name ("gpu0-rail"), agree when they are no further apart than this
// share.
inline constexpr double kAgreement = 0.05;

// Prepared once, asked for any stretch.
class Accountant {
 public:
  // Keeps a reference: the recording must live as long.
  explicit Accountant(const Recording& recording, std::vector<AppliedLine> lines = {});

  // Devices that have readings, in the order of their channels.
  [[nodiscard]] const std::vector<std::string>& devices() const { return devices_; }
  // Requires: begin < end.
  [[nodiscard]] DeviceAccount account(const std::string& device, MonotonicUs begin, MonotonicUs end) const;
  // Joules since `begin`, from 0 to what account() says for the stretch, by the same source; times are seconds since
  // `begin`. Absent where nothing covers enough of it for a total. Requires: begin < end.
  [[nodiscard]] std::optional<series::Series> energy_curve(const std::string& device, MonotonicUs begin,
                                                           MonotonicUs end) const;
  // Watts of a channel of power or energy, corrected where it has a line; a counter's between its steps.
  [[nodiscard]] series::Series power(std::size_t channel) const;
  // The line applied to a source; null for none.
  [[nodiscard]] const series::CalibrationLine* line_of(const Channel& channel) const;

 private:
  struct Prepared {
    series::Series series;  // seconds on the recording's clock, SI units; counters in joules since their first reading
    std::string doubt;      // about the whole channel; empty for none
    std::optional<series::SensorClass> sensor;
    std::optional<AveragedPower> averaged;  // of class C
    double longest_covered_s = 0;           // gap between readings of power; no limit for counters
  };

  // Errors: kNotFound where it read nothing there; kUnsupported where what it read tells nothing.
  [[nodiscard]] Result<SourceEnergy> energy(std::size_t channel, double begin, double end) const;
  [[nodiscard]] Result<void> integrate(std::size_t channel, double begin, double end, SourceEnergy& out) const;
  void calibrate(const Channel& channel, double seconds, SourceEnergy& out) const;
  [[nodiscard]] std::optional<ReadingRange> range(const std::string& device, Signal signal, double begin,
                                                  double end) const;
  void add_reasons(DeviceAccount& account, double begin, double end) const;
  void add_doubts(DeviceAccount& account, MonotonicUs begin, MonotonicUs end) const;

  const Recording& recording_;
  std::vector<Prepared> prepared_;  // one entry a channel
  std::vector<std::string> devices_;
  std::vector<AppliedLine> lines_;
};

}  // namespace joulecast
