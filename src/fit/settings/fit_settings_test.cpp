// SPDX-License-Identifier: Apache-2.0
// Sweeps made up by the law itself: what is put in must come out.
#include "fit/settings/fit_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fit/settings/judge.h"
#include "fit/settings/nelder_mead.h"

namespace joulecast::settings {
namespace {

constexpr GpuConstants kTrue{.static_power = 0.20,
                             .low_power = 0.14,
                             .knee = 0.60,
                             .slope = 1.4,
                             .lowest_clock = 0.25,
                             .held = 0.99,
                             .clocked = 0.8,
                             .unevenness = 0.6};

Gpu board(std::string_view id) {
  Gpu gpu;
  gpu.id = id;
  gpu.memory_type = "HBM2";
  gpu.power_limit = Watts{250};
  return gpu;
}

Sweep sweep_of(const Gpu& gpu, const std::string& workload, const Hypothesis& hidden) {
  const SettingLaw law(kTrue);
  Sweep out;
  out.gpu = &gpu;
  out.layout = "zeus_power_limit_sweep";
  out.workload = workload;
  out.whole_run = true;
  out.limit_w = 250.0;
  for (int i = 4; i <= 10; ++i) {
    out.points.push_back({.limit = i / 10.0});
    const Outcome outcome = law.outcome(hidden, out.points.back());
    out.log_time.emplace_back(std::log(100.0 * outcome.time));
    out.log_power.emplace_back(std::log(outcome.power));
  }
  return out;
}

std::vector<Sweep> some_sweeps(const Gpu& gpu) {
  std::vector<Sweep> out;
  for (const std::size_t s : {2, 4, 6, 9}) {
    for (const double dynamic : {0.4, 0.7, 1.0}) {
      out.push_back(sweep_of(gpu, "network " + std::to_string(s), {s, 0.1, dynamic}));
    }
  }
  return out;
}

SweepViews views(const std::vector<Sweep>& sweeps) {
  SweepViews out;
  for (const Sweep& sweep : sweeps) out.push_back(&sweep);
  return out;
}

TEST(NelderMead, FindsTheLowestPointOfABowl) {
  const auto cost = [](const std::vector<double>& x) {
    return 3.0 + (x[0] - 1.0) * (x[0] - 1.0) + 10.0 * (x[1] + 2.0) * (x[1] + 2.0) + x[0] * x[1];
  };
  // Zero gradient: 2 (x - 1) + y = 0, 20 (y + 2) + x = 0, so x = 80/39, y = -82/39.
  const auto found = minimised(cost, {0.0, 0.0}, {.width = 1e-5, .tolerance = 1e-9, .evaluations = 1000});
  EXPECT_NEAR(found[0], 80.0 / 39.0, 1e-3);
  EXPECT_NEAR(found[1], -82.0 / 39.0, 1e-3);
}

TEST(NelderMead, StopsWhenTold) {
  std::size_t calls = 0;
  const auto cost = [&](const std::vector<double>& x) {
    ++calls;
    return std::cos(x[0]) * x[1];
  };
  minimised(cost, {0.0, 0.0}, {.width = 0.0, .evaluations = 50});
  EXPECT_LE(calls, 55U);
}

TEST(FitSettings, FindsTheConstantsThatMadeTheSweeps) {
  const Gpu gpu = board("v");
  const std::vector<Sweep> sweeps = some_sweeps(gpu);
  const GpuConstants found = fit_constants(views(sweeps));
  EXPECT_NEAR(found.static_power, kTrue.static_power, 0.03);
  EXPECT_NEAR(found.knee, kTrue.knee, 0.05);
  EXPECT_NEAR(found.held, kTrue.held, 0.015);
  // The default of 0.25 and 0.69 would be outside.
}

TEST(FitSettings, PosteriorFindsTheWorkload) {
  const Gpu gpu = board("v");
  const Sweep sweep = sweep_of(gpu, "n", {.sensitivity = 6, .low_share = 0.1, .dynamic = 0.7});
  const Weights flat(kGridSize, 1.0 / static_cast<double>(kGridSize));
  const Weights weights = posterior_of(sweep, SettingLaw(kTrue), flat);
  double sensitivity = 0.0;
  double low = 0.0;
  for (std::size_t i = 0; i < kGridSize; ++i) {
    sensitivity += weights[i] * kSensitivities[hypothesis_grid()[i].sensitivity];
    low += weights[i] * hypothesis_grid()[i].low_share;
  }
  EXPECT_NEAR(sensitivity, 0.6, 0.1);
  EXPECT_NEAR(low, 0.1, 0.05);
}

TEST(FitSettings, SameModelEveryTime) {
  const Gpu gpu = board("v");
  const std::vector<Sweep> sweeps{sweep_of(gpu, "a", {2, 0.1, 0.5}), sweep_of(gpu, "b", {8, 0.1, 0.9})};
  EXPECT_EQ(fit_settings(views(sweeps)).numbers(), fit_settings(views(sweeps)).numbers());
}

TEST(Judge, FiguresAreMeansOverActiveSweeps) {
  const Sweep sweep;
  const std::vector<JudgedSweep> judged{{.sweep = &sweep,
                                         .active = true,
                                         .time_error = 0.02,
                                         .power_error = 0.01,
                                         .energy_regret = 0.005,
                                         .gain_right = true},
                                        {.sweep = &sweep,
                                         .active = true,
                                         .time_error = 0.04,
                                         .power_error = 0.03,
                                         .energy_regret = 0.025,
                                         .gain_right = false},
                                        {.sweep = &sweep,
                                         .active = false,
                                         .time_error = 9.0,
                                         .power_error = 9.0,
                                         .energy_regret = 9.0,
                                         .gain_right = true}};
  const ScenarioFigures f = figures_of(judged).front();
  EXPECT_EQ(f.sweeps, 2U);
  EXPECT_NEAR(*f.time_error, 0.03, 1e-12);
  EXPECT_NEAR(*f.power_error, 0.02, 1e-12);
  EXPECT_NEAR(f.energy.mean, 0.015, 1e-12);
  EXPECT_NEAR(f.energy.within_1, 0.5, 1e-12);
  EXPECT_NEAR(f.energy.within_3, 1.0, 1e-12);
  EXPECT_EQ(f.gain_right, 2U);
  EXPECT_EQ(f.gain_judged, 3U);
}

// Without noise and with its own constants the law's recommendations cost nothing, and the rules' do.
TEST(Judge, LawBeatsRulesOnItsOwnSweeps) {
  const Gpu gpu = board("v");
  SweepSet set;
  set.sweeps = some_sweeps(gpu);
  const auto figures = figures_of(judge(set, fit_settings(views(set.sweeps)), [](const std::string&) {}));
  const auto of = [&](Scenario scenario) { return figures[static_cast<std::size_t>(scenario)]; };
  EXPECT_LT(*of(Scenario::kKnownGpuOne).time_error, 0.02);
  EXPECT_LT(of(Scenario::kKnownGpuOne).edp.mean, 0.01);
  EXPECT_GT(of(Scenario::kHalfLimit).edp.mean, of(Scenario::kKnownGpuOne).edp.mean);
  EXPECT_GT(of(Scenario::kParabola).edp.mean, of(Scenario::kKnownGpuOne).edp.mean);
}

// Of power alone nobody can say what a setting costs.
TEST(Judge, SweepsWithoutTimesAreNotJudged) {
  const Gpu gpu = board("v");
  SweepSet set;
  set.sweeps = some_sweeps(gpu);
  Sweep timeless = set.sweeps.front();
  timeless.workload = "timeless";
  timeless.log_time.assign(timeless.points.size(), std::nullopt);
  set.sweeps.push_back(timeless);
  const SettingsModel model = fit_settings(views(set.sweeps));
  const std::vector<JudgedSweep> judged = judge(set, model, [](const std::string&) {});
  EXPECT_TRUE(std::any_of(judged.begin(), judged.end(), [](const JudgedSweep& j) { return j.sweep->has_times(); }));
  EXPECT_FALSE(std::any_of(judged.begin(), judged.end(), [](const JudgedSweep& j) { return !j.sweep->has_times(); }));
}

// Memory-bound work takes the least energy at the lowest limit. On a board that nobody swept that is not dared from the
// default setting alone; one measured limit is enough.
TEST(Judge, UnsweptBoardsStayAboveHalfUntilALimitWasMeasured) {
  const Gpu swept = board("v");
  const Gpu other = board("w");
  SweepSet set;
  set.sweeps.push_back(sweep_of(swept, "network a", {.sensitivity = 4, .low_share = 0.1, .dynamic = 0.7}));
  set.sweeps.push_back(sweep_of(other, "network x", {.sensitivity = 1, .low_share = 0.0, .dynamic = 0.7}));
  const auto cost = [](const Sweep& sweep, std::size_t i) { return *sweep.log_time[i] + *sweep.log_power[i]; };
  const Sweep& sweep = set.sweeps.back();
  ASSERT_LT(cost(sweep, 0), cost(sweep, 1));  // at 0.4 and 0.5 of the limit
  for (const JudgedSweep& j : judge(set, fit_settings(views(set.sweeps)), [](const std::string&) {})) {
    if (j.sweep != &sweep) continue;
    const double stayed = std::expm1(cost(sweep, 1) - cost(sweep, 0));
    if (j.scenario == Scenario::kUnseenGpu) {
      EXPECT_NEAR(j.energy_regret, stayed, 1e-9);
    }
    if (j.scenario == Scenario::kUnseenGpuOne) {
      EXPECT_EQ(j.energy_regret, 0.0);
    }
  }
}

}  // namespace
}  // namespace joulecast::settings
