// SPDX-License-Identifier: Apache-2.0
#include "analysis/steady.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

// 60 W for 2 s, 300 W for 10 s, 60 W for 3 s, every 50 ms; readings tremble by a watt.
Recording recording() {
  Recording out;
  out.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  out.readings.emplace_back();
  for (std::int64_t i = 0; i <= 300; ++i) {
    const std::int64_t level = i < 40 || i >= 240 ? 60'000 : 300'000;
    out.readings[0].push_back({i * 50'000, level + (i % 2 == 0 ? 1000 : -1000)});
  }
  return out;
}

const Phase kAll{"command", {}, 0, 0, 15'000'000, false};

TEST(Steady, StartUpAndTailAreCutAndSaid) {
  const Recording run = recording();
  const SteadyRun steady = steady_run(run, Accountant(run), "gpu0", kAll, 60.0).value();
  EXPECT_NEAR(steady.cut_head_s, 2, 0.06);
  EXPECT_NEAR(steady.cut_tail_s, 3, 0.06);
  EXPECT_EQ(steady.head_readings, 40U);
  EXPECT_EQ(steady.tail_readings, 61U);
  EXPECT_NEAR(steady.seconds(), 10, 0.1);
  EXPECT_NEAR(steady.power_w, 300, 0.1);
  EXPECT_NEAR(*steady.deviation_w, 1, 0.01);
  EXPECT_EQ(steady.outside, 0U);
  ASSERT_FALSE(steady.account.energy.empty());
  EXPECT_NEAR(steady.account.energy[0].energy.value(), 300 * steady.seconds(), 1);
  EXPECT_NEAR(*steady.idle_share, 0.2, 1e-3);
}

TEST(Steady, WhatLiesOutsideThreeDeviationsIsCounted) {
  Recording run = recording();
  run.readings[0][100].value = 400'000;
  const SteadyRun steady = steady_run(run, Accountant(run), "gpu0", kAll, std::nullopt).value();
  EXPECT_EQ(steady.outside, 1U);
  EXPECT_NEAR(*steady.kept_power_w, 300, 0.02);
  EXPECT_FALSE(steady.idle_share);
}

TEST(Steady, NothingIsCutOfASteadyRun) {
  Recording run = recording();
  for (Reading& reading : run.readings[0]) reading.value = 300'000 + reading.time % 3 * 500;
  const SteadyRun steady = steady_run(run, Accountant(run), "gpu0", kAll, std::nullopt).value();
  EXPECT_EQ(steady.head_readings + steady.tail_readings, 0U);
  EXPECT_DOUBLE_EQ(steady.seconds(), 15);
}

TEST(Steady, TooFewReadingsAreAnError) {
  Recording run = recording();
  run.readings[0].resize(5);
  EXPECT_FALSE(steady_run(run, Accountant(run), "gpu0", kAll, std::nullopt));
  EXPECT_FALSE(steady_run(run, Accountant(run), "gpu1", kAll, std::nullopt));
}

}  // namespace
}  // namespace joulecast
