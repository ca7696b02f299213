// SPDX-License-Identifier: Apache-2.0
#include "power/local_rank.h"

#include <gtest/gtest.h>

#include <map>

namespace joulecast {
namespace {

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto at = values.find(name);
    return at == values.end() ? std::nullopt : std::optional(at->second);
  };
}

Environment task(const char* node, const char* tasks_per_node) {
  return variables({{"SLURM_JOB_ID", "12"},
                    {"SLURM_STEP_ID", "3"},
                    {"SLURM_LOCALID", "1"},
                    {"SLURM_NODEID", node},
                    {"SLURM_STEP_TASKS_PER_NODE", tasks_per_node}});
}

TEST(LocalRank, OfATaskOfSlurmWithTheTasksOfItsNode) {
  EXPECT_EQ(slurm_step(task("0", "2")), "12.3");
  EXPECT_EQ(local_rank(task("0", "2"))->local, 1U);
  EXPECT_EQ(local_rank(task("0", "2"))->size, 2U);
  EXPECT_EQ(local_rank(task("2", "4(x2),3"))->size, 3U);
  EXPECT_EQ(local_rank(task("1", "4(x2),3"))->size, 4U);
  for (const char* odd : {"", "x", "2(x", "2(x)", "2(y3)", "4(x2)"}) {
    EXPECT_EQ(local_rank(task("2", odd))->size, std::nullopt) << odd;
  }
}

TEST(LocalRank, ABatchScriptIsNoTask) {
  std::map<std::string, std::string> script{
      {"SLURM_JOB_ID", "12"}, {"SLURM_LOCALID", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}};
  EXPECT_FALSE(local_rank(variables(script)));
  EXPECT_FALSE(slurm_step(variables(script)));
  script["SLURM_STEP_ID"] = "4294967290";  // the shell of salloc
  EXPECT_FALSE(local_rank(variables(script)));
}

TEST(LocalRank, TheInnermostLauncherCounts) {
  const auto worker = local_rank(variables({{"LOCAL_RANK", "3"},
                                            {"LOCAL_WORLD_SIZE", "4"},
                                            {"SLURM_JOB_ID", "12"},
                                            {"SLURM_STEP_ID", "0"},
                                            {"SLURM_LOCALID", "0"}}));
  EXPECT_EQ(worker->variable, "LOCAL_RANK");
  EXPECT_EQ(worker->local, 3U);
  EXPECT_EQ(worker->size, 4U);
  EXPECT_EQ(local_rank(variables({{"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}))->size, std::nullopt);
}

}  // namespace
}  // namespace joulecast
