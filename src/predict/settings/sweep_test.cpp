// SPDX-License-Identifier: Apache-2.0
// Tables are made up, in the published layouts.
#include "predict/settings/sweep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "dataset/table.h"

namespace joulecast::settings {
namespace {

constexpr const char* kZeus =
    "gpu,dataset,network,batch_size,optimizer,power_limit_w,time_per_epoch_s,average_power_w,energy_per_epoch_j\n";

void add(const std::string& text, SweepRows& rows) {
  TableSink sink;
  sink.other = [&](const MeasuredOther& row) { rows.add(row); };
  const auto table = parse_table(text, "table", sink);
  EXPECT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->unmapped.rows(), 0U);
}

SweepSet read(const std::string& text) {
  SweepRows rows;
  add(text, rows);
  return rows.sweeps(Catalogue::shipped());
}

using Counts = std::map<std::string, std::size_t>;

Counts reasons(const SweepSet& set) {
  Counts out;
  for (const auto& [layout, refused] : set.refused) {
    for (const Refusal& refusal : refused.reasons()) out[layout + ": " + refusal.reason] += refusal.count;
  }
  return out;
}

std::string zeus_row(const char* gpu, const char* optimizer, int limit, double time, double power) {
  return std::string(gpu) + ",cifar,net,8," + optimizer + "," + std::to_string(limit) + "," + std::to_string(time) +
         "," + std::to_string(power) + ",1000\n";
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
  EXPECT_EQ(set.used, (Counts{{"zeus_power_limit_sweep", 4U}}));
  EXPECT_EQ(reasons(set), (Counts{{"zeus_power_limit_sweep: a repeat of a sweep: the first one counts", 4U},
                                  {"zeus_power_limit_sweep: fewer than 4 settings", 1U},
                                  {"zeus_power_limit_sweep: no GPU 'no such board'", 4U}}));
}

// Four runs of three settings are no sweep: an absent limit is the default one.
TEST(Sweeps, EqualSettingsCountOnce) {
  const std::string three = zeus_row("V100", "adam", 250, 10, 200) + zeus_row("V100", "adam", 150, 15, 150) +
                            zeus_row("V100", "adam", 200, 12, 190);
  const SweepSet set = read(kZeus + three + "V100,cifar,net,8,adam,,10,200,1000\n");
  EXPECT_EQ(set.sweeps.size(), 0U);
  EXPECT_EQ(reasons(set), (Counts{{"zeus_power_limit_sweep: fewer than 4 settings", 4U}}));
}

TEST(Sweeps, HaveNoMoreSettingsThanMemoryHolds) {
  std::string text = kZeus;
  for (int i = 0; i < 1000; ++i) text += zeus_row("V100", "adam", 100 + i, 10, 90);
  EXPECT_EQ(read(text).sweeps.size(), 1U);
  const SweepSet set = read(text + zeus_row("V100", "adam", 99, 10, 90));
  EXPECT_EQ(set.sweeps.size(), 0U);
  EXPECT_EQ(reasons(set), (Counts{{"zeus_power_limit_sweep: more than 1000 runs in one sweep", 1001U}}));
}

TEST(Sweeps, RunsWithoutTimesAreLeftOutWhereOthersHaveThem) {
  const std::string untimed = "V100,cifar,net,8,adam,125,,100,1000\n";
  const SweepSet set = read(kZeus + untimed + zeus_sweep("V100", "adam"));
  ASSERT_EQ(set.sweeps.size(), 1U);
  EXPECT_EQ(set.sweeps[0].lines, (std::vector<std::size_t>{4, 5, 6, 3}));
  EXPECT_EQ(set.used, (Counts{{"zeus_power_limit_sweep", 4U}}));
  EXPECT_EQ(reasons(set), (Counts{{"zeus_power_limit_sweep: no time, where others of its sweep have one", 1U}}));
}

TEST(Sweeps, AShortOneHidesNoneThatIsComplete) {
  const SweepSet set = read(kZeus + zeus_row("V100", "adam", 250, 10, 200) + zeus_sweep("V100", "sgd"));
  ASSERT_EQ(set.sweeps.size(), 1U);
  EXPECT_EQ(set.sweeps[0].lines.size(), 4U);
  EXPECT_EQ(reasons(set), (Counts{{"zeus_power_limit_sweep: fewer than 4 settings", 1U}}));
}

// However tables are given.
TEST(Sweeps, StandInTheOrderOfTheirLayouts) {
  const std::string limits = kZeus + zeus_sweep("V100", "adam");
  const std::string clocks =
      "gpu,model,precision,stage,instruction,sm_clock_hz,time_s,energy_j,mean_power_w\n"
      "A40,m,bf16,7,forward,1410000000,1,200,200\nA40,m,bf16,7,forward,1200000000,1,190,190\n"
      "A40,m,bf16,7,forward,1000000000,1,180,180\nA40,m,bf16,7,forward,900000000,1,170,170\n";
  SweepRows one;
  add(limits, one);
  add(clocks, one);
  SweepRows other;
  add(clocks, other);
  add(limits, other);
  for (const SweepSet& set : {one.sweeps(Catalogue::shipped()), other.sweeps(Catalogue::shipped())}) {
    ASSERT_EQ(set.sweeps.size(), 2U);
    EXPECT_EQ(set.sweeps[0].layout, "zeus_power_limit_sweep");
    EXPECT_EQ(set.sweeps[1].workload, "m forward");
    EXPECT_EQ(set.sweeps[1].variant, "stage 7");
  }
}

// Power is that of one GPU, of however many were added up. A limit a stage is no setting of a GPU.
TEST(Sweeps, OfPipelinesAreTheirGlobalLimits) {
  std::string text =
      "gpu,n_gpus,policy,model,global_batch,dp,tp,pp,microbatch_size,num_microbatches,power_limits_w,"
      "power_limit_mean_w,iteration_time_s,iteration_energy_j,mean_power_per_gpu_w\n";
  for (const int limit : {300, 250, 200, 150})
    text += "A40,8,global,m,256,1,1,8,1,1,x," + std::to_string(limit) + ",6,1000," + std::to_string(limit - 10) + "\n";
  const SweepSet set = read(text + "A40,8,local,m,256,1,1,8,1,1,x,275,6,1000,240\n");
  ASSERT_EQ(set.sweeps.size(), 1U);
  EXPECT_EQ(set.sweeps[0].variant, "batch 256 on 8 GPUs, 1x1x8");
  EXPECT_DOUBLE_EQ(*set.sweeps[0].log_power[3], std::log(290.0 / 300.0));
  EXPECT_FALSE(set.sweeps[0].whole_run);
  EXPECT_EQ(reasons(set), (Counts{{"perseus_powerlimit_pipeline: limits that differ between the GPUs", 1U}}));
}

TEST(Sweeps, OfKernelsAreThoseAtTheDefaultMemoryClock) {
  std::string text = "gpu,suite,benchmark,core_clock_hz,memory_clock_hz,power_w,util_sp,util_dram\n";
  for (const char* memory : {"5705000000", "4705000000"}) {
    for (const char* clock : {"1911000000", "1800000000", "1700000000", "1600000000"})
      text += std::string("Titan Xp (Pascal),micro,7,") + clock + "," + memory + ",200,,0.5\n";
  }
  const SweepSet set = read(text);
  ASSERT_EQ(set.sweeps.size(), 1U);
  EXPECT_EQ(set.sweeps[0].workload, "micro 7");
  EXPECT_EQ(set.sweeps[0].variant, "memory at 5705 MHz");
  EXPECT_FALSE(set.sweeps[0].has_times());
  EXPECT_EQ(reasons(set), (Counts{{"guerreiro_dvfs: a board or memory clock that was not swept finely", 4U}}));
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
  EXPECT_EQ(reasons(set), (Counts{{"perseus_stage_clock_sweep: stages 1 to 6 are copies of the first one", 1U}}));
}

// Of another campaign the same network took a quarter longer.
TEST(Sweeps, CampaignsAndMemoryClocksAreSweepsOfTheirOwn) {
  std::string text =
      "source_table,gpu,network,batch,mode,core_clock_hz,mem_clock_hz,core_offset_hz,mem_offset_hz,iteration_time_s,"
      "mean_power_w,energy_j,command\n";
  for (const char* campaign : {"one", "two"}) {
    for (const char* memory : {"3500000000", "4000000000"}) {
      for (const char* clock : {"1607000000", "1708000000", "1809000000", "1898000000"})
        text += std::string(campaign) + ",Titan X (Pascal),net,128,train," + clock + "," + memory + ",,,0.3,220,66,x\n";
    }
  }
  const SweepSet set = read(text + "one,Titan X (Pascal),net,128,train,,,0,100,0.3,220,66,x\n");
  ASSERT_EQ(set.sweeps.size(), 4U);
  EXPECT_EQ(set.sweeps[0].variant, "one, memory at 3500 MHz");
  EXPECT_EQ(set.sweeps[3].variant, "two, memory at 4000 MHz");
  EXPECT_EQ(set.sweeps[0].mode, Mode::kTraining);
  EXPECT_EQ(set.sweeps[0].gpu_label, "Titan X (Pascal)");
  EXPECT_DOUBLE_EQ(set.sweeps[0].points[3].clock, 1.0);
  EXPECT_EQ(reasons(set), (Counts{{"dlbench_clocks: an offset to a clock that is not named", 1U}}));
}

// The clock of these rows is what the limit left of it.
TEST(Sweeps, OfALadderAreTheRungsWithLimits) {
  std::string text =
      "campaign,rung,gpu,driver,power_limit_w,op,precision,size,streams,steady_s,mean_power_w,energy_counter_j,"
      "work_unit,work_done,flop_per_s,duty_on_s,duty_off_s,sm_clock_hz,mem_clock_hz,throttled_s,throttle_reasons,"
      "result,"
      "workload_json\n";
  const auto rung = [](const char* name, const char* limit, const char* clock) {
    return std::string("c,") + name + ",NVIDIA B300 SXM6 AC,610," + limit +
           ",powervirus,bf16,8192,1,20,500,10000,iteration,4000,,0,0," + clock + ",3996000000,0,,ok,\n";
  };
  text += rung("cap-1100w", "1100", "2032000000") + rung("cap-450w", "450", "925600000") +
          rung("cap-700w", "700", "1400000000") + rung("cap-550w", "550", "1152300000") +
          rung("duty-50", "1100", "2032000000");
  const SweepSet set = read(text);
  ASSERT_EQ(set.sweeps.size(), 1U);
  const Sweep& sweep = set.sweeps.front();
  EXPECT_EQ(sweep.workload, "powervirus");
  EXPECT_EQ(sweep.variant, "bf16 of 8192, 4000 times");
  EXPECT_DOUBLE_EQ(sweep.points[0].limit, 450.0 / 1100.0);
  EXPECT_DOUBLE_EQ(sweep.points[0].clock, 1.0);
  EXPECT_EQ(sweep.lines, (std::vector<std::size_t>{3, 5, 4, 2}));
  EXPECT_EQ(reasons(set), (Counts{{"b300_power_ladder: a rung that is no power limit", 1U}}));
}

TEST(Sweeps, KnownSettingsCarryTheirMeasurements) {
  const SweepSet set = read(kZeus + zeus_sweep("V100", "adam"));
  const std::vector<std::size_t> some{1, 3};
  const std::vector<Known> known = set.sweeps.front().known(some, 10);
  ASSERT_EQ(known.size(), 2U);
  EXPECT_EQ(known[0].point, 11U);
  EXPECT_DOUBLE_EQ(*known[0].log_time, std::log(15.0));
}

}  // namespace
}  // namespace joulecast::settings
