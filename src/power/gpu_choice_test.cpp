// SPDX-License-Identifier: Apache-2.0
#include "power/gpu_choice.h"

#include <gtest/gtest.h>

#include <map>

namespace joulecast {
namespace {

using Indices = std::vector<std::size_t>;

std::vector<GpuIdentity> four() {
  return {{"GPU-aa11", "00000000:07:00.0", "H100", {}},
          {"GPU-aa22", "00000000:0B:00.0", "H100", {"MIG-5c", "MIG-6d"}},
          {"GPU-bb33", "00000000:48:00.0", "H100", {}},
          {"GPU-cc44", "00010000:07:00.0", "H100", {}}};
}

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto at = values.find(name);
    return at == values.end() ? std::nullopt : std::optional(at->second);
  };
}

GpuChoice visible(std::map<std::string, std::string> values) {
  return choose_gpus(four(), std::nullopt, variables(std::move(values))).value();
}

TEST(GpuChoice, TakesIndicesUuidsPciIdsAndMigDevices) {
  const auto choice = choose_gpus(four(), "GPU-bb, 0", variables({}));
  EXPECT_EQ(choice.value().gpus, (Indices{0, 2}));
  EXPECT_EQ(choose_gpus(four(), "0000:48:00.0", variables({})).value().gpus, (Indices{2}));
  EXPECT_EQ(choose_gpus(four(), "0b:00.0", variables({})).value().gpus, (Indices{1}));
  const auto mig = choose_gpus(four(), "MIG-6d", variables({})).value();
  EXPECT_EQ(mig.gpus, (Indices{1}));
  EXPECT_EQ(mig.mig, (std::vector<std::string>{"MIG-6d"}));
  EXPECT_EQ(mig.doubts.size(), 1U);
}

TEST(GpuChoice, AllAmongOthersIsAllAndNothingTwice) {
  EXPECT_EQ(choose_gpus(four(), "all,0", variables({})).value().gpus, (Indices{0, 1, 2, 3}));
  EXPECT_EQ(choose_gpus(four(), "2,all", variables({})).value().gpus, (Indices{0, 1, 2, 3}));
  EXPECT_EQ(choose_gpus(four(), "0,0,GPU-aa11", variables({})).value().gpus, (Indices{0}));
  EXPECT_FALSE(choose_gpus(four(), "all,4", variables({})));
}

TEST(GpuChoice, WhatIsAskedForAndNotThereIsAnError) {
  EXPECT_NE(choose_gpus(four(), "4", variables({})).error().text().find("from 0 to 3"), std::string::npos);
  EXPECT_NE(choose_gpus({}, "0", variables({})).error().text().find("none at all"), std::string::npos);
  EXPECT_NE(choose_gpus(four(), "GPU-aa", variables({})).error().text().find("beginning of 2"), std::string::npos);
  EXPECT_FALSE(choose_gpus(four(), "07:00.0", variables({})));  // in two PCI domains
  EXPECT_FALSE(choose_gpus(four(), "", variables({})));
}

TEST(GpuChoice, WithoutAnythingSaidAllAreMeasured) {
  EXPECT_EQ(visible({}).gpus, (Indices{0, 1, 2, 3}));
}

TEST(GpuChoice, FollowsWhatCudaWouldShow) {
  EXPECT_EQ(visible({{"CUDA_VISIBLE_DEVICES", "2,0"}}).gpus, (Indices{0, 2}));
  EXPECT_EQ(visible({{"CUDA_VISIBLE_DEVICES", "GPU-cc"}}).gpus, (Indices{3}));
  EXPECT_EQ(visible({{"CUDA_VISIBLE_DEVICES", "MIG-5c"}}).mig, (std::vector<std::string>{"MIG-5c"}));
  EXPECT_TRUE(visible({{"CUDA_VISIBLE_DEVICES", ""}}).gpus.empty());
  EXPECT_TRUE(visible({{"CUDA_VISIBLE_DEVICES", ""}}).doubts.empty());
  const GpuChoice stops = visible({{"CUDA_VISIBLE_DEVICES", "1,-1,2"}});
  EXPECT_EQ(stops.gpus, (Indices{1}));
  EXPECT_EQ(stops.doubts.size(), 1U);
}

TEST(GpuChoice, ReadsTheListAsCudaDoes) {
  const auto shown = [](const char* list) { return visible({{"CUDA_VISIBLE_DEVICES", list}}).gpus; };
  EXPECT_EQ(shown("1gpu2,+2"), (Indices{1, 2})) << "numbers as strtoul reads them";
  EXPECT_EQ(shown("0,0"), Indices{}) << "one GPU twice is none at all";
  EXPECT_EQ(visible({{"CUDA_VISIBLE_DEVICES", "0,0"}}).doubts.size(), 1U);
  EXPECT_EQ(shown("GPU-aa11,GPU-aa1"), Indices{});
  EXPECT_EQ(shown("0,GPU-bb33"), Indices{0}) << "after a number only numbers";
  EXPECT_EQ(shown("GPU-bb33,0,GPU-aa11"), Indices{2}) << "after a UUID only UUIDs";
  EXPECT_EQ(shown("GPU-bb33,MIG-5c"), Indices{2});
  EXPECT_EQ(shown("MIG-5c,MIG-6d"), Indices{1}) << "two parts of one GPU";
  EXPECT_EQ(shown("0b:00.0"), Indices{0}) << "no PCI ids: 0b begins with 0";
}

TEST(GpuChoice, ARankMeasuresItsOwnGpu) {
  EXPECT_EQ(visible({{"LOCAL_RANK", "2"}}).gpus, (Indices{2}));
  // The list is in CUDA's order: local rank 0 has the GPU that it names first.
  EXPECT_EQ(visible({{"CUDA_VISIBLE_DEVICES", "3,1"}, {"MPI_LOCALRANKID", "0"}}).gpus, (Indices{3}));
  EXPECT_EQ(visible({{"CUDA_VISIBLE_DEVICES", "3"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}).gpus, (Indices{3}));
}

TEST(GpuChoice, ARankThatIsAloneMayUseAll) {
  const std::map<std::string, std::string> script{{"SLURM_JOB_ID", "1"}, {"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "4"}};
  EXPECT_EQ(visible(script).gpus, (Indices{0, 1, 2, 3})) << "a batch script is no task";
  auto task = script;
  task.insert({{"SLURM_STEP_ID", "0"}, {"SLURM_NODEID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}});
  EXPECT_EQ(visible(task).gpus, (Indices{0, 1, 2, 3})) << "it is the launcher of the node's ranks";
  task["SLURM_STEP_TASKS_PER_NODE"] = "4(x2)";
  EXPECT_EQ(visible(task).gpus, (Indices{0}));
  EXPECT_TRUE(visible(task).doubts.empty());
  task["SLURM_STEP_TASKS_PER_NODE"] = "2(x2)";
  EXPECT_EQ(visible(task).gpus, (Indices{0}));
  EXPECT_EQ(visible(task).doubts.size(), 1U) << "each may use two";
}

TEST(GpuChoice, RanksThatShareGpusAreDoubted) {
  const GpuChoice known = visible({{"LOCAL_RANK", "5"}, {"LOCAL_WORLD_SIZE", "6"}});
  EXPECT_EQ(known.gpus, (Indices{1}));
  ASSERT_EQ(known.doubts.size(), 1U);
  EXPECT_TRUE(known.doubts[0].starts_with("6 ranks on this machine, and 4 GPUs: ranks share them")) << known.doubts[0];
  EXPECT_EQ(visible({{"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "6"}}).doubts.size(), 1U) << "the fifth shares it";
  EXPECT_EQ(visible({{"MPI_LOCALRANKID", "4"}}).doubts.size(), 1U) << "there must be five";
  EXPECT_TRUE(visible({{"LOCAL_RANK", "3"}, {"LOCAL_WORLD_SIZE", "4"}}).doubts.empty());
}

TEST(GpuChoice, SaysWhenCudasOrderMayDiffer) {
  auto gpus = four();
  gpus[0].name = "T4";
  EXPECT_EQ(choose_gpus(gpus, std::nullopt, variables({{"CUDA_VISIBLE_DEVICES", "0"}})).value().doubts.size(), 1U);
  const auto doubts = [&](std::map<std::string, std::string> values) {
    return choose_gpus(gpus, std::nullopt, variables(std::move(values))).value().doubts.size();
  };
  EXPECT_EQ(doubts({{"LOCAL_RANK", "1"}}), 1U);
  EXPECT_EQ(doubts({{"CUDA_VISIBLE_DEVICES", "0"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}), 0U);
  EXPECT_EQ(doubts({{"CUDA_VISIBLE_DEVICES", "GPU-bb"}}), 0U) << "a UUID is of one GPU, however they are numbered";
  EXPECT_EQ(doubts({{"CUDA_VISIBLE_DEVICES", "3,2,1,0"}}), 0U) << "all are measured";
  EXPECT_EQ(doubts({}), 0U);
}

}  // namespace
}  // namespace joulecast
