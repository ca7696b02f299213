// SPDX-License-Identifier: Apache-2.0
// What the settings law is worth on what it was not fitted on: each workload, or each GPU with the workload, left out
// in turn, beside the rules people use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "predict/settings/settings_model.h"
#include "predict/settings/sweep.h"

namespace joulecast::settings {

// How much was known of the workload on the GPU. The default setting always was.
enum class Scenario : std::uint8_t {
  kKnownGpu,     // the GPU was swept with other workloads
  kKnownGpuOne,  // and one more setting was measured: half the default limit
  kKnownGpuTwo,  // and a second one at 0.7
  kUnseenGpu,    // neither the GPU nor the workload were swept
  kUnseenGpuOne,
  kUnseenGpuTwo,
  kHalfLimit,     // rule: half the default limit, whatever the workload
  kParabola,      // rule: a parabola through the energy measured at 0.5, 0.75 and 1
  kLawSameThree,  // the law with what the parabola has, the GPU swept
};
inline constexpr std::size_t kScenarios = 9;
std::string_view name(Scenario scenario);

// One sweep under one scenario. Errors are means of |predicted - measured| / measured over the settings that were not
// given, from half of the default limit up; regrets are measured values at the recommended setting over the least, - 1.
struct JudgedSweep {
  Scenario scenario = Scenario::kKnownGpu;
  const Sweep* sweep = nullptr;
  bool active = false;  // draws more than the lowest limit, so that limits do something; only these are averaged
  std::optional<double> time_error = {}, power_error = {};
  double energy_regret = 0.0, edp_regret = 0.0;                // on the values as measured
  double energy_regret_smooth = 0.0, edp_regret_smooth = 0.0;  // on the law's curve through all of them
  // |ln(predicted / measured)| of the settings not given over the distance from those given (distance() in
  // predict/settings/mean_curve.h).
  std::vector<double> time_scores = {}, power_scores = {}, energy_scores = {};
  // Whether "no gain here" (a saving of at most 2 % is the likelier) was said where it is so.
  std::optional<bool> gain_right = {};
};

// Judges the sweeps of power limits with times; the others only help to fit. `whole`: fitted to all of them. `progress`
// is told each workload that was left out.
std::vector<JudgedSweep> judge(const SweepSet& set, const SettingsModel& whole,
                               const std::function<void(const std::string&)>& progress);
// How many workloads that are.
std::size_t judged_workloads(const SweepSet& set);

// What the settings add to intervals: 90 % of the scores stay below. Active sweeps only.
SettingWidths widths_of(const std::vector<JudgedSweep>& judged, Scenario scenario);

// One line of the report.
struct ScenarioFigures {
  Scenario scenario = Scenario::kKnownGpu;
  std::size_t sweeps = 0;  // active ones
  std::optional<double> time_error = {}, power_error = {};
  struct Regret {
    double mean = 0.0, within_1 = 0.0, within_3 = 0.0;  // shares of sweeps within 1 and 3 %
  };
  Regret energy = {}, edp = {}, energy_smooth = {}, edp_smooth = {};
  std::size_t gain_right = 0, gain_judged = 0;
};
std::vector<ScenarioFigures> figures_of(const std::vector<JudgedSweep>& judged);

}  // namespace joulecast::settings
