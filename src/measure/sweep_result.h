// SPDX-License-Identifier: Apache-2.0
// What a sweep says: the best setting for time, energy and energy-delay product, how sure that is, and what it gains.
// Pure functions of plain values; sweep_load.h makes them of recordings.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "series/models.h"
#include "series/paired.h"
#include "series/polynomial.h"

namespace joulecast {

// One run.
struct SweepMeasurement {
  std::string id;                            // of its files, for messages
  std::string group;                         // what it can be compared with: same command, same parameters
  std::string setting;                       // "200 W"
  std::optional<double> limit_w, clock_mhz;  // what was set, as far as it was
  bool is_default = false;                   // the device's own limit, clocks not locked
  std::size_t repetition = 1;
  double time_s = 0;
  std::optional<double> energy_j;  // absent where nothing measured it
  // As measured, of all GPUs of the run together.
  std::size_t gpus = 1;
  std::optional<double> sm_clock_mhz, idle_power_w;
  std::optional<double> device_limit_w;  // the most they can be set to

  [[nodiscard]] std::optional<double> power_w() const {
    return energy_j ? std::optional(*energy_j / time_s) : std::nullopt;
  }
};

enum class SweepGoal : std::uint8_t { kTime, kEnergy, kEdp };
inline constexpr std::array kSweepGoals{SweepGoal::kTime, SweepGoal::kEnergy, SweepGoal::kEdp};
// "time", "energy", "EDP"; "time_s", "energy_j", "edp_js".
std::string_view name_of(SweepGoal goal);
std::string_view key_of(SweepGoal goal);
// Requires: an energy, for all but the time.
double value_of(const SweepMeasurement& run, SweepGoal goal);

// Of one goal at one setting.
struct SweepEstimate {
  std::size_t count = 0;
  double mean = 0;
  std::optional<double> deviation, low, high;  // low to high: 95 % of the mean, by Student's t; absent for one run
};

// Against the reference setting.
struct SweepDifference {
  double percent = 0;
  // 95 % that all differences of the table to the reference are in theirs (Bonferroni): each alone is in it more
  // often. Absent for one run.
  std::optional<double> low, high;
  // Two-sided, adjusted by Holm for all settings of the table; absent for fewer than kLeastRunsToDraw runs. Where no
  // run differs from the others of its setting it is 0, or 1 for equal means.
  std::optional<double> p;
  bool paired = false;  // by repetitions, else Welch's test: also where all pairs differ by the same
};

struct SweepSetting {
  std::string setting;
  std::optional<double> limit_w, clock_mhz;
  // One entry a goal of the group.
  std::vector<SweepEstimate> estimates;
  std::vector<std::optional<SweepDifference>> differences;  // absent for the reference itself
  std::optional<double> power_w, sm_clock_mhz;              // means
};

enum class SweepVerdict : std::uint8_t {
  kReferenceIsBest,
  kGain,           // and more than chance explains
  kGainElsewhere,  // not surely at this setting, but at others that are better than the reference
  kNoMeasurableGain,
  kTooFewRuns,  // nothing tells chance from gain
};

// "a gain", "no measurable gain", ...
std::string verdict_text(SweepVerdict verdict);
// "gain", "no_measurable_gain", ...
std::string verdict_key(SweepVerdict verdict);

struct SweepOptimum {
  SweepGoal goal = SweepGoal::kTime;
  std::size_t setting = 0;  // index
  // The share of resampled series in which it is the best one; absent where a setting has too few runs for that, where
  // there is no other, and where nothing measurable is gained: then it is the best by chance.
  std::optional<double> confidence;
  std::vector<std::size_t> rivals;  // others that were the best in one of twenty or more
  double gain_percent = 0;          // less than at the reference
  SweepVerdict verdict = SweepVerdict::kTooFewRuns;
};

// A polynomial through all runs over limit or clock.
struct SweepCurve {
  SweepGoal goal = SweepGoal::kEnergy;
  std::size_t degree = 2;
  series::PolynomialFit fit;
  double least_at = 0, least = 0;  // within the swept range
  bool at_the_edge = false;        // its least is an end of the range: the true one may lie beyond
};

struct SweepGroup {
  std::string group;
  std::vector<SweepSetting> settings;  // by limit, then clock, rising
  std::size_t reference = 0;           // index
  bool reference_is_default = false;   // else it is the highest setting there is
  std::vector<SweepGoal> goals;        // those of kSweepGoals that were measured: all, or time alone without energy
  std::vector<SweepOptimum> optima;    // one entry a goal
  std::string axis;                // "limit_w" or "clock_mhz": what alone changes; empty where several do or nothing
  std::vector<SweepCurve> curves;  // energy and EDP, of second and third degree where there are settings enough
  std::optional<series::Correlation> power_clock;
  std::optional<series::SweepModels> models;
  std::string no_models;  // why not

  // The fewest runs of a setting.
  [[nodiscard]] std::size_t fewest_runs() const;
  // "2 runs of a setting are too few to say how sure its place is: it takes 3"; empty where there are enough.
  [[nodiscard]] std::string too_few_runs() const;
};

// Groups in the order of their first runs. Errors: kInvalidInput for no runs, times or energies that are not positive
// numbers, and groups where only some runs have an energy.
Result<std::vector<SweepGroup>> judge_sweep(const std::vector<SweepMeasurement>& runs);

// Where nothing but parameters of the command was swept: its parameters against each other, as if they were settings.
// Absent where there is one group, or one of several settings. Errors: judge_sweep()'s.
Result<std::optional<SweepGroup>> compare_parameters(const std::vector<SweepMeasurement>& runs);

}  // namespace joulecast
