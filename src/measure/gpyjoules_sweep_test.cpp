// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "measure/sweep_load.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

class GpyjoulesSweep : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name) << text;
  }
  // Twelve seconds at that power, readings ten times a second; the experiment lasts from the first second on.
  void put_run(const std::string& folder, double power_w, double seconds, double limit_w) const {
    std::string readings = ",timestamp,power,enforced-power-limit,clock-gpu\n";
    for (int i = 0; i <= 120; ++i) {
      readings += fmt::format("{},2026-05-08 00:00:{:02}.{}00000,{:.0f},{:.0f},1000\n", i, i / 10, i % 10,
                              power_w * 1e3, limit_w * 1e3);
    }
    put(folder + "/gpu-power.csv", readings);
    put(folder + "/timestamps.csv", fmt::format("timestamp,event,data\n2026-05-08 00:00:01.000000,experiment_begin,0\n"
                                                "2026-05-08 00:00:{:09.6f},experiment_end,0\n",
                                                1 + seconds));
  }
  std::string root_ = testing::TempDir() + "gpyjoules_sweep_" + std::to_string(::getpid());
};

TEST_F(GpyjoulesSweep, BenchmarksAreGroupsAndFoldersOfRunsSettings) {
  for (const char* repetition : {"0", "1", "2"}) {
    put_run(fmt::format("pl/mnist/150W/{}", repetition), 140, 10, 150);
    put_run(fmt::format("pl/mnist/200W/{}", repetition), 190, 8, 200);
    put_run(fmt::format("pl/bert/200W/{}", repetition), 200, 9, 200);
  }
  put_run("pl/mnist/_baseline/0", 50, 10, 200);
  const auto loaded = load_gpyjoules_sweep(root_);
  ASSERT_TRUE(loaded) << loaded.error().text();
  ASSERT_EQ(loaded->runs.size(), 9U);
  EXPECT_TRUE(loaded->left_out.empty());
  const SweepMeasurement& run = loaded->runs[4];
  EXPECT_EQ(run.id, "mnist/150W/1");
  EXPECT_EQ(run.group, "mnist");
  EXPECT_EQ(run.setting, "150 W");
  EXPECT_EQ(run.limit_w, 150.0);
  EXPECT_EQ(run.repetition, 1U);
  EXPECT_NEAR(run.time_s, 10, 1e-9) << "the experiment, not what was read before and after it";
  EXPECT_NEAR(*run.energy_j, 1400, 1e-6);
  EXPECT_NEAR(*run.sm_clock_mhz, 1000, 1e-9);
  const auto groups = judge_sweep(loaded->runs).value();
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].settings.size(), 2U);
  EXPECT_EQ(groups[1].axis, "limit_w");
}

TEST_F(GpyjoulesSweep, SeveralExperimentsAreGroupsOfTheirOwn) {
  put_run("pl/mnist/150W/0", 140, 10, 150);
  put_run("clocks/mnist/877MHz,1065MHz/0", 140, 10, 150);
  const auto loaded = load_gpyjoules_sweep(root_).value();
  ASSERT_EQ(loaded.runs.size(), 2U);
  EXPECT_EQ(loaded.runs[0].group, "clocks/mnist");
  EXPECT_EQ(loaded.runs[0].clock_mhz, 1065.0);
  EXPECT_FALSE(loaded.runs[0].limit_w);
  EXPECT_EQ(loaded.runs[1].group, "pl/mnist");
}

TEST_F(GpyjoulesSweep, WhatDoesNotCountIsNamed) {
  put_run("pl/mnist/150W/0", 140, 10, 150);
  put_run("pl/mnist/150W/1", 190, 10, 200);
  put("pl/mnist/150W/2/gpu-power.csv", ",timestamp,power\n0,noon,1\n");
  const auto loaded = load_gpyjoules_sweep(root_).value();
  EXPECT_EQ(loaded.runs.size(), 1U);
  ASSERT_EQ(loaded.left_out.size(), 2U);
  EXPECT_EQ(loaded.left_out[0],
            "mnist/150W/1: the setting did not last: gpu0: 150 W is asked for, but 200 W was enforced");
  EXPECT_TRUE(loaded.left_out[1].starts_with("mnist/150W/2: ")) << loaded.left_out[1];
}

TEST_F(GpyjoulesSweep, AFolderWithoutASettingAmongOthersIsNoReference) {
  put_run("pl/mnist/150W/0", 140, 10, 150);
  put_run("pl/mnist/200W/0", 190, 10, 200);
  put_run("pl/mnist/banana/0", 190, 10, 200);
  fs::create_symlink("1", root_ + "/pl/mnist/200W/1");  // its own target
  const auto loaded = load_gpyjoules_sweep(root_).value();
  EXPECT_EQ(loaded.runs.size(), 2U);
  ASSERT_EQ(loaded.left_out.size(), 2U);
  EXPECT_TRUE(loaded.left_out[0].starts_with(root_ + "/pl/mnist/200W/1: ")) << loaded.left_out[0];
  EXPECT_TRUE(loaded.left_out[1].starts_with("mnist/banana/0: the name 'banana' is no setting")) << loaded.left_out[1];
  const auto groups = judge_sweep(loaded.runs).value();
  EXPECT_EQ(groups[0].settings[groups[0].reference].setting, "200 W");
}

TEST_F(GpyjoulesSweep, OneRunIsNoSweep) {
  put_run("pl/mnist/150W/0", 140, 10, 150);
  const auto one = load_any_sweep(root_);
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code(), ErrorCode::kNotFound);
  const auto none = load_any_sweep(root_ + "/none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
  put_run("pl/mnist/150W/1", 140, 10, 150);
  EXPECT_TRUE(load_any_sweep(root_));
}

}  // namespace
}  // namespace joulecast
