// SPDX-License-Identifier: Apache-2.0
// The result of a sweep as CSV and JSON.
#include <fmt/format.h>

#include "cli/measure/sweep_text.h"
#include "cli/output.h"

namespace joulecast::cli {
namespace {

Json optional_number(const std::optional<double>& value) {
  return value ? json_number(*value) : Json(nullptr);
}

// All digits but the last, which is the rounding of a mean: "0.001213", not "0.0012129999999999999".
std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.15g}", *value) : std::string();
}

Json estimate_json(const SweepEstimate& estimate) {
  return {{"n", estimate.count},
          {"mean", json_number(estimate.mean)},
          {"stddev", optional_number(estimate.deviation)},
          {"low", optional_number(estimate.low)},
          {"high", optional_number(estimate.high)}};
}

Json difference_json(const std::optional<SweepDifference>& difference) {
  if (!difference) return nullptr;
  return {{"percent", json_number(difference->percent)},
          {"low", optional_number(difference->low)},
          {"high", optional_number(difference->high)},
          {"p", optional_number(difference->p)},
          {"test", difference->paired ? "paired" : "welch"}};
}

Json setting_json(const SweepSetting& setting) {
  Json out{{"setting", setting.setting},
           {"limit_w", optional_number(setting.limit_w)},
           {"clock_mhz", optional_number(setting.clock_mhz)},
           {"power_w", optional_number(setting.power_w)},
           {"sm_clock_mhz", optional_number(setting.sm_clock_mhz)}};
  for (std::size_t g = 0; g < kSweepGoals.size(); ++g) {
    const std::string key(key_of(kSweepGoals[g]));
    const bool measured = g < setting.estimates.size();
    out[key] = measured ? estimate_json(setting.estimates[g]) : Json(nullptr);
    out[key + "_difference"] = measured ? difference_json(setting.differences[g]) : Json(nullptr);
  }
  return out;
}

Json optimum_json(const SweepOptimum& optimum, const SweepGroup& group) {
  Json rivals = Json::array();
  for (const std::size_t rival : optimum.rivals) rivals.push_back(group.settings[rival].setting);
  return {{"goal", key_of(optimum.goal)},
          {"setting", group.settings[optimum.setting].setting},
          {"confidence", optional_number(optimum.confidence)},
          {"gain_percent", json_number(optimum.gain_percent)},
          {"verdict", verdict_key(optimum.verdict)},
          {"rivals", rivals}};
}

Json curve_json(const SweepCurve& curve) {
  return {{"goal", key_of(curve.goal)},
          {"degree", curve.degree},
          {"coefficients", curve.fit.coefficients()},
          {"r2", optional_number(curve.fit.fit.r2)},
          {"degrees_of_freedom", curve.fit.fit.degrees_of_freedom},
          {"leave_one_setting_out", optional_number(curve.fit.leave_one_x_out)},
          {"least_at", json_number(curve.least_at)},
          {"least", json_number(curve.least)},
          {"at_the_edge", curve.at_the_edge}};
}

Json models_json(const SweepGroup& group) {
  if (!group.models) return {{"why_not", group.no_models}};
  const series::SweepModels& m = *group.models;
  return {{"utilization", json_number(m.basis.utilization)},
          {"idle_power_w", json_number(m.basis.idle.value())},
          {"highest_clock_hz", json_number(m.highest_clock.value())},
          {"clock", m.clock.coefficients},
          {"power", m.power.coefficients},
          {"delay", m.delay.coefficients},
          {"clock_r2", optional_number(m.clock_r2)},
          {"power_r2", optional_number(m.power_r2)},
          {"time_r2", optional_number(m.time_r2)},
          {"energy_r2", optional_number(m.energy_r2)},
          {"edp_r2", optional_number(m.energy_delay_r2)},
          {"least_energy_at_w", json_number(series::best_limit(m, series::Optimum::kEnergy).value())},
          {"least_edp_at_w", json_number(series::best_limit(m, series::Optimum::kEnergyDelay).value())}};
}

Json group_json(const SweepGroup& group) {
  Json settings = Json::array(), optima = Json::array(), curves = Json::array();
  for (const SweepSetting& setting : group.settings) settings.push_back(setting_json(setting));
  for (const SweepOptimum& optimum : group.optima) optima.push_back(optimum_json(optimum, group));
  for (const SweepCurve& curve : group.curves) curves.push_back(curve_json(curve));
  Json correlation = nullptr;
  if (group.power_clock) {
    correlation = {{"r", json_number(group.power_clock->r)},
                   {"p", optional_number(group.power_clock->p)},
                   {"n", group.power_clock->pairs}};
  }
  return {{"group", group.group},
          {"reference", group.settings[group.reference].setting},
          {"reference_is_default", group.reference_is_default},
          {"fewest_runs", group.fewest_runs()},
          {"axis", group.axis.empty() ? Json(nullptr) : Json(group.axis)},
          {"settings", settings},
          {"optima", optima},
          {"curves", curves},
          {"power_clock_correlation", correlation},
          {"models", models_json(group)}};
}

// Whether this setting is the optimum; if so, how surely, and what that is worth.
std::string optimum_cells(const SweepOptimum& optimum, std::size_t setting) {
  if (optimum.setting != setting) return "0,,";
  return fmt::format("1,{},{}", csv_number(optimum.confidence), verdict_key(optimum.verdict));
}

}  // namespace

std::string sweep_csv(const std::vector<SweepGroup>& groups) {
  std::string out =
      "group,setting,limit_w,clock_mhz,goal,n,mean,stddev,low,high,difference_percent,difference_low_percent,"
      "difference_high_percent,p,test,power_w,sm_clock_mhz,reference,optimum,confidence,verdict\r\n";
  for (const SweepGroup& group : groups) {
    for (std::size_t i = 0; i < group.settings.size(); ++i) {
      const SweepSetting& s = group.settings[i];
      for (std::size_t g = 0; g < group.goals.size(); ++g) {
        const SweepEstimate& e = s.estimates[g];
        const SweepDifference d = s.differences[g].value_or(SweepDifference{});
        out += fmt::format("{},{},{},{},{},{},{},{},{},{},", csv_field(group.group), csv_field(s.setting),
                           csv_number(s.limit_w), csv_number(s.clock_mhz), key_of(group.goals[g]), e.count,
                           csv_number(e.mean), csv_number(e.deviation), csv_number(e.low), csv_number(e.high));
        const std::optional<double> percent = s.differences[g] ? std::optional(d.percent) : std::nullopt;
        out += fmt::format("{},{},{},{},{},{},{},{},{}\r\n", csv_number(percent), csv_number(d.low), csv_number(d.high),
                           csv_number(d.p),
                           !s.differences[g] ? ""
                           : d.paired        ? "paired"
                                             : "welch",
                           csv_number(s.power_w), csv_number(s.sm_clock_mhz), i == group.reference ? 1 : 0,
                           optimum_cells(group.optima[g], i));
      }
    }
  }
  return out;
}

Json sweep_json(const std::vector<SweepGroup>& groups, const std::optional<SweepGroup>& parameters,
                const LoadedSweep& loaded) {
  Json list = Json::array();
  for (const SweepGroup& group : groups) list.push_back(group_json(group));
  return {{"schema", "joulecast.sweep-result/1"},
          {"groups", list},
          {"parameters", parameters ? group_json(*parameters) : Json(nullptr)},
          {"left_out", loaded.left_out},
          {"warnings", loaded.doubts}};
}

}  // namespace joulecast::cli
