// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "measure/restore_journal.h"

namespace joulecast {
namespace {

constexpr const char* kPlan = R"(
command = ["python3", "train.py", "--batch", "{batch}"]
power_limits_w = [150, 200.5, "found"]
sm_clocks_mhz = [1200, [900, 1410]]
repetitions = 2
seed = 7
[parameters]
batch = [32, 64]
)";

TEST(SweepPlan, HasEveryCombinationOncePerRepetition) {
  const auto plan = parse_plan(kPlan, "plan");
  ASSERT_TRUE(plan) << plan.error().text();
  const auto runs = runs_of(*plan);
  ASSERT_EQ(runs.size(), 2U * 3U * 2U * 2U);
  std::set<std::string> ids;
  for (const SweepRun& run : runs) ids.insert(run.id());
  EXPECT_EQ(ids.size(), runs.size());
  EXPECT_TRUE(ids.contains("batch=64_200.5W_sm900-1410_r02"));
  EXPECT_TRUE(ids.contains("batch=32_sm1200_r01")) << "a limit as found has no name";
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].repetition, i < 12 ? 1U : 2U);
}

TEST(SweepPlan, ParametersStandInTheCommand) {
  const auto runs = runs_of(*parse_plan("command = \"run {a}-{b} {c}\"\nparameters = {a = [1], b = [\"x\"]}", "p"));
  EXPECT_EQ(runs.front().command, (std::vector<std::string>{"sh", "-c", "run 1-x {c}"}));
  EXPECT_EQ(runs.front().group(), "a=1 b=x");
}

// Drift must not go with the setting: neither in the order of the file nor the same order in each repetition.
TEST(SweepPlan, OrderIsRandomInEachRepetitionAndTheSameForASeed) {
  SweepPlan plan = *parse_plan("command = \"x\"\npower_limits_w = [100, 110, 120, 130, 140, 150, 160, 170]", "p");
  const auto ids = [](const SweepPlan& of) {
    std::vector<std::uint32_t> out;
    for (const SweepRun& run : runs_of(of)) out.push_back(*run.settings.power_limit_mw);
    return out;
  };
  const auto first = ids(plan);
  EXPECT_EQ(first, ids(plan));
  EXPECT_FALSE(std::is_sorted(first.begin(), first.begin() + 8));
  EXPECT_FALSE(std::equal(first.begin(), first.begin() + 8, first.begin() + 8));
  EXPECT_TRUE(std::is_permutation(first.begin(), first.begin() + 8, first.begin() + 8));
  plan.seed = 2;
  EXPECT_NE(first, ids(plan));
  plan.order = SweepOrder::kGiven;
  const auto given = ids(plan);
  EXPECT_TRUE(std::is_sorted(given.begin(), given.begin() + 8));
}

TEST(SweepPlan, NamesOfFilesAreSafeAndStayApart) {
  const auto runs =
      runs_of(*parse_plan("command = \"{m}\"\nrepetitions = 1\nparameters = {m = [\"a/../b\", \"a-..-b\"]}", "p"));
  ASSERT_EQ(runs.size(), 2U);
  for (const SweepRun& run : runs) EXPECT_EQ(run.id().find('/'), std::string::npos) << run.id();
  EXPECT_NE(runs[0].id(), runs[1].id());
}

void expect_error(const std::string& toml, const std::string& text) {
  const auto plan = parse_plan(toml, "p");
  ASSERT_FALSE(plan) << toml;
  EXPECT_NE(plan.error().text().find(text), std::string::npos) << plan.error().text();
}

TEST(SweepPlan, AnEmptyListIsNoChoice) {
  for (const std::string key : {"power_limits_w", "sm_clocks_mhz", "memory_clocks_mhz", "application_clocks"}) {
    expect_error("command = \"x\"\n" + key + " = []", "line 2: " + key + ": the list is empty; leave the key out");
  }
}

TEST(SweepPlan, WhatWasExpectedIsShown) {
  expect_error("command = 3", "line 1: command: expected a list of words, [\"python3\", \"train.py\"], or one text");
  expect_error("command = [\"x\", 3]", "line 1: command: expected a list of words");
  expect_error("command = \"x\"\npower_limits_w = 200", "expected a list of watts: [200, 250, \"found\"]");
}

TEST(SweepPlan, ACommandOfNothingIsNone) {
  for (const std::string nothing : {"\"\"", "\" \\t\"", "[]", "[\"\", \"x\"]", "[\" \"]"}) {
    expect_error("repetitions = 1\ncommand = " + nothing, "line 2: command: is empty");
  }
}

TEST(SweepPlan, WhatMakesNoSenseIsToldWithItsPlace) {
  expect_error("power_limits_w = [100]", "command: none");
  expect_error("command = \"x\"\npower_limit_w = [100]", "line 2: power_limit_w: unknown key");
  expect_error("command = \"x\"\npower_limits_w = [-5]", "line 2: power_limits_w: expected watts");
  expect_error("command = \"x\"\npower_limits_w = 100", "expected a list");
  expect_error("command = \"x\"\napplication_clocks = [[877]]", "expected [memory, sm]");
  expect_error("command = \"x\"\n[parameters]\nbatch = [1, 2]", "the command has no {batch}");
  expect_error("command = \"x {b}\"\nparameters = {b = []}", "no values");
  expect_error("command = \"x\"\npower_limits_w = [100, 100]", "listed twice");
  expect_error("command = \"x\"\nrepetitions = 0", "at least 1");
  expect_error("command = \"x\"\norder = \"sorted\"", "expected \"random\" or \"given\"");
  expect_error("command = \"x\"\nsm_clocks_mhz = [900]\napplication_clocks = [[877, 900]]", "override");
  expect_error("command = [", "line 1");
}

class Gpyjoules : public testing::Test {
 protected:
  Gpyjoules() {
    std::string name = testing::TempDir() + "gpyjoules_XXXXXX";
    folder_ = mkdtemp(name.data());
    std::filesystem::create_directories(folder_ + "/benchmarks");
    write("benchmarks/mnist-cnn.yaml", "---\nworking_directory: ./models\nmodule: mnist_cnn\nargs: [--epochs, 5]\n");
    write("benchmarks/nbody.yaml", "---\nworking_directory: ./\nmodule: nbody\nargs: []\n");
  }
  ~Gpyjoules() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }

  std::string folder_;
};

TEST_F(Gpyjoules, BenchmarksAreNames) {
  write("experiment.yaml", "experiments:\n- experiment_name: limits\n  benchmarks:\n  - nbody\n  - module: mnist\n");
  const auto plans = read_plans(folder_ + "/experiment.yaml");
  ASSERT_FALSE(plans);
  EXPECT_NE(plans.error().text().find("benchmarks: line 5 is no name of a benchmark"), std::string::npos)
      << plans.error().text();
}

TEST_F(Gpyjoules, ItsExperimentsArePlans) {
  write("experiment.yaml",
        "experiments:\n- experiment_name: limits\n  repeat: 5\n  power_limits: [150, 200, null]\n"
        "  data_path: data\n  benchmarks: [mnist-cnn, nbody]\n"
        "- experiment_name: clocks\n  host: " +
            this_host() +
            "\n  repeat: 2\n  clock_limits:\n  - [877, 1530]\n  - [877, 135]\n  benchmarks: [nbody]\n"
            "- experiment_name: others\n  host: not-this-one\n  benchmarks: [nbody]\n");
  const auto plans = read_plans(folder_ + "/experiment.yaml");
  ASSERT_TRUE(plans) << plans.error().text();
  ASSERT_EQ(plans->size(), 3U);
  const SweepPlan& first = plans->front();
  EXPECT_EQ(first.name, "limits/mnist-cnn");
  EXPECT_EQ(first.output, "data/limits/mnist-cnn");
  EXPECT_EQ(first.command, (std::vector<std::string>{"python3", "-m", "mnist_cnn", "--epochs", "5"}));
  EXPECT_EQ(first.working_directory, folder_ + "/models");
  EXPECT_EQ(first.repetitions, 5U);
  ASSERT_EQ(first.power_limits_mw.size(), 3U);
  EXPECT_EQ(first.power_limits_mw[1], 200'000U);
  EXPECT_EQ(first.power_limits_mw[2], std::nullopt);
  EXPECT_EQ((*plans)[2].application_clocks.at(1), (ApplicationClocks{877, 135}));
}

TEST_F(Gpyjoules, ItsFlatFormIsReadToo) {
  write("flat.yml", "name: t4\nrepetitions: 3\npower_limits: [60, 65, 70]\nbaseline_length: 10\nbenchmarks: [nbody]\n");
  const auto plans = read_plans(folder_ + "/flat.yml");
  ASSERT_TRUE(plans) << plans.error().text();
  EXPECT_EQ(plans->front().name, "t4/nbody");
  EXPECT_EQ(plans->front().baseline_s, 10);
}

TEST_F(Gpyjoules, WhatIsWrongWithThemIsTold) {
  const auto error = [&](const std::string& text) {
    write("bad.yaml", text);
    const auto plans = read_plans(folder_ + "/bad.yaml");
    return plans ? std::string("read") : plans.error().text();
  };
  EXPECT_NE(error("name: x\nbenchmarks: [missing]\n").find("no benchmarks/missing.yaml"), std::string::npos);
  EXPECT_NE(error("name: x\n").find("no benchmarks"), std::string::npos);
  EXPECT_NE(error("name: [x\n").find("line"), std::string::npos);
  EXPECT_NE(error("name: x\nhost: other\nbenchmarks: [nbody]\n").find("other hosts"), std::string::npos);
  EXPECT_NE(error("name: x\npower_limits: [many]\nbenchmarks: [nbody]\n").find("line 2"), std::string::npos);
  EXPECT_FALSE(read_plans(folder_ + "/not-there.yaml"));
}

}  // namespace
}  // namespace joulecast
