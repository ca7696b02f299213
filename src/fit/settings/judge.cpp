// SPDX-License-Identifier: Apache-2.0
#include "fit/settings/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "dataset/metrics.h"
#include "fit/settings/fit_settings.h"
#include "joulecast/predict.h"
#include "predict/settings/foretell.h"
#include "predict/settings/mean_curve.h"

namespace joulecast::settings {
namespace {

using Indices = std::vector<std::size_t>;

Indices all_of(const Sweep& sweep) {
  Indices out(sweep.points.size());
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

std::size_t nearest(const Sweep& sweep, double limit) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (std::abs(sweep.points[i].limit - limit) < std::abs(sweep.points[best].limit - limit)) best = i;
  }
  return best;
}

Indices known_settings(const Sweep& sweep, std::initializer_list<double> limits) {
  std::set<std::size_t> out{sweep.last()};
  for (const double limit : limits) out.insert(nearest(sweep, limit));
  return {out.begin(), out.end()};
}

Indices from(const Sweep& sweep, double lowest) {
  Indices out;
  for (const std::size_t i : all_of(sweep)) {
    if (sweep.points[i].limit >= lowest) out.push_back(i);
  }
  return out;
}

// Logarithm of what is to be small, at a setting.
double measured_cost(const Sweep& sweep, std::size_t i, Objective objective) {
  return *sweep.log_power[i] + (objective == Objective::kEdp ? 2.0 : 1.0) * *sweep.log_time[i];
}
double curve_cost(const MeanCurve& curve, std::size_t i, Objective objective) {
  return curve.log_power[i] + (objective == Objective::kEdp ? 2.0 : 1.0) * curve.log_time[i];
}

// The measured curve without its noise: the law and its residual through all settings.
struct Smoothed {
  MeanCurve curve;
  // Of energy, at the best setting against the default; of the law alone, because the residual of a host-bound workload
  // is the noise of its times (3 to 4 %).
  double saving = 0.0;

  Smoothed(const Sweep& sweep, const SettingLaw& law) {
    const Curves curves = curves_of(law, hypothesis_grid(), sweep.points);
    const std::vector<Known> known = sweep.all_known();
    const Weights flat(kGridSize, 1.0 / static_cast<double>(kGridSize));
    const MeanCurve mean = mean_curve(curves, posterior(flat, misfits(curves, known)));
    curve = through_known(mean, sweep.points, known);
    double least = curve_cost(mean, 0, Objective::kEnergy);
    for (const std::size_t i : all_of(sweep)) least = std::min(least, curve_cost(mean, i, Objective::kEnergy));
    saving = -std::expm1(least - curve_cost(mean, sweep.last(), Objective::kEnergy));
  }
};

// What a scenario recommends and predicts.
struct Answer {
  std::size_t energy_setting = 0, edp_setting = 0;
  std::optional<MeanCurve> curve = {};  // rules have none
  bool gain = false;                    // a saving of energy there of more than kNoGain is likely
};

Answer answer_of(const Sweep& sweep, const SettingLaw& law, const Weights& prior, const Indices& given, bool unseen) {
  const auto [curves, weights, mean, curve] = foretell(sweep, law, prior, given);
  const Indices allowed = unseen && given.size() < 2 ? from(sweep, kUnsweptFloor) : all_of(sweep);
  // From three settings on the correction has a shape; between two it is a straight line that nobody measured.
  const Curves decided = given.size() > 2 ? moved(curves, mean, curve) : curves;
  Answer out{.energy_setting = recommended(decided, weights, Objective::kEnergy, allowed),
             .edp_setting = recommended(decided, weights, Objective::kEdp, allowed),
             .curve = curve};
  // By the law alone: what the times of a host-bound workload add is noise.
  out.gain =
      chance_of_saving(curves, weights, Objective::kEnergy, out.energy_setting, sweep.last(), 1.0 - kNoGain) > 0.5;
  return out;
}

// The lowest point of a parabola through the values at three settings, among all settings.
std::size_t lowest_of_parabola(const Sweep& sweep, const Indices& given, Objective objective) {
  const auto parabola = [&](double x) {
    double sum = 0.0;
    for (const std::size_t i : given) {
      double term = std::exp(measured_cost(sweep, i, objective) - measured_cost(sweep, sweep.last(), objective));
      for (const std::size_t j : given) {
        if (j != i) term *= (x - sweep.points[j].limit) / (sweep.points[i].limit - sweep.points[j].limit);
      }
      sum += term;
    }
    return sum;
  };
  std::size_t best = sweep.last();
  for (const std::size_t i : all_of(sweep)) {
    if (parabola(sweep.points[i].limit) < parabola(sweep.points[best].limit)) best = i;
  }
  return best;
}

double mean_error(const std::vector<double>& curve, const std::vector<std::optional<double>>& measured,
                  const Sweep& sweep, const Indices& given) {
  const double level = *measured[sweep.last()] - curve[sweep.last()];
  double sum = 0.0;
  const Indices settings = judged_settings(sweep, given);
  for (const std::size_t i : settings) sum += std::abs(std::expm1(curve[i] + level - *measured[i]));
  return settings.empty() ? 0.0 : sum / static_cast<double>(settings.size());
}

double measured_regret(const Sweep& sweep, std::size_t chosen, Objective objective) {
  double least = measured_cost(sweep, chosen, objective);
  for (const std::size_t i : all_of(sweep)) least = std::min(least, measured_cost(sweep, i, objective));
  return std::expm1(measured_cost(sweep, chosen, objective) - least);
}

double smooth_regret(const Smoothed& smooth, std::size_t chosen, Objective objective) {
  double least = curve_cost(smooth.curve, chosen, objective);
  for (std::size_t i = 0; i < smooth.curve.log_time.size(); ++i)
    least = std::min(least, curve_cost(smooth.curve, i, objective));
  return std::expm1(curve_cost(smooth.curve, chosen, objective) - least);
}

// Every setting that was not given counts, however low: intervals must hold there too.
void add_scores(const Sweep& sweep, const MeanCurve& curve, const Indices& given, JudgedSweep& out) {
  for (const std::size_t i : all_of(sweep)) {
    if (std::find(given.begin(), given.end(), i) != given.end()) continue;
    const double away = distance(curve, i, given);
    const double level = *sweep.log_time[sweep.last()] - curve.log_time[sweep.last()];
    const double time = curve.log_time[i] + level - *sweep.log_time[i];
    const double power = curve.log_power[i] - *sweep.log_power[i];
    out.time_scores.push_back(std::abs(time) / away);
    out.power_scores.push_back(std::abs(power) / away);
    out.energy_scores.push_back(std::abs(time + power) / away);
  }
}

JudgedSweep judged(const Sweep& sweep, Scenario scenario, const Answer& answer, const Indices& given,
                   const Smoothed& smooth) {
  JudgedSweep out{.scenario = scenario, .sweep = &sweep};
  out.active = *sweep.log_power.back() > std::log(sweep.points.front().limit);
  out.energy_regret = measured_regret(sweep, answer.energy_setting, Objective::kEnergy);
  out.edp_regret = measured_regret(sweep, answer.edp_setting, Objective::kEdp);
  out.energy_regret_smooth = smooth_regret(smooth, answer.energy_setting, Objective::kEnergy);
  out.edp_regret_smooth = smooth_regret(smooth, answer.edp_setting, Objective::kEdp);
  if (!answer.curve) return out;
  out.time_error = mean_error(answer.curve->log_time, sweep.log_time, sweep, given);
  out.power_error = mean_error(answer.curve->log_power, sweep.log_power, sweep, given);
  add_scores(sweep, *answer.curve, given, out);
  out.gain_right = answer.gain == (smooth.saving > kNoGain);
  return out;
}

struct Asked {
  Scenario scenario;
  std::initializer_list<double> limits;
};

// The law under several amounts of knowledge.
void judge_law(const Sweep& sweep, const SettingsModel& model, std::span<const Asked> asked, bool unseen,
               const Smoothed& smooth, std::vector<JudgedSweep>& out) {
  const SettingLaw law(model.constants(*sweep.gpu));
  for (const Asked& a : asked) {
    const Indices given = known_settings(sweep, a.limits);
    out.push_back(judged(sweep, a.scenario, answer_of(sweep, law, model.prior(), given, unseen), given, smooth));
  }
}

void judge_rules(const Sweep& sweep, const Smoothed& smooth, std::vector<JudgedSweep>& out) {
  const std::size_t half = nearest(sweep, 0.5);
  out.push_back(judged(sweep, Scenario::kHalfLimit, {.energy_setting = half, .edp_setting = half}, {}, smooth));
  const Indices three = known_settings(sweep, {0.5, 0.75});
  const Answer parabola{.energy_setting = lowest_of_parabola(sweep, three, Objective::kEnergy),
                        .edp_setting = lowest_of_parabola(sweep, three, Objective::kEdp)};
  out.push_back(judged(sweep, Scenario::kParabola, parabola, three, smooth));
}

// Swept limits with times, of one board.
bool is_judged(const Sweep& sweep) {
  return sweep.layout == "zeus_power_limit_sweep" && sweep.has_times();
}

SweepViews chosen(const SweepSet& set, const std::function<bool(const Sweep&)>& wanted) {
  SweepViews out;
  for (const Sweep& sweep : set.sweeps) {
    if (wanted(sweep)) out.push_back(&sweep);
  }
  return out;
}

constexpr Asked kOfKnownGpus[] = {{Scenario::kKnownGpu, {}},
                                  {Scenario::kKnownGpuOne, {0.5}},
                                  {Scenario::kKnownGpuTwo, {0.5, 0.7}},
                                  {Scenario::kLawSameThree, {0.5, 0.75}}};
constexpr Asked kOfUnseenGpus[] = {
    {Scenario::kUnseenGpu, {}}, {Scenario::kUnseenGpuOne, {0.5}}, {Scenario::kUnseenGpuTwo, {0.5, 0.7}}};

}  // namespace

std::string_view name(Scenario scenario) {
  static constexpr std::string_view kNames[] = {"swept",          "swept, 50",       "swept, 50+70",
                                                "unswept",        "unswept, 50",     "unswept, 50+70",
                                                "rule: half TDP", "parabola, 50+75", "swept, 50+75"};
  return kNames[static_cast<std::size_t>(scenario)];
}

namespace {

std::set<std::string> workloads_of(const SweepSet& set) {
  std::set<std::string> out;
  for (const Sweep* sweep : chosen(set, is_judged)) out.insert(sweep->workload);
  return out;
}

}  // namespace

std::size_t judged_workloads(const SweepSet& set) {
  return workloads_of(set).size();
}

std::vector<JudgedSweep> judge(const SweepSet& set, const SettingsModel& whole,
                               const std::function<void(const std::string&)>& progress) {
  std::vector<JudgedSweep> out;
  for (const std::string& workload : workloads_of(set)) {
    const SettingsModel without = fit_settings(chosen(set, [&](const Sweep& s) { return s.workload != workload; }));
    std::map<const Gpu*, SettingsModel> unseen;
    for (const Sweep* sweep : chosen(set, [&](const Sweep& s) { return is_judged(s) && s.workload == workload; })) {
      const auto others = [&](const Sweep& s) { return s.workload != workload && s.gpu != sweep->gpu; };
      if (unseen.find(sweep->gpu) == unseen.end()) unseen.emplace(sweep->gpu, restricted(without, chosen(set, others)));
      const Smoothed smooth(*sweep, SettingLaw(whole.constants(*sweep->gpu)));
      judge_law(*sweep, without, kOfKnownGpus, false, smooth, out);
      judge_law(*sweep, unseen.at(sweep->gpu), kOfUnseenGpus, true, smooth, out);
      judge_rules(*sweep, smooth, out);
    }
    progress(workload);
  }
  return out;
}

namespace {

ScenarioFigures::Regret regret_of(const std::vector<const JudgedSweep*>& active, double JudgedSweep::*which) {
  ScenarioFigures::Regret out;
  const auto n = static_cast<double>(active.size());
  for (const JudgedSweep* j : active) {
    out.mean += j->*which / n;
    out.within_1 += (j->*which <= 0.01 ? 1.0 : 0.0) / n;
    out.within_3 += (j->*which <= 0.03 ? 1.0 : 0.0) / n;
  }
  return out;
}

std::optional<double> mean_of(const std::vector<const JudgedSweep*>& active,
                              std::optional<double> JudgedSweep::*which) {
  double sum = 0.0;
  for (const JudgedSweep* j : active) {
    if (!(j->*which)) return std::nullopt;
    sum += *(j->*which);
  }
  return active.empty() ? std::nullopt : std::optional(sum / static_cast<double>(active.size()));
}

}  // namespace

SettingWidths widths_of(const std::vector<JudgedSweep>& judged, Scenario scenario) {
  const auto width = [&](std::vector<double> JudgedSweep::*scores) {
    std::vector<double> all;
    for (const JudgedSweep& j : judged) {
      if (j.active && j.scenario == scenario) all.insert(all.end(), (j.*scores).begin(), (j.*scores).end());
    }
    return quantile(all, kIntervalLevel).value_or(SettingWidths().time);
  };
  return {width(&JudgedSweep::time_scores), width(&JudgedSweep::power_scores), width(&JudgedSweep::energy_scores)};
}

std::vector<ScenarioFigures> figures_of(const std::vector<JudgedSweep>& judged) {
  std::vector<ScenarioFigures> out;
  for (std::size_t s = 0; s < kScenarios; ++s) {
    ScenarioFigures f{.scenario = static_cast<Scenario>(s)};
    std::vector<const JudgedSweep*> active;
    for (const JudgedSweep& j : judged) {
      if (j.scenario != f.scenario) continue;
      if (j.active) active.push_back(&j);
      if (j.gain_right) {
        ++f.gain_judged;
        f.gain_right += *j.gain_right ? 1U : 0U;
      }
    }
    f.sweeps = active.size();
    f.time_error = mean_of(active, &JudgedSweep::time_error);
    f.power_error = mean_of(active, &JudgedSweep::power_error);
    f.energy = regret_of(active, &JudgedSweep::energy_regret);
    f.edp = regret_of(active, &JudgedSweep::edp_regret);
    f.energy_smooth = regret_of(active, &JudgedSweep::energy_regret_smooth);
    f.edp_smooth = regret_of(active, &JudgedSweep::edp_regret_smooth);
    out.push_back(f);
  }
  return out;
}

}  // namespace joulecast::settings
