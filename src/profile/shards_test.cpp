// SPDX-License-Identifier: Apache-2.0
#include "profile/shards.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "dataset/measurement_csv.h"
#include "profile/campaign_slurm.h"
#include "profile/plan.h"

namespace joulecast::profile {
namespace {

TEST(Shards, Numbers) {
  EXPECT_EQ(parse_shard("3/8")->index, 3U);
  EXPECT_EQ(parse_shard("3/8")->count, 8U);
  for (const char* text : {"", "3", "0/8", "9/8", "a/8", "1/", "/2", "1/2/3", "-1/2", "1/99999999999999999999"}) {
    EXPECT_FALSE(parse_shard(text)) << text;
  }
}

TEST(Shards, EveryCaseIsOneShards) {
  const auto plan = [] {
    Plan out;
    for (int i = 1; i <= 100; ++i) {
      EXPECT_TRUE(out.add_operation({"activation", "f32[" + std::to_string(i) + "]", ""}, {}, true));
    }
    return out;
  };
  std::multiset<std::string> ids;
  for (const std::size_t index : {1U, 2U, 3U}) {
    Plan part = plan();
    part.keep(Shard{index, 3});
    EXPECT_GT(part.cases().size(), 15U);
    for (const PlannedCase& one : part.cases()) ids.insert(one.id);
  }
  EXPECT_EQ(ids.size(), 100U);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 100U);
}

// The hash of a text without an odd digit has a low bit that is the same for all: half of the shards had nothing.
TEST(Shards, OperationsOfANetworkAreSharedFairly) {
  const Graph network = parse_graph(R"(graph "net" {
input %x : f32[N, 64]
parameter %w : f32[2048, 64]
parameter %v : f32[64, 2048]
%a = linear(%x, %w, _)
%b = activation(%a)
%c = linear(%b, %v, _)
%d = softmax(%c)
output %d
}
)")
                            .value();
  Plan whole;
  for (std::int64_t batch = 2; batch < 400; batch += 2) {
    if (std::to_string(batch).find_first_of("13579") != std::string::npos) continue;
    ASSERT_TRUE(whole.add_network("net", network, {.symbols = {{"N", batch}}, .shapes = {}, .batch = {}}, {}));
  }
  whole.keep(Plan::Only::kOperations);
  for (const std::size_t count : {2U, 4U, 8U}) {
    const double fair = static_cast<double>(whole.cases().size()) / static_cast<double>(count);
    for (std::size_t index = 1; index <= count; ++index) {
      Plan part = whole;
      part.keep(Shard{index, count});
      // Four standard deviations of what is drawn by lot.
      EXPECT_NEAR(static_cast<double>(part.cases().size()), fair, 4 * std::sqrt(fair)) << index << '/' << count;
    }
  }
}

TEST(Shards, TablesBecomeOne) {
  const std::string folder = testing::TempDir() + "shards";
  std::filesystem::remove_all(folder);
  const auto write = [&](int index, const std::string& text) {
    const std::string own = shard_folder(folder, {static_cast<std::size_t>(index), 12});
    std::filesystem::create_directories(own);
    if (!text.empty()) std::ofstream(own + "/measurements.csv") << text;
  };
  write(1, csv_header() + "one\n");
  write(2, "");  // has not finished
  write(12, csv_header() + "twelve\n");
  for (int twice = 0; twice < 2; ++twice) {
    ASSERT_TRUE(merge_shards(folder));
    std::ifstream file(folder + "/measurements.csv");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), csv_header() + "one\ntwelve\n");
  }
  write(3, "other,columns\n");
  EXPECT_NE(merge_shards(folder).error().text().find("shard-0003/measurements.csv: another version"),
            std::string::npos);
}

TEST(Shards, ScriptForSlurm) {
  const std::string script =
      slurm_script({"/opt/joulecast", "/data/out 1", {"a b.onnx", "--mode", "training"}, {"--partition=gpu"}, 8, true});
  EXPECT_NE(script.find("#SBATCH --array=1-8\n"), std::string::npos);
  EXPECT_NE(script.find("#SBATCH --output=\"/data/out 1/slurm-%A_%a.out\"\n"), std::string::npos);
  EXPECT_NE(script.find("#SBATCH --gres=gpu:1\n"), std::string::npos);
  EXPECT_NE(script.find("#SBATCH --partition=gpu\n"), std::string::npos);
  EXPECT_NE(
      script.find("exec '/opt/joulecast' profile 'a b.onnx' '--mode' 'training' --shard \"$SLURM_ARRAY_TASK_ID/8\"\n"),
      std::string::npos);
}

TEST(Shards, OptionsForSlurmAreQuotedAsItReadsThem) {
  const auto line = [](const char* option) {
    const std::string script = slurm_script({"/opt/joulecast", "/data", {}, {option}, 8, true});
    const std::size_t begin = script.find("#SBATCH", script.find("--signal"));
    return script.substr(begin, script.find('\n', begin) - begin);
  };
  EXPECT_EQ(line("--comment=a b"), "#SBATCH --comment=\"a b\"");
  EXPECT_EQ(line("--comment=the \"best\" \\"), "#SBATCH --comment=\"the \\\"best\\\" \\\\\"");
  EXPECT_EQ(line("--comment=run#2"), "#SBATCH --comment=\"run#2\"");
  for (const std::string whole : {"--exclusive", "--partition=gpu", "-p gpu", "--partition gpu", "--comment=\"a b\"",
                                  "--comment='a b'", "--comment a=b c"}) {
    EXPECT_EQ(line(whole.c_str()), "#SBATCH " + whole);
  }
}

}  // namespace
}  // namespace joulecast::profile
