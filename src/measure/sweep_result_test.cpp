// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_result.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "measure/sweep_bootstrap.h"

namespace joulecast {
namespace {

SweepMeasurement run(double limit, std::size_t repetition, double time, double energy) {
  SweepMeasurement out;
  out.setting = std::to_string(static_cast<int>(limit)) + " W";
  out.limit_w = limit;
  out.repetition = repetition;
  out.time_s = time;
  out.energy_j = energy;
  return out;
}

// Three limits, three repetitions with a common drift of some seconds: pairs see through it.
std::vector<SweepMeasurement> drifting() {
  std::vector<SweepMeasurement> out;
  for (std::size_t r = 1; r <= 3; ++r) {
    const double drift = 10.0 * static_cast<double>(r), chance = 0.1 * static_cast<double>(r % 2);
    out.push_back(run(300, r, 100 + drift, 30000 + 100 * drift));
    out.push_back(run(200, r, 110 + drift + chance, 24000 + 100 * drift + chance));
    out.push_back(run(150, r, 150 + drift - chance, 26000 + 100 * drift - chance));
  }
  return out;
}

TEST(SweepResult, OptimaAndDifferencesByHand) {
  const auto groups = judge_sweep(drifting());
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->size(), 1U);
  const SweepGroup& group = groups->front();
  ASSERT_EQ(group.settings.size(), 3U);
  EXPECT_EQ(group.settings[0].setting, "150 W");
  EXPECT_EQ(group.reference, 2U) << "without a default it is the highest limit";
  EXPECT_FALSE(group.reference_is_default);
  EXPECT_EQ(group.optima[0].setting, 2U);
  EXPECT_EQ(group.optima[0].verdict, SweepVerdict::kReferenceIsBest);
  EXPECT_EQ(group.optima[1].setting, 1U);
  EXPECT_EQ(group.optima[1].verdict, SweepVerdict::kGain);
  EXPECT_DOUBLE_EQ(*group.optima[1].confidence, 1);
  EXPECT_NEAR(group.optima[1].gain_percent, 100 * (1 - (24000 + 2000 + 0.2 / 3) / 32000), 1e-9);
  const SweepDifference& energy = *group.settings[1].differences[1];
  EXPECT_TRUE(energy.paired);
  EXPECT_NEAR(energy.percent, -18.75, 1e-3);
  EXPECT_LT(*energy.p, 1e-6);
  EXPECT_NEAR(*energy.low, -18.75, 0.01) << "the drift is in both and tells nothing";
  EXPECT_EQ(group.axis, "limit_w");
  EXPECT_FALSE(group.settings[2].differences[1]);
}

TEST(SweepResult, TheDefaultIsTheReferenceWhereItWasMeasured) {
  auto runs = drifting();
  for (SweepMeasurement& one : runs) one.is_default = one.limit_w == 200;
  const auto groups = judge_sweep(runs);
  EXPECT_EQ(groups->front().settings[groups->front().reference].setting, "200 W");
  EXPECT_TRUE(groups->front().reference_is_default);
  EXPECT_EQ(groups->front().optima[1].verdict, SweepVerdict::kReferenceIsBest);
}

// The two ways of being worse than useless: an effect that is not there, one that is and is not seen.
TEST(SweepResult, NoiseIsNoGainAndGainIsNoNoise) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 1);
  int claimed = 0, missed = 0;
  constexpr int kSeries = 200;
  for (int i = 0; i < kSeries; ++i) {
    std::vector<SweepMeasurement> same, better;
    for (std::size_t r = 1; r <= 5; ++r) {
      for (const double limit : {150.0, 200.0, 250.0, 300.0}) {
        same.push_back(run(limit, r, 100 + noise(random), 10000 + 100 * noise(random)));
        better.push_back(run(limit, r, 100, (limit == 200 ? 9000 : 10000) + 100 * noise(random)));
      }
    }
    claimed += judge_sweep(same)->front().optima[1].verdict == SweepVerdict::kGain ? 1 : 0;
    missed += judge_sweep(better)->front().optima[1].verdict == SweepVerdict::kGain ? 0 : 1;
  }
  EXPECT_LE(claimed, kSeries / 20 + 6) << "5 % are what the test allows itself";
  EXPECT_LE(missed, 4);
}

TEST(SweepResult, PairsThatDifferByTheSameAreJudgedByTheirOwnScatter) {
  std::vector<SweepMeasurement> runs;
  for (std::size_t r = 1; r <= 4; ++r) {
    runs.push_back(run(150, r, 10, 900 + 8.0 * static_cast<double>(r)));
    runs.push_back(run(300, r, 10, 1000 + 8.0 * static_cast<double>(r)));
  }
  const SweepGroup group = judge_sweep(runs)->front();
  EXPECT_EQ(group.optima[1].verdict, SweepVerdict::kGain);
  ASSERT_TRUE(group.settings[0].differences[1]->p);
  EXPECT_FALSE(group.settings[0].differences[1]->paired);
}

// 3 x 1000 J against 3 x 1200 J: a sixth less, at 10 s against 8 s.
TEST(SweepResult, WhatDiffersWithoutAnyScatterIsCertain) {
  std::vector<SweepMeasurement> runs;
  for (std::size_t r = 1; r <= 3; ++r) {
    runs.push_back(run(100, r, 10, 1000));
    runs.push_back(run(150, r, 9, 1200));
    runs.push_back(run(200, r, 8, 1200));
  }
  const SweepGroup group = judge_sweep(runs)->front();
  EXPECT_EQ(group.optima[1].verdict, SweepVerdict::kGain);
  EXPECT_EQ(group.optima[1].confidence, 1);
  const SweepDifference& energy = *group.settings[0].differences[1];
  EXPECT_EQ(energy.p, 0);
  EXPECT_NEAR(*energy.low, -100.0 / 6, 1e-9);
  EXPECT_EQ(*energy.low, *energy.high);
  EXPECT_EQ(group.settings[0].differences[0]->p, 0) << "a loss is as certain";
  EXPECT_EQ(group.settings[1].differences[1]->p, 1) << "no difference";
}

TEST(SweepResult, OneRunASettingTellsNoChanceFromGain) {
  const auto groups = judge_sweep({run(150, 1, 12, 900), run(300, 1, 10, 1000)});
  const SweepOptimum& energy = groups->front().optima[1];
  EXPECT_EQ(energy.setting, 0U);
  EXPECT_EQ(energy.verdict, SweepVerdict::kTooFewRuns);
  EXPECT_FALSE(energy.confidence);
  EXPECT_FALSE(groups->front().settings[0].estimates[1].low);
}

TEST(SweepResult, TwoRunsDoNotTellHowSureItIs) {
  auto runs = drifting();
  std::erase_if(runs, [](const SweepMeasurement& one) { return one.repetition == 3; });
  const SweepGroup two = judge_sweep(runs)->front();
  for (const SweepOptimum& optimum : two.optima) {
    EXPECT_FALSE(optimum.confidence);
    EXPECT_EQ(optimum.verdict, SweepVerdict::kTooFewRuns) << "also where the reference is the best";
  }
  EXPECT_FALSE(two.settings[1].differences[1]->p);
  EXPECT_TRUE(two.settings[1].differences[1]->low);
  EXPECT_EQ(two.fewest_runs(), 2U);
  EXPECT_EQ(two.too_few_runs(), "2 runs of a setting are too few to say how sure its place is: that takes 3");
  const SweepGroup three = judge_sweep(drifting())->front();
  EXPECT_TRUE(three.optima[1].confidence);
  EXPECT_EQ(three.too_few_runs(), "");
}

// The least mean of three alike is the least of every series drawn from them, where it was so in each repetition.
TEST(SweepResult, WhatGainsNothingIsNotSure) {
  std::vector<SweepMeasurement> runs;
  for (std::size_t r = 1; r <= 3; ++r) {
    const double chance = r == 1 ? 3 : 0.1;
    runs.push_back(run(200, r, 10, 1000 - chance));
    runs.push_back(run(300, r, 10, 1000));
  }
  const SweepOptimum energy = judge_sweep(runs)->front().optima[1];
  EXPECT_EQ(energy.setting, 0U);
  EXPECT_EQ(energy.verdict, SweepVerdict::kNoMeasurableGain);
  EXPECT_FALSE(energy.confidence);
}

// Energies against 1000 J at 300 W, by repetition.
void add_energies(std::vector<SweepMeasurement>& runs, double limit, const std::vector<double>& differences) {
  for (std::size_t r = 1; r <= differences.size(); ++r) runs.push_back(run(limit, r, 10, 1000 + differences[r - 1]));
}

// t = 50 / (15 / sqrt(3)) = 5.774 with two degrees of freedom: p = 1 - t / sqrt(2 + t^2) = 0.0287.
TEST(SweepResult, OneOfManyMustBeSurerThanOneAlone) {
  std::vector<SweepMeasurement> runs;
  add_energies(runs, 300, {0, 0, 0});
  add_energies(runs, 200, {-65, -50, -35});
  const SweepGroup alone = judge_sweep(runs)->front();
  EXPECT_EQ(alone.optima[1].verdict, SweepVerdict::kGain);
  const double t = 50 / (15 / std::sqrt(3));
  EXPECT_NEAR(*alone.settings[0].differences[1]->p, 1 - t / std::sqrt(2 + t * t), 1e-9);
  add_energies(runs, 250, {1, 0, -1});
  add_energies(runs, 225, {2, 0, -2});
  const SweepGroup of_three = judge_sweep(runs)->front();
  EXPECT_NEAR(*of_three.settings[0].differences[1]->p, 3 * (1 - t / std::sqrt(2 + t * t)), 1e-9);
  EXPECT_EQ(of_three.optima[1].setting, 0U);
  EXPECT_EQ(of_three.optima[1].verdict, SweepVerdict::kNoMeasurableGain);
}

// 200 W is least by one run of three; 250 W saves 5 % in each.
TEST(SweepResult, AGainAtAnotherSettingIsNoLackOfGain) {
  std::vector<SweepMeasurement> runs;
  add_energies(runs, 300, {0, 0, 0});
  add_energies(runs, 200, {-300, 0, 0});
  add_energies(runs, 250, {-50, -49, -51});
  const SweepOptimum energy = judge_sweep(runs)->front().optima[1];
  EXPECT_EQ(energy.setting, 0U);
  EXPECT_EQ(energy.verdict, SweepVerdict::kGainElsewhere);
  EXPECT_TRUE(energy.confidence);
  runs.erase(runs.end() - 3, runs.end());
  add_energies(runs, 250, {50, 49, 51});
  EXPECT_EQ(judge_sweep(runs)->front().optima[1].verdict, SweepVerdict::kNoMeasurableGain) << "surely worse is no gain";
}

// Of two comparisons each has 97.5 %: with two degrees of freedom 0.975 sqrt(2) / sqrt(1 - 0.975^2) = 6.205 standard
// errors of 1 J / sqrt(3).
TEST(SweepResult, IntervalsHoldForAllSettingsTogether) {
  std::vector<SweepMeasurement> runs;
  add_energies(runs, 300, {0, 0, 0});
  add_energies(runs, 250, {-50, -49, -51});
  EXPECT_NEAR(*judge_sweep(runs)->front().settings[0].differences[1]->high, -5 + 0.1 * 4.30265 / std::sqrt(3), 1e-6);
  add_energies(runs, 200, {-30, 0, 30});
  const SweepDifference both = *judge_sweep(runs)->front().settings[1].differences[1];
  EXPECT_NEAR(*both.low, -5 - 0.1 * 6.20535 / std::sqrt(3), 1e-6);
  EXPECT_NEAR(*both.high, -5 + 0.1 * 6.20535 / std::sqrt(3), 1e-6);
  runs.push_back(run(150, 1, 10, 900));
  EXPECT_NEAR(*judge_sweep(runs)->front().settings[2].differences[1]->high, *both.high, 1e-9)
      << "what was run once is held against nothing";
}

TEST(SweepResult, UnequalRepetitionsAreNotPaired) {
  auto runs = drifting();
  runs.pop_back();
  const auto groups = judge_sweep(runs);
  EXPECT_FALSE(groups->front().settings[0].differences[1]->paired);
  EXPECT_TRUE(groups->front().settings[0].differences[1]->low);
}

TEST(SweepResult, CurvesFindTheLeastBetweenTheLimits) {
  std::vector<SweepMeasurement> runs;
  for (const double limit : {100.0, 150.0, 200.0, 250.0, 300.0}) {
    for (std::size_t r = 1; r <= 2; ++r) runs.push_back(run(limit, r, 10, 1000 + (limit - 170) * (limit - 170) / 10));
  }
  const auto groups = judge_sweep(runs);
  ASSERT_EQ(groups->front().curves.size(), 4U);
  const SweepCurve& energy = groups->front().curves.front();
  EXPECT_EQ(energy.degree, 2U);
  EXPECT_NEAR(energy.least_at, 170, 0.2);
  EXPECT_FALSE(energy.at_the_edge);
  EXPECT_NEAR(*energy.fit.fit.r2, 1, 1e-9);
  EXPECT_EQ(energy.fit.fit.degrees_of_freedom, 7U);
  EXPECT_NEAR(*energy.fit.leave_one_x_out, 0, 1e-6);
}

// A chip whose power goes with the cube of its clock, and whose time half follows it.
std::vector<SweepMeasurement> cubic_chip() {
  std::vector<SweepMeasurement> runs;
  for (const double limit : {100.0, 125.0, 150.0, 175.0, 200.0, 225.0, 250.0, 300.0}) {
    const double power = std::min(limit, 250.0);
    const double clock = std::cbrt((power - 50) / 200);
    SweepMeasurement one = run(limit, 1, 50 + 50 / clock, power * (50 + 50 / clock));
    one.sm_clock_mhz = 1500 * clock;
    one.idle_power_w = 50;
    one.device_limit_w = 300;
    runs.push_back(one);
  }
  return runs;
}

TEST(SweepResult, ModelsComeWithIdlePowerAndClocks) {
  const auto groups = judge_sweep(cubic_chip());
  const SweepGroup& group = groups->front();
  ASSERT_TRUE(group.models) << group.no_models;
  EXPECT_NEAR(group.models->basis.utilization, 0.8, 1e-9);
  EXPECT_GT(*group.models->power_r2, 0.98);
  EXPECT_GT(*group.models->time_r2, 0.95);
  EXPECT_NEAR(series::best_limit(*group.models, series::Optimum::kEnergy).value(),
              *group.settings[group.optima[1].setting].limit_w, 26);
  EXPECT_GT(group.power_clock->r, 0.9);
}

TEST(SweepResult, WithoutThemItSaysWhy) {
  auto runs = cubic_chip();
  for (SweepMeasurement& one : runs) one.idle_power_w.reset();
  const auto groups = judge_sweep(runs);
  EXPECT_FALSE(groups->front().models);
  EXPECT_NE(groups->front().no_models.find("baseline_s"), std::string::npos);
  for (SweepMeasurement& one : runs) one.idle_power_w = 120;
  EXPECT_EQ(judge_sweep(runs)->front().no_models,
            "100 W at 100 W are not above the 120 W of the baseline: the GPU was not idle in it");
}

TEST(SweepResult, GroupsAreJudgedApart) {
  auto runs = drifting();
  for (SweepMeasurement one : drifting()) {
    one.group = "batch=64";
    *one.energy_j *= 2;
    runs.push_back(one);
  }
  const auto groups = judge_sweep(runs);
  ASSERT_EQ(groups->size(), 2U);
  EXPECT_EQ((*groups)[1].group, "batch=64");
  EXPECT_DOUBLE_EQ((*groups)[1].settings[0].estimates[1].mean, 2 * (*groups)[0].settings[0].estimates[1].mean);
}

TEST(SweepResult, ParametersAloneAreComparedWithEachOther) {
  std::vector<SweepMeasurement> runs;
  for (std::size_t r = 1; r <= 3; ++r) {
    for (const double batch : {16.0, 2.0, 1.0}) {
      SweepMeasurement one = run(700, r, 100 / batch, 1000 / batch + static_cast<double>(r));
      one.group = "batch=" + std::to_string(static_cast<int>(batch));
      one.is_default = true;
      runs.push_back(one);
    }
  }
  const auto compared = compare_parameters(runs);
  ASSERT_TRUE(compared && *compared);
  const SweepGroup& group = **compared;
  ASSERT_EQ(group.settings.size(), 3U);
  EXPECT_EQ(group.settings[1].setting, "batch=2");
  EXPECT_EQ(group.settings[group.reference].setting, "batch=16");
  EXPECT_EQ(group.settings[group.optima[1].setting].setting, "batch=16");
  EXPECT_NEAR(group.settings[1].differences[0]->percent, 700, 1e-9);
  EXPECT_TRUE(group.curves.empty());
  runs.front().setting = "300 W";
  EXPECT_FALSE(*compare_parameters(runs)) << "settings were swept, too";
  EXPECT_FALSE(*compare_parameters(drifting()));
}

TEST(SweepResult, WithoutEnergyTimesAreCompared) {
  auto runs = drifting();
  for (SweepMeasurement& one : runs) one.energy_j.reset();
  const auto groups = judge_sweep(runs);
  ASSERT_TRUE(groups);
  const SweepGroup& group = groups->front();
  EXPECT_EQ(group.goals, std::vector{SweepGoal::kTime});
  ASSERT_EQ(group.optima.size(), 1U);
  EXPECT_EQ(group.optima[0].setting, 2U);
  ASSERT_EQ(group.settings[0].estimates.size(), 1U);
  EXPECT_NEAR(group.settings[0].estimates[0].mean, 170 - 0.2 / 3, 1e-9);
  EXPECT_LT(*group.settings[0].differences[0]->p, 0.05);
  EXPECT_FALSE(group.settings[0].power_w);
  EXPECT_TRUE(group.curves.empty());
  EXPECT_EQ(group.no_models, "no energy was measured");
}

TEST(SweepResult, WhatIsNoMeasurementIsRefused) {
  EXPECT_FALSE(judge_sweep({}));
  EXPECT_FALSE(judge_sweep({run(100, 1, 0, 10)}));
  EXPECT_FALSE(judge_sweep({run(100, 1, 1, std::nan(""))}));
  SweepMeasurement without = run(100, 2, 1, 10);
  without.energy_j.reset();
  EXPECT_FALSE(judge_sweep({run(100, 1, 1, 10), without}));
}

TEST(Bootstrap, CommonDriftIsNoDoubt) {
  BootstrapInput input{{{10, 20, 30}, {11, 21, 31}}, {{1, 2, 3}, {1, 2, 3}}};
  EXPECT_DOUBLE_EQ(winning_shares(input)[0], 1);
  input.blocks[1] = {1, 2, 4};
  EXPECT_LT(winning_shares(input)[0], 0.8) << "drawn on their own, the scatter counts";
  EXPECT_TRUE(winning_shares({{{1, 2}, {2, 3, 4}}, {{1, 2}, {1, 2, 3}}}).empty());
  EXPECT_FALSE(winning_shares({{{1, 2, 3}, {2, 3, 4}}, {{1, 2, 3}, {1, 2, 3}}}).empty());
}

}  // namespace
}  // namespace joulecast
