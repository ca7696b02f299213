// SPDX-License-Identifier: Apache-2.0
// Tables are made up, in the published layouts.
#include "fit/settings/sweep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace joulecast::settings {
namespace {

constexpr const char* kZeus =
    "gpu,dataset,network,batch_size,optimizer,power_limit_w,time_per_epoch_s,average_power_w\n";

SweepSet read(const std::string& text) {
  const std::string path = testing::TempDir() + "sweep_test.csv";
  std::ofstream(path) << text;
  SweepSet out;
  const auto done = add_sweeps(path, Catalogue::shipped(), out);
  EXPECT_TRUE(done) << done.error().text();
  return out;
}

std::string zeus_row(const char* gpu, const char* optimizer, int limit, double time, double power) {
  return std::string(gpu) + ",cifar,net,8," + optimizer + "," + std::to_string(limit) + "," + std::to_string(time) +
         "," + std::to_string(power) + "\n";
}

std::string zeus_sweep(const char* gpu, const char* optimizer) {
  return zeus_row(gpu, optimizer, 250, 10, 200) + zeus_row(gpu, optimizer, 100, 20, 100) +
         zeus_row(gpu, optimizer, 150, 15, 150) + zeus_row(gpu, optimizer, 200, 12, 190);
}

TEST(Sweeps, AreSortedSharesOfTheDefaultLimit) {
  const SweepSet set = read(kZeus + zeus_sweep("V100", "adam"));
  ASSERT_EQ(set.sweeps.size(), 1U);
  const Sweep& sweep = set.sweeps.front();
  EXPECT_EQ(sweep.gpu->id, "v100-pcie-16gb");
  EXPECT_EQ(sweep.workload, "net");
  EXPECT_TRUE(sweep.whole_run);
  ASSERT_EQ(sweep.points.size(), 4U);
  EXPECT_DOUBLE_EQ(sweep.points[0].limit, 0.4);
  EXPECT_DOUBLE_EQ(sweep.points[3].limit, 1.0);
  EXPECT_DOUBLE_EQ(sweep.points[0].clock, 1.0);
  EXPECT_DOUBLE_EQ(*sweep.log_time[0], std::log(20.0));
  EXPECT_DOUBLE_EQ(*sweep.log_power[3], std::log(200.0 / 250.0));
}

TEST(Sweeps, RepeatsAndShortOnesAreLeftOut) {
  const SweepSet set = read(kZeus + zeus_sweep("V100", "adam") + zeus_sweep("V100", "sgd") +
                            zeus_row("P100", "adam", 250, 10, 200) + zeus_sweep("no such board", "adam"));
  EXPECT_EQ(set.sweeps.size(), 1U);
  EXPECT_EQ(set.used, 4U);
  EXPECT_EQ(set.refused, 4U + 1U + 4U);
  ASSERT_EQ(set.notes.size(), 1U);
}

// 1410 MHz is the board's highest clock. It draws 460 W of 400: shares are of what it draws.
TEST(Sweeps, ClocksAreSharesOfTheHighest) {
  const SweepSet set = read(
      "gpu,model,precision,stage,instruction,sm_clock_hz,time_s,energy_j,mean_power_w\n"
      "A100-SXM4-80GB,m,bf16,0,forward,1410000000,1,460,460\n"
      "A100-SXM4-80GB,m,bf16,0,forward,1057500000,1.2,1,300\n"
      "A100-SXM4-80GB,m,bf16,0,forward,705000000,1.8,1,200\n"
      "A100-SXM4-80GB,m,bf16,0,forward,1200000000,1.1,1,360\n"
      "A100-SXM4-80GB,m,bf16,3,forward,1410000000,1,460,460\n");
  ASSERT_EQ(set.sweeps.size(), 1U);
  const Sweep& sweep = set.sweeps.front();
  EXPECT_DOUBLE_EQ(sweep.points[0].clock, 0.5);
  EXPECT_DOUBLE_EQ(sweep.points[1].clock, 0.75);
  EXPECT_DOUBLE_EQ(sweep.limit_w, 460.0);
  EXPECT_FALSE(sweep.whole_run);
  EXPECT_DOUBLE_EQ(*sweep.log_power[3], 0.0);
  EXPECT_EQ(set.refused, 1U);  // stage 3 is a copy of stage 0
}

TEST(Sweeps, KnownSettingsCarryTheirMeasurements) {
  const SweepSet set = read(kZeus + zeus_sweep("V100", "adam"));
  const std::vector<std::size_t> some{1, 3};
  const std::vector<Known> known = set.sweeps.front().known(some, 10);
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[0].point, 11U);
  EXPECT_DOUBLE_EQ(*known[0].log_time, std::log(15.0));
}

TEST(Sweeps, OtherTablesAreRefused) {
  const std::string path = testing::TempDir() + "no_sweep.csv";
  std::ofstream(path) << "gpu,aws_instance,experiment,model,img_size,batch,optimizer,step_latency_s,epoch_latency_s\n";
  SweepSet out;
  EXPECT_FALSE(add_sweeps(path, Catalogue::shipped(), out));
}

}  // namespace
}  // namespace joulecast::settings
