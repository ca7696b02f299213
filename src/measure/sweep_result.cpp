// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "measure/sweep_bootstrap.h"
#include "series/distribution.h"
#include "series/moments.h"
#include "series/welch.h"

namespace joulecast {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kSignificance = 0.05;
constexpr double kPercent = 100;
constexpr double kMega = 1e6;

using Runs = std::vector<const SweepMeasurement*>;

struct Setting {
  SweepSetting out;
  Runs runs;  // by repetition
  bool is_default = false;
};

std::vector<double> values_of(const Runs& runs, SweepGoal goal) {
  std::vector<double> out;
  out.reserve(runs.size());
  for (const SweepMeasurement* run : runs) out.push_back(value_of(*run, goal));
  return out;
}

std::optional<double> mean_of(const Runs& runs, std::optional<double> SweepMeasurement::*member) {
  std::vector<double> values;
  for (const SweepMeasurement* run : runs) {
    if (run->*member) values.push_back(*(run->*member));
  }
  return series::mean(values);
}

SweepEstimate estimate(const Runs& runs, SweepGoal goal) {
  const std::vector<double> values = values_of(runs, goal);
  SweepEstimate out{values.size(), *series::mean(values), series::standard_deviation(values), {}, {}};
  if (out.deviation) {
    const auto n = static_cast<double>(values.size());
    const double half = series::t_quantile((1 + kConfidence) / 2, n - 1) * *out.deviation / std::sqrt(n);
    out.low = out.mean - half;
    out.high = out.mean + half;
  }
  return out;
}

std::vector<Setting> settings_of(const Runs& runs) {
  std::map<std::string, Setting> by_name;
  for (const SweepMeasurement* run : runs) {
    Setting& setting = by_name[run->setting];
    setting.out.setting = run->setting;
    setting.out.limit_w = run->limit_w;
    setting.out.clock_mhz = run->clock_mhz;
    setting.is_default = setting.is_default || run->is_default;
    setting.runs.push_back(run);
  }
  std::vector<Setting> out;
  for (auto& [name, setting] : by_name) {
    std::stable_sort(setting.runs.begin(), setting.runs.end(),
                     [](const auto* a, const auto* b) { return a->repetition < b->repetition; });
    out.push_back(std::move(setting));
  }
  // What was left as found comes last: it is the default or what somebody else wanted.
  const auto key = [](const Setting& s) {
    constexpr double kLast = 1e300;
    // "n=2" before "n=16".
    return std::tuple(s.out.limit_w.value_or(kLast), s.out.clock_mhz.value_or(kLast), s.out.setting.size(),
                      s.out.setting);
  };
  std::sort(out.begin(), out.end(), [&](const Setting& a, const Setting& b) { return key(a) < key(b); });
  return out;
}

bool has_energy(const SweepGroup& group) {
  return group.goals.size() > 1;
}

std::size_t reference_of(const std::vector<Setting>& settings) {
  for (std::size_t i = settings.size(); i-- > 0;) {
    if (settings[i].is_default) return i;
  }
  return settings.size() - 1;
}

// Of the repetitions that both settings have.
std::pair<std::vector<double>, std::vector<double>> pairs_of(const Runs& first, const Runs& second, SweepGoal goal) {
  std::pair<std::vector<double>, std::vector<double>> out;
  for (const SweepMeasurement* a : first) {
    const auto b =
        std::find_if(second.begin(), second.end(), [&](const auto* run) { return run->repetition == a->repetition; });
    if (b == second.end()) continue;
    out.first.push_back(value_of(*a, goal));
    out.second.push_back(value_of(**b, goal));
  }
  return out;
}

// `confidence` of the interval.
SweepDifference difference(const Runs& reference, const Runs& runs, SweepGoal goal, double confidence) {
  const std::vector<double> first = values_of(reference, goal), second = values_of(runs, goal);
  const double base = *series::mean(first);
  SweepDifference out;
  out.percent = kPercent * (*series::mean(second) - base) / base;
  const auto pairs = pairs_of(reference, runs, goal);
  // All runs have their partner: else the means of the pairs would not be those of the table.
  out.paired = pairs.first.size() >= 2 && pairs.first.size() == first.size() && first.size() == second.size();
  const auto take = [&](const auto& test) {
    out.low = kPercent * test.low / base;
    out.high = kPercent * test.high / base;
    if (std::min(first.size(), second.size()) >= kLeastRunsToDraw) out.p = test.p;
  };
  if (out.paired) {
    if (const auto test = series::paired_test(pairs.first, pairs.second, confidence); test && test->p) {
      take(*test);
      return out;
    }
    out.paired = false;  // all pairs differ by the same: only the runs of each have scatter to judge by, if any
  }
  if (const auto test = series::welch_test(first, second, confidence)) take(*test);
  return out;
}

// How many settings a test can hold against the reference.
std::size_t comparisons(const std::vector<Setting>& settings, std::size_t reference) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < settings.size(); ++i) out += i != reference && settings[i].runs.size() > 1 ? 1 : 0;
  return std::max(out, std::size_t{1});
}

void add_differences(std::vector<Setting>& settings, std::size_t reference, SweepGoal goal) {
  // Holm's test has no two-sided intervals of its own; Bonferroni's hold all at once, too.
  const double confidence = 1 - (1 - kConfidence) / static_cast<double>(comparisons(settings, reference));
  std::vector<double> p;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    auto& out = settings[i].out.differences.emplace_back();
    if (i == reference) continue;
    out = difference(settings[reference].runs, settings[i].runs, goal, confidence);
    if (out->p) p.push_back(*out->p);
  }
  const std::vector<double> adjusted = series::holm(p);
  std::size_t next = 0;
  for (Setting& setting : settings) {
    auto& own = setting.out.differences.back();
    if (own && own->p) own->p = adjusted[next++];
  }
}

bool gains(const Setting& setting, SweepGoal goal) {
  const auto& own = setting.out.differences[static_cast<std::size_t>(goal)];
  return own && own->percent < 0 && own->p && *own->p < kSignificance;
}

bool too_few(const Setting& setting) {
  return setting.runs.size() < kLeastRunsToDraw;
}

// Of the least mean, and of all that are held against the reference with it: with enough of them one looks better by
// chance, and where the least mean is one that scatters another may be better for sure.
SweepVerdict verdict_of(const SweepOptimum& optimum, const std::vector<Setting>& settings, std::size_t reference) {
  if (optimum.setting == reference) {
    const bool untold = settings.size() > 1 && std::any_of(settings.begin(), settings.end(), too_few);
    return untold ? SweepVerdict::kTooFewRuns : SweepVerdict::kReferenceIsBest;
  }
  if (too_few(settings[optimum.setting]) || too_few(settings[reference])) return SweepVerdict::kTooFewRuns;
  if (gains(settings[optimum.setting], optimum.goal)) return SweepVerdict::kGain;
  const bool elsewhere =
      std::any_of(settings.begin(), settings.end(), [&](const Setting& one) { return gains(one, optimum.goal); });
  return elsewhere ? SweepVerdict::kGainElsewhere : SweepVerdict::kNoMeasurableGain;
}

SweepOptimum optimum_of(const std::vector<Setting>& settings, std::size_t reference, SweepGoal goal) {
  const auto g = static_cast<std::size_t>(goal);
  SweepOptimum out;
  out.goal = goal;
  BootstrapInput input;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (settings[i].out.estimates[g].mean < settings[out.setting].out.estimates[g].mean) out.setting = i;
    input.values.push_back(values_of(settings[i].runs, goal));
    std::vector<std::size_t>& blocks = input.blocks.emplace_back();
    for (const SweepMeasurement* run : settings[i].runs) blocks.push_back(run->repetition);
  }
  constexpr double kRival = 0.05;
  const std::vector<double> shares = winning_shares(input);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i != out.setting && shares[i] >= kRival) out.rivals.push_back(i);
  }
  const double base = settings[reference].out.estimates[g].mean;
  out.gain_percent = kPercent * (1 - settings[out.setting].out.estimates[g].mean / base);
  out.verdict = verdict_of(out, settings, reference);
  const bool told = settings.size() > 1 && out.verdict != SweepVerdict::kNoMeasurableGain;
  if (told && !shares.empty()) out.confidence = shares[out.setting];
  return out;
}

// The one thing that differs between the settings.
std::string axis_of(const std::vector<Setting>& settings) {
  std::set<double> limits, clocks;
  bool all_limits = true, all_clocks = true;
  for (const Setting& setting : settings) {
    all_limits = all_limits && setting.out.limit_w;
    all_clocks = all_clocks && setting.out.clock_mhz;
    if (setting.out.limit_w) limits.insert(*setting.out.limit_w);
    if (setting.out.clock_mhz) clocks.insert(*setting.out.clock_mhz);
  }
  if (all_limits && limits.size() == settings.size() && clocks.size() <= 1) return "limit_w";
  if (all_clocks && clocks.size() == settings.size() && limits.size() <= 1) return "clock_mhz";
  return {};
}

double axis_value(const SweepSetting& setting, const std::string& axis) {
  return axis == "limit_w" ? *setting.limit_w : *setting.clock_mhz;
}

void find_least(SweepCurve& curve, double from, double to) {
  constexpr int kSteps = 1000;
  curve.least_at = from;
  curve.least = curve.fit.at(from);
  for (int i = 1; i <= kSteps; ++i) {
    const double x = from + (to - from) * i / kSteps;
    if (curve.fit.at(x) < curve.least) {
      curve.least_at = x;
      curve.least = curve.fit.at(x);
    }
  }
  curve.at_the_edge = curve.least_at == from || curve.least_at == to;
}

void add_curves(SweepGroup& group, const std::vector<Setting>& settings) {
  if (group.axis.empty() || !has_energy(group)) return;
  for (const SweepGoal goal : {SweepGoal::kEnergy, SweepGoal::kEdp}) {
    std::vector<double> x, y;
    for (const Setting& setting : settings) {
      for (const double value : values_of(setting.runs, goal)) {
        x.push_back(axis_value(setting.out, group.axis));
        y.push_back(value);
      }
    }
    for (const std::size_t degree : {std::size_t{2}, std::size_t{3}}) {
      if (settings.size() < degree + 1) continue;
      auto fit = series::fit_polynomial(x, y, degree);
      if (!fit) continue;
      SweepCurve curve{goal, degree, *std::move(fit), 0, 0, false};
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      find_least(curve, *low, *high);
      group.curves.push_back(std::move(curve));
    }
  }
}

void add_correlation(SweepGroup& group, const Runs& runs) {
  std::vector<double> power, clock;
  for (const SweepMeasurement* run : runs) {
    if (!run->sm_clock_mhz || !run->energy_j) continue;
    power.push_back(*run->power_w());
    clock.push_back(*run->sm_clock_mhz);
  }
  constexpr std::size_t kFewest = 3;  // a line goes through any two
  if (power.size() < kFewest) return;
  if (auto found = series::pearson(power, clock)) group.power_clock = *std::move(found);
}

Result<series::SweepModels> fit_group(const SweepGroup& group, const Runs& runs) {
  if (!has_energy(group)) return invalid("no energy was measured");
  if (group.axis != "limit_w") return invalid("they are over power limits alone");
  const auto idle = mean_of(runs, &SweepMeasurement::idle_power_w);
  const auto highest = mean_of(runs, &SweepMeasurement::device_limit_w);
  if (!idle) return invalid("no run has a baseline, which tells the idle power (baseline_s of a plan)");
  if (!highest) return invalid("the device does not tell its highest limit");
  // A limit is each GPU's own.
  const auto gpus = static_cast<double>(runs.front()->gpus);
  std::vector<series::SweepPoint> points;
  for (const SweepSetting& setting : group.settings) {
    if (!setting.sm_clock_mhz) return invalid("no readings of the SM clock");
    if (*setting.power_w <= *idle) {
      return invalid(
          fmt::format("{:.0f} W at {} are not above the {:.0f} W of the baseline: the GPU was not idle in it",
                      *setting.power_w, setting.setting, *idle));
    }
    points.push_back({Watts{*setting.limit_w}, Hertz{*setting.sm_clock_mhz * kMega}, Watts{*setting.power_w / gpus},
                      Seconds{setting.estimates[0].mean}});
  }
  // The run that was held back least says how much of the GPU the command uses.
  JC_ASSIGN_OR_RETURN(const double utilization,
                      series::utilization_of(points.back().power, Watts{*idle / gpus}, Watts{*highest / gpus}));
  return series::fit_models(points, {Watts{*idle / gpus}, Watts{*highest / gpus}, utilization});
}

SweepGroup judge_group(const std::string& name, const Runs& runs) {
  std::vector<Setting> settings = settings_of(runs);
  SweepGroup out;
  out.group = name;
  out.reference = reference_of(settings);
  out.reference_is_default = settings[out.reference].is_default;
  out.goals.assign(kSweepGoals.begin(), runs.front()->energy_j ? kSweepGoals.end() : kSweepGoals.begin() + 1);
  for (Setting& setting : settings) {
    for (const SweepGoal goal : out.goals) setting.out.estimates.push_back(estimate(setting.runs, goal));
    std::vector<double> power;
    for (const SweepMeasurement* run : setting.runs) {
      if (run->energy_j) power.push_back(*run->power_w());
    }
    setting.out.power_w = series::mean(power);
    setting.out.sm_clock_mhz = mean_of(setting.runs, &SweepMeasurement::sm_clock_mhz);
  }
  for (const SweepGoal goal : out.goals) {
    add_differences(settings, out.reference, goal);
    out.optima.push_back(optimum_of(settings, out.reference, goal));
  }
  out.axis = axis_of(settings);
  add_curves(out, settings);
  add_correlation(out, runs);
  for (Setting& setting : settings) out.settings.push_back(std::move(setting.out));
  auto models = fit_group(out, runs);
  if (models) {
    out.models = *std::move(models);
  } else {
    out.no_models = models.error().text();
  }
  return out;
}

}  // namespace

std::string_view name_of(SweepGoal goal) {
  constexpr std::array<std::string_view, 3> kNames{"time", "energy", "EDP"};
  return kNames[static_cast<std::size_t>(goal)];
}

std::string_view key_of(SweepGoal goal) {
  constexpr std::array<std::string_view, 3> kKeys{"time_s", "energy_j", "edp_js"};
  return kKeys[static_cast<std::size_t>(goal)];
}

double value_of(const SweepMeasurement& run, SweepGoal goal) {
  if (goal == SweepGoal::kTime) return run.time_s;
  return goal == SweepGoal::kEnergy ? *run.energy_j : *run.energy_j * run.time_s;
}

namespace {

Result<void> check_run(const SweepMeasurement& run) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  if (positive(run.time_s) && (!run.energy_j || positive(*run.energy_j))) return {};
  return invalid(fmt::format("{} {} repetition {}: {} s, {} J; both must be positive", run.group, run.setting,
                             run.repetition, run.time_s, run.energy_j.value_or(0)));
}

}  // namespace

Result<std::vector<SweepGroup>> judge_sweep(const std::vector<SweepMeasurement>& runs) {
  if (runs.empty()) return invalid("no run of this sweep counts");
  std::vector<std::pair<std::string, Runs>> groups;
  for (const SweepMeasurement& run : runs) {
    JC_RETURN_IF_ERROR(check_run(run));
    auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& entry) { return entry.first == run.group; });
    if (at == groups.end()) at = groups.insert(groups.end(), {run.group, {}});
    at->second.push_back(&run);
    if (run.energy_j.has_value() != at->second.front()->energy_j.has_value()) {
      return invalid(fmt::format("{}: only some of its runs have an energy", run.group));
    }
  }
  std::vector<SweepGroup> out;
  out.reserve(groups.size());
  for (const auto& [name, members] : groups) out.push_back(judge_group(name, members));
  return out;
}

Result<std::optional<SweepGroup>> compare_parameters(const std::vector<SweepMeasurement>& runs) {
  std::map<std::string, std::string> setting_of_group;
  for (const SweepMeasurement& run : runs) {
    if (setting_of_group.try_emplace(run.group, run.setting).first->second != run.setting) return std::nullopt;
    if (run.energy_j.has_value() != runs.front().energy_j.has_value()) return std::nullopt;
  }
  if (setting_of_group.size() < 2) return std::nullopt;
  std::vector<SweepMeasurement> all = runs;
  for (SweepMeasurement& run : all) {
    run.setting = std::exchange(run.group, "parameters");
    run.limit_w.reset();
    run.clock_mhz.reset();
    run.is_default = false;
  }
  JC_ASSIGN_OR_RETURN(std::vector<SweepGroup> judged, judge_sweep(all));
  return std::optional(std::move(judged.front()));
}

}  // namespace joulecast
