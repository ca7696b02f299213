// SPDX-License-Identifier: Apache-2.0
#include "profile/journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "dataset/table.h"
#include "profile/shards.h"

namespace joulecast::profile {
namespace {

namespace fs = std::filesystem;

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/journal_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    linear_ = plan_
                  .add_operation({"linear", "f32[32, 128]; w f32[256, 128]; _", ""},
                                 {Mode::kTraining, Precision::kFp32, {}}, false)
                  .value();
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] CaseResult measured() const {
    CaseResult out;
    out.id = linear_;
    out.subject = subject_of(plan_.cases().front());
    out.measured = true;
    out.timing.windows = {{10, 0, 100'000, 0.05, 0.09}, {10, 100'000, 220'000, 0.05, 0.11}};
    out.timing.copies = 7;
    out.timing.allocated_bytes = 4096;
    out.power = CasePower{150, 2, 1.5, 0.02, "nvml-counter"};
    out.beside = "the hypervisor";
    out.started = "2026-01-02T03:04:05Z";
    summarize(out.timing);
    return out;
  }
  Journal open() { return std::move(Journal::open(folder_, "{}\n").value()); }

  std::string folder_, linear_;
  Plan plan_;
};

TEST_F(JournalTest, WhatWasAddedIsThereAgain) {
  ASSERT_TRUE(open().add(measured()));
  const Journal again = open();
  ASSERT_EQ(again.results().size(), 1U);
  const CaseResult& result = again.results().at(linear_);
  EXPECT_NEAR(result.timing.mean_s, 0.01, 1e-12);
  EXPECT_EQ(result.timing.windows.size(), 2U);
  EXPECT_EQ(result.timing.copies, 7);
  EXPECT_EQ(result.timing.allocated_bytes, 4096);
  EXPECT_EQ(result.power->power_w, 150);
  EXPECT_EQ(result.beside, "the hypervisor");
  EXPECT_EQ(result.started, "2026-01-02T03:04:05Z");
}

TEST_F(JournalTest, TheNewestResultCounts) {
  CaseResult failed;
  failed.id = linear_;
  failed.subject = subject_of(plan_.cases().front());
  failed.reason = "out of memory";
  {
    Journal journal = open();
    ASSERT_TRUE(journal.add(failed));
    ASSERT_TRUE(journal.add(measured()));
  }
  EXPECT_TRUE(open().results().at(linear_).measured);
}

// As a SIGKILL leaves it.
TEST_F(JournalTest, AHalfLineAtTheEndIsCutOff) {
  ASSERT_TRUE(open().add(measured()));
  const auto whole = fs::file_size(folder_ + "/cases.jsonl");
  std::ofstream(folder_ + "/cases.jsonl", std::ios::app) << R"({"schema":"joulecast.case/1","id":")";
  EXPECT_EQ(open().results().size(), 1U);
  EXPECT_EQ(fs::file_size(folder_ + "/cases.jsonl"), whole);
}

TEST_F(JournalTest, ABrokenLineInsideIsNamed) {
  { open(); }
  std::ofstream(folder_ + "/cases.jsonl", std::ios::app) << "{}\n";
  const auto again = Journal::open(folder_, "{}\n");
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().text().find("cases.jsonl: line 1"), std::string::npos) << again.error().text();
}

TEST_F(JournalTest, AnotherCampaignsFolderIsRefused) {
  ASSERT_TRUE(Journal::open(folder_, R"({"gpu": "a", "device": "cpu"})")->add(measured()));
  const auto other = Journal::open(folder_, R"({"gpu": "b", "device": "cpu", "runner": "mine"})");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().text().find("gpu is a there and b here, runner is the usual one there and mine here"),
            std::string::npos)
      << other.error().text();
  std::ofstream(folder_ + "/campaign.json") << "";
  EXPECT_NE(Journal::open(folder_, "{}").error().text().find("campaign.json is empty"), std::string::npos);
  EXPECT_FALSE(Journal::open(fs::path(folder_).parent_path().string(), "{}\n"));
}

// As an editor leaves it.
TEST_F(JournalTest, TheSameCampaignMayBeWrittenOtherwise) {
  ASSERT_TRUE(Journal::open(folder_, R"({"gpu": "a", "threads": 0})")->add(measured()));
  std::ofstream(folder_ + "/campaign.json") << "{\"threads\":0,\n\"gpu\":\"a\"}";
  EXPECT_TRUE(Journal::open(folder_, R"({"gpu": "a", "threads": 0})"));
}

TEST_F(JournalTest, WhatCampaignJsonHoldsInsteadOfTextIsNotPrinted) {
  ASSERT_TRUE(Journal::open(folder_, R"({"gpu": "a"})")->add(measured()));
  const auto error_of = [&](const std::string& gpu) {
    std::ofstream(folder_ + "/campaign.json") << "{\"gpu\": " << gpu << "}";
    return Journal::open(folder_, R"({"gpu": "a"})").error().text();
  };
  constexpr std::size_t kDeep = 1'000'000;
  EXPECT_NE(error_of(std::string(kDeep, '[') + std::string(kDeep, ']')).find("gpu is no text there"),
            std::string::npos);
  EXPECT_LT(error_of('"' + std::string(kDeep, 'x') + '"').size(), 1000U);
}

// Killed, or out of disk, before it said what it is.
TEST_F(JournalTest, AFolderWithNoMoreThanAnEmptyJournalIsAnybodys) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/cases.jsonl") << "";
  EXPECT_TRUE(Journal::open(folder_, "{}\n"));
}

TEST_F(JournalTest, AllShardsAreOfOneCampaign) {
  const auto shard = [&](int index) { return shard_folder(folder_, {static_cast<std::size_t>(index), 3}); };
  const std::string a = R"({"gpu": "a"})", b = R"({"gpu": "b"})";
  ASSERT_TRUE(Journal::open(shard(1), a));  // comes to no case
  ASSERT_TRUE(Journal::open(shard(2), b)->add(measured()));
  EXPECT_TRUE(Journal::open(shard(3), b));
  const auto other = Journal::open(shard(1), a);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().text().find("shard-0002: is of another campaign: gpu is b there and a here"),
            std::string::npos)
      << other.error().text();
}

TEST_F(JournalTest, ShardsThatRunAreOfOneCampaignBeforeTheirFirstCase) {
  const std::string a = R"({"gpu": "a"})", b = R"({"gpu": "b"})";
  {
    const auto running = Journal::open(shard_folder(folder_, {1, 2}), a);
    ASSERT_TRUE(running);
    EXPECT_FALSE(Journal::open(shard_folder(folder_, {2, 2}), b));
    EXPECT_TRUE(Journal::open(shard_folder(folder_, {2, 2}), a));
  }
  EXPECT_TRUE(Journal::open(shard_folder(folder_, {2, 2}), b));
}

TEST_F(JournalTest, OfShardsThatStartTogetherOneCampaignRuns) {
  constexpr std::size_t kShards = 8;
  std::vector<std::optional<Journal>> open(kShards);
  std::vector<std::thread> starts;
  for (std::size_t i = 0; i < kShards; ++i) {
    starts.emplace_back([&, i] {
      auto journal =
          Journal::open(shard_folder(folder_, {i + 1, kShards}), i % 2 ? R"({"gpu": "a"})" : R"({"gpu": "b"})");
      if (journal) open[i].emplace(std::move(*journal));
    });
  }
  for (std::thread& one : starts) one.join();
  std::array<std::size_t, 2> of_each{};
  for (std::size_t i = 0; i < kShards; ++i) of_each.at(i % 2) += open[i].has_value() ? 1 : 0;
  EXPECT_EQ(std::max(of_each[0], of_each[1]), kShards / 2);
  EXPECT_EQ(std::min(of_each[0], of_each[1]), 0U);
}

TEST_F(JournalTest, ACampaignThatCameToNoCaseLeavesItsFolder) {
  ASSERT_TRUE(Journal::open(folder_, R"({"gpu": "a"})"));
  ASSERT_TRUE(Journal::open(folder_, R"({"gpu": "b"})")->add(measured()));
  EXPECT_FALSE(Journal::open(folder_, R"({"gpu": "a"})"));
}

// As a dry run does while its own campaign is running.
TEST_F(JournalTest, ALookLeavesNoTraceAndStopsNobody) {
  EXPECT_FALSE(Journal::look(folder_, "{}").value());
  EXPECT_FALSE(fs::exists(folder_));
  const std::string own = shard_folder(folder_, {1, 2}), a = R"({"gpu": "a"})", b = R"({"gpu": "b"})";
  Journal running = Journal::open(own, a).value();
  EXPECT_TRUE(Journal::look(own, b).value()->empty());
  EXPECT_FALSE(Journal::look(shard_folder(folder_, {2, 2}), b).value());
  ASSERT_TRUE(running.add(measured()));
  std::ofstream(own + "/cases.jsonl", std::ios::app) << "half";
  const auto size = fs::file_size(own + "/cases.jsonl");
  EXPECT_EQ(Journal::look(own, a).value()->size(), 1U);
  EXPECT_EQ(Journal::look(own, std::nullopt).value()->size(), 1U);
  for (const int shard : {1, 2})
    EXPECT_FALSE(Journal::look(shard_folder(folder_, {static_cast<std::size_t>(shard), 2}), b));
  EXPECT_EQ(fs::file_size(own + "/cases.jsonl"), size);
  EXPECT_FALSE(fs::exists(shard_folder(folder_, {2, 2})));
  EXPECT_FALSE(Journal::look(own + "/cases.jsonl/more", a));
}

TEST_F(JournalTest, TwoCampaignsDoNotWriteToOneFolder) {
  const Journal first = open();
  const auto second = Journal::open(folder_, "{}\n");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().text().find("another campaign runs there"), std::string::npos);
}

TEST_F(JournalTest, WhatNeverEndsIsNoJournal) {
  ASSERT_TRUE(Journal::open(folder_, "{}\n"));
  fs::remove(folder_ + "/cases.jsonl");
  ASSERT_EQ(::mkfifo((folder_ + "/cases.jsonl").c_str(), 0600), 0);
  const auto journal = Journal::open(folder_, "{}\n");
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().text().find("cases.jsonl: is no regular file"), std::string::npos)
      << journal.error().text();
}

TEST_F(JournalTest, RowsAreReadByTheDataset) {
  Journal journal = open();
  ASSERT_TRUE(journal.add(measured()));
  ASSERT_TRUE(
      journal.write_measurements(plan_, {"a30", "NVIDIA A30", "pytorch-eager", "pytorch 2.13.0", "a protocol"}));
  const Table table = read_table(folder_ + "/measurements.csv").value();
  ASSERT_EQ(table.operations.size(), 1U);
  const MeasuredOperation& row = table.operations.front();
  EXPECT_EQ(row.at.gpu, "a30");
  EXPECT_EQ(row.at.mode, Mode::kTraining);
  EXPECT_EQ(row.weight_copies, 7);
  EXPECT_NEAR(row.readings.time->value(), 0.01, 1e-12);
  EXPECT_DOUBLE_EQ(row.readings.power->value(), 150);
  EXPECT_DOUBLE_EQ(row.readings.memory->value(), 4096);
}

// A second start may name other models: what the folder has stays in its rows.
TEST_F(JournalTest, RowsOfWhatIsNotPlannedNowStay) {
  Plan before;
  Conditions at{Mode::kTraining, Precision::kTf32, {}};
  at.settings.power_limit_mw = 200'000;
  at.settings.sm_lock = ClockRange{900, 900};
  CaseResult other = measured();
  other.id = before.add_operation({"linear", "f32[32, 64]; w f32[256, 64]; _", ""}, at, false).value();
  other.subject = subject_of(before.cases().front());
  CaseResult network = measured();
  network.id = "0123456789abcdef";
  network.subject = {};
  network.subject.network = "resnet18";
  network.subject.batch = 4;
  network.subject.image_size = 192;
  CaseResult optimizer = measured();
  optimizer.id = "0123456789abcdee";
  optimizer.subject.operation = {kOptimizer, "", ""};
  for (const CaseResult& result : {other, network, optimizer, measured()}) ASSERT_TRUE(open().add(result));
  ASSERT_TRUE(open().write_measurements(plan_, {"a30", "NVIDIA A30", "pytorch-eager", "pytorch 2.13.0", "a protocol"}));
  const Table table = read_table(folder_ + "/measurements.csv").value();
  ASSERT_EQ(table.operations.size(), 2U);
  EXPECT_EQ(table.operations[0].at.precision, Precision::kFp32) << "what is planned comes first";
  const Circumstances& other_at = table.operations[1].at;
  EXPECT_EQ(other_at.precision, Precision::kTf32);
  EXPECT_DOUBLE_EQ(other_at.power_limit->value(), 200);
  EXPECT_DOUBLE_EQ(other_at.sm_clock->value(), 900e6);
  ASSERT_EQ(table.networks.size(), 1U);
  EXPECT_EQ(table.networks[0].batch, 4);
  EXPECT_EQ(table.networks[0].image_size, 192);
}

}  // namespace
}  // namespace joulecast::profile
