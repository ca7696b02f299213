// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "measure/sweep_load.h"

namespace joulecast {
namespace {

class SweepTable : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  [[nodiscard]] Result<LoadedSweep> load(std::string_view text) const {
    std::ofstream(path_) << text;
    return load_any_sweep(path_);
  }
  [[nodiscard]] std::string error(std::string_view text) const {
    const auto loaded = load(text);
    return loaded ? "" : loaded.error().text().substr(path_.size());
  }
  std::string path_ = testing::TempDir() + "sweep_table_" + std::to_string(::getpid()) + ".csv";
};

TEST_F(SweepTable, ColumnsTellSettingGroupTimeAndEnergy) {
  const auto loaded = load(
      "gpu,network,power_limit_w,time_per_epoch_s,average_power_w,energy_per_epoch_j,edp_js\n"
      "V100,resnet,150,10,140,1400,14000\nV100,resnet,200.5,8,190,1520,12160\nV100,resnet,150,11,140,1540,1\n"
      "A40,\"bert, small\",150,3,140,420,1\n");
  ASSERT_TRUE(loaded) << loaded.error().text();
  ASSERT_EQ(loaded->runs.size(), 4U);
  const SweepMeasurement& second = loaded->runs[1];
  EXPECT_EQ(second.group, "V100/resnet");
  EXPECT_EQ(second.setting, "200.5 W");
  EXPECT_EQ(second.limit_w, 200.5);
  EXPECT_EQ(second.time_s, 8);
  EXPECT_EQ(second.energy_j, 1520);
  EXPECT_EQ(second.repetition, 1U);
  EXPECT_EQ(loaded->runs[2].repetition, 2U) << "the second of its setting";
  EXPECT_EQ(loaded->runs[3].group, "A40/bert, small");
}

TEST_F(SweepTable, ClocksRepetitionsAndRunsWithoutEnergy) {
  const auto loaded = load("clock_mhz,power_limit_w,repetition,time_s,energy_j\n1000,,3,1,\n1200,300,4,2,\n").value();
  EXPECT_EQ(loaded.runs[0].setting, "1000 MHz");
  EXPECT_EQ(loaded.runs[0].repetition, 3U);
  EXPECT_FALSE(loaded.runs[0].energy_j);
  EXPECT_EQ(loaded.runs[1].setting, "300 W, 1200 MHz");
  ASSERT_EQ(loaded.doubts.size(), 1U);
  EXPECT_NE(loaded.doubts[0].find("only times are compared"), std::string::npos);
}

TEST_F(SweepTable, ExcelsByteOrderMarkIsNoPartOfAName) {
  for (const std::string header : {"power_limit_w,time_s", "\"power_limit_w\",time_s"}) {
    const auto loaded = load("\xEF\xBB\xBF" + header + "\r\n150,10\r\n");
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(loaded->runs.at(0).limit_w, 150);
  }
}

TEST_F(SweepTable, ErrorsNameTheLine) {
  EXPECT_EQ(error("limit_w,power_w\n1,2\n"), ":1: no table of runs: it has no column of times (time_s)");
  EXPECT_EQ(error("net,time_s\na,2\n"),
            ":1: no table of a sweep: it has no column of settings (power_limit_w, clock_mhz)");
  EXPECT_EQ(error("limit_w,time_s,epoch_time_s\n1,2,3\n"), ":1: has several columns of time (time_s)");
  EXPECT_EQ(error("limit_w,time_s\n1,2\n1\n"), ":3: has 1 cells instead of 2");
  EXPECT_EQ(error("limit_w,time_s\n1,fast\n"), ":2: 'fast' is no positive number");
  EXPECT_EQ(error("limit_w,time_s\n1,0\n"), ":2: '0' is no positive number");
  EXPECT_EQ(error("limit_w,time_s,repetition\n1,2,1.5\n"), ":2: '1.5' is no whole number");
  EXPECT_EQ(error("limit_w,time_s\n,2\n"), ":2: has no setting");
  EXPECT_EQ(error("limit_w,time_s,repetition\n1,2,1\n2,2,1\n1,3,1\n"), ":4: repetition 1 of 1 W is there already");
  EXPECT_EQ(error("limit_w,time_s\n"), ": has no runs");
  EXPECT_EQ(error(""), ": has no runs");
  EXPECT_NE(error("JCRUN\r\n").find("is one recording"), std::string::npos);
}

}  // namespace
}  // namespace joulecast
