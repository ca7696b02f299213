// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/iteration_account.h"

namespace joulecast {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;

Event event(MonotonicUs time, EventKind kind, const std::string& name, std::int64_t track = 0,
            std::string details = {}) {
  return {time, kind, track, name, std::move(details)};
}

// 100 W for the first ten seconds, 300 W for the next ten.
Recording recording() {
  Recording out;
  out.damage.complete = true;
  out.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  out.readings.emplace_back();
  for (std::int64_t i = 0; i <= 2000; ++i) out.readings[0].push_back({i * 10'000, i < 1000 ? 100'000 : 300'000});
  return out;
}

// The second source shows 10 % more at first, then 20 %.
TEST(Summary, WhatIsOffInEveryRepeatIsSaidOnce) {
  Recording run = recording();
  run.channels.push_back({"gpu0", Signal::kPower, "nvml-average", std::nullopt});
  run.readings.emplace_back();
  for (const Reading& reading : run.readings[0]) {
    run.readings[1].push_back({reading.time, reading.value + reading.value / (reading.time < 10 * kSecond ? 10 : 5)});
  }
  run.events = {event(2 * kSecond, EventKind::kBegin, "command"), event(4 * kSecond, EventKind::kEnd, "command"),
                event(12 * kSecond, EventKind::kBegin, "command"), event(14 * kSecond, EventKind::kEnd, "command")};
  const RunSummary summary = summarize(run).value();
  EXPECT_EQ(summary.doubts, std::vector<std::string>{"gpu0: nvml-average and nvml-instant disagree by +10 to +20 %"});
}

TEST(Summary, RepeatsGiveMeanAndDeviation) {
  Recording run = recording();
  run.events = {event(2 * kSecond, EventKind::kBegin, "command"), event(4 * kSecond, EventKind::kEnd, "command"),
                event(12 * kSecond, EventKind::kBegin, "command"), event(14 * kSecond, EventKind::kEnd, "command")};
  const RunSummary summary = summarize(run).value();
  ASSERT_EQ(summary.devices.size(), 1U);
  const DeviceSummary& gpu = summary.devices[0];
  EXPECT_EQ(summary.time_s.count, 2U);
  EXPECT_NEAR(gpu.energy_j->mean, 400, 1e-6);
  EXPECT_NEAR(*gpu.energy_j->deviation, 282.842712, 1e-5);
  EXPECT_NEAR(*gpu.standard_error_j, 200, 1e-5);
  EXPECT_NEAR(gpu.power_w->mean, 200, 1e-6);
  EXPECT_NEAR(*gpu.edp_js, 800, 1e-6);
}

TEST(Summary, TheBaselineIsTakenOff) {
  Recording run = recording();
  run.events = {event(kSecond, EventKind::kBegin, "baseline"), event(9 * kSecond, EventKind::kEnd, "baseline"),
                event(11 * kSecond, EventKind::kBegin, "command"), event(19 * kSecond, EventKind::kEnd, "command")};
  const RunSummary summary = summarize(run).value();
  EXPECT_NEAR(*summary.devices[0].idle_power_w, 100, 1e-6);
  EXPECT_NEAR(*summary.devices[0].above_idle_j, 1600, 1e-6);
  EXPECT_TRUE(summary.phases.empty());
  EXPECT_TRUE(summary.doubts.empty());
}

// 400 J of the command and 800 J of the baseline, each off by what 200 W that come or go in the middle of a gap of 10
// ms between readings say; the baseline's counts for as long as the command.
TEST(Summary, WhatIsAboveIdleHasTheErrorsOfBoth) {
  Recording run = recording();
  for (std::size_t i = 0; i < run.readings[0].size(); ++i) run.readings[0][i].value += i % 2 == 0 ? 5'000 : -5'000;
  run.events = {event(kSecond, EventKind::kBegin, "baseline"), event(5 * kSecond, EventKind::kEnd, "baseline"),
                event(11 * kSecond, EventKind::kBegin, "command"), event(19 * kSecond, EventKind::kEnd, "command")};
  const DeviceSummary gpu = summarize(run).value().devices[0];
  const Accountant accountant(run, {});
  const double command = accountant.account("gpu0", 11 * kSecond, 19 * kSecond).energy[0].standard_error.value();
  const double baseline = accountant.account("gpu0", kSecond, 5 * kSecond).energy[0].standard_error.value();
  ASSERT_GT(baseline, 0);
  EXPECT_NEAR(*gpu.above_idle_error_j, std::hypot(command, 2 * baseline), 1e-9);
}

TEST(Summary, ABaselineThatWasNotIdleIsDoubted) {
  Recording run = recording();
  run.channels.push_back({"gpu0", Signal::kUtilization, "nvml", std::nullopt});
  const double step = info(Signal::kUtilization).step;
  run.readings.push_back({{2 * kSecond, std::llround(0.4 / step)}, {4 * kSecond, std::llround(0.2 / step)}});
  run.events = {event(kSecond, EventKind::kBegin, "baseline"), event(9 * kSecond, EventKind::kEnd, "baseline"),
                event(11 * kSecond, EventKind::kBegin, "command"), event(19 * kSecond, EventKind::kEnd, "command")};
  EXPECT_EQ(summarize(run)->doubts,
            std::vector<std::string>{"gpu0: was 30 % busy in the baseline: its idle power is too high, and what is "
                                     "above idle too little"});
  run.readings[1] = {{2 * kSecond, 0}};
  EXPECT_TRUE(summarize(run)->doubts.empty());
  run.events[1].time = 15 * kSecond;
  const auto doubts = summarize(run)->doubts;
  ASSERT_EQ(doubts.size(), 1U);
  EXPECT_EQ(doubts[0].find("gpu0: drew 100 W in the first half of the baseline and 243 W in the second"), 0U)
      << doubts[0];
}

TEST(Summary, AnIdlePowerAboveTheRunsIsDoubted) {
  Recording run = recording();
  run.events = {event(11 * kSecond, EventKind::kBegin, "command"), event(19 * kSecond, EventKind::kEnd, "command")};
  SummaryOptions options;
  options.idle_power_w = 5000;
  EXPECT_EQ(
      summarize(run, options).value().doubts,
      std::vector<std::string>{"gpu0: its idle power of 5000 W is above the 300 W of the run: it cannot be right"});
  options.idle_power_w = 290;
  EXPECT_TRUE(summarize(run, options).value().doubts.empty());
}

TEST(Summary, StepsMarkedManyAtATimeCountOneByOne) {
  Recording run = recording();
  run.events = {event(kSecond, EventKind::kBegin, "batch", 9, "index=0\tcount=3"),
                event(4 * kSecond, EventKind::kEnd, "batch", 9), event(5 * kSecond, EventKind::kBegin, "batch", 9),
                event(6 * kSecond, EventKind::kEnd, "batch", 9)};
  const RunSummary summary = summarize(run).value();
  ASSERT_EQ(summary.phases.size(), 1U);
  EXPECT_EQ(summary.phases[0].time_s.count, 4U);
  EXPECT_NEAR(summary.phases[0].time_s.mean, 1, 1e-9);
  EXPECT_NEAR(summary.phases[0].energy_j[0]->total, 400, 1e-6);
}

// Three workers: 1-4 s, 2-5 s and 6-7 s. Five seconds at 100 W are all there is.
TEST(Summary, TimeThatPhasesOfANameShareIsCountedOnce) {
  Recording run = recording();
  run.events = {event(kSecond, EventKind::kBegin, "batch", 7),     event(2 * kSecond, EventKind::kBegin, "batch", 8),
                event(4 * kSecond, EventKind::kEnd, "batch", 7),   event(5 * kSecond, EventKind::kEnd, "batch", 8),
                event(6 * kSecond, EventKind::kBegin, "batch", 7), event(7 * kSecond, EventKind::kEnd, "batch", 7),
                event(kSecond, EventKind::kBegin, "epoch", 7),     event(7 * kSecond, EventKind::kEnd, "epoch", 7)};
  const RunSummary summary = summarize(run).value();
  ASSERT_EQ(summary.phases.size(), 2U);
  const PhaseGroup& batch = summary.phases[0];
  EXPECT_TRUE(batch.overlapping);
  EXPECT_EQ(batch.time_s.count, 3U);
  EXPECT_NEAR(batch.time_s.mean, 7.0 / 3, 1e-9);
  EXPECT_NEAR(batch.time_s.total, 5, 1e-9);
  EXPECT_NEAR(batch.energy_j[0]->mean, 700.0 / 3, 1e-6);
  EXPECT_NEAR(batch.energy_j[0]->total, 500, 1e-6);
  const auto alone = iterations_of_phases(run, Accountant(run), summary, "gpu0", "batch").value();
  ASSERT_EQ(batch.standard_error_j.size(), 1U);
  EXPECT_EQ(batch.standard_error_j[0].has_value(), alone.answer_standard_error.has_value());
  // Another name keeps all of its own.
  EXPECT_FALSE(summary.phases[1].overlapping);
  EXPECT_NEAR(summary.phases[1].energy_j[0]->total, 600, 1e-6);
}

TEST(Summary, ACutRecordingSaysSo) {
  Recording run = recording();
  run.damage = {false, 12, 0, 0};
  const RunSummary summary = summarize(run).value();
  ASSERT_EQ(summary.doubts.size(), 1U);
  EXPECT_NE(summary.doubts[0].find("cut off"), std::string::npos);
  EXPECT_FALSE(summarize(Recording{}));
}

}  // namespace
}  // namespace joulecast
