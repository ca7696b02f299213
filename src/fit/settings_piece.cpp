// SPDX-License-Identifier: Apache-2.0
#include "fit/settings_piece.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "fit/settings/fit_settings.h"
#include "fit/settings/judge.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;
using settings::JudgedSweep;
using settings::ScenarioFigures;
using settings::SettingsModel;
using settings::Sweep;
using settings::SweepSet;

Json regret_json(const ScenarioFigures::Regret& r) {
  return {{"mean", r.mean}, {"within_1_percent", r.within_1}, {"within_3_percent", r.within_3}};
}

Json figures_json(const std::vector<ScenarioFigures>& figures) {
  Json out = Json::array();
  for (const ScenarioFigures& f : figures) {
    out.push_back({{"scenario", name(f.scenario)},
                   {"sweeps", f.sweeps},
                   {"time_error", f.time_error ? Json(*f.time_error) : Json(nullptr)},
                   {"power_error", f.power_error ? Json(*f.power_error) : Json(nullptr)},
                   {"energy_regret", regret_json(f.energy)},
                   {"energy_regret_smooth", regret_json(f.energy_smooth)},
                   {"edp_regret", regret_json(f.edp)},
                   {"edp_regret_smooth", regret_json(f.edp_smooth)},
                   {"gain_right", f.gain_right},
                   {"gain_judged", f.gain_judged}});
  }
  return out;
}

Json report(const SweepSet& set, const std::vector<JudgedSweep>& judged) {
  std::set<std::string_view> gpus;
  for (const Sweep& sweep : set.sweeps) gpus.insert(sweep.gpu->id);
  return {{"sweeps", set.sweeps.size()},
          {"gpus", gpus},
          {"workloads_left_out", judged_workloads(set)},
          {"left_out", judged.empty() ? Json::array() : figures_json(settings::figures_of(judged))}};
}

// Without judging the wide defaults stay.
void add_widths(const std::vector<JudgedSweep>& judged, SettingsModel& model) {
  using settings::Scenario;
  if (judged.empty()) return;
  model.set_widths(true, false, settings::widths_of(judged, Scenario::kKnownGpu));
  model.set_widths(true, true, settings::widths_of(judged, Scenario::kKnownGpuOne));
  model.set_widths(false, false, settings::widths_of(judged, Scenario::kUnseenGpu));
  model.set_widths(false, true, settings::widths_of(judged, Scenario::kUnseenGpuOne));
}

// One fit to a sweep costs about as much as so many rows times trees times levels.
constexpr double kSweepCost = 2e6;

double fit_cost(const SweepSet& set) {
  return kSweepCost * static_cast<double>(set.sweeps.size());
}

}  // namespace

Result<PackWriter> fit_settings_piece(const SweepSet& set, Judging judging, const Step& step) {
  settings::SweepViews all;
  for (const Sweep& sweep : set.sweeps) all.push_back(&sweep);
  SettingsModel model = settings::fit_settings(all);
  step("all sweeps", fit_cost(set));
  std::vector<JudgedSweep> judged;
  if (judging == Judging::kFull) {
    judged = settings::judge(
        set, model, [&](const std::string& workload) { step(fmt::format("without {}", workload), fit_cost(set)); });
  }
  add_widths(judged, model);
  PackWriter out;
  JC_RETURN_IF_ERROR(out.add_table(std::string(pack_names::kSettings), model.numbers()));
  JC_RETURN_IF_ERROR(out.add_json(std::string(pack_names::kSettings),
                                  report(set, judged).dump(1, ' ', false, Json::error_handler_t::replace)));
  return out;
}

double settings_cost(const SweepSet& set, Judging judging) {
  const double judged = judging == Judging::kFull ? static_cast<double>(judged_workloads(set)) : 0.0;
  return fit_cost(set) * (1.0 + judged);
}

}  // namespace joulecast
