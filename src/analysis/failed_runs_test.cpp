// SPDX-License-Identifier: Apache-2.0
#include "analysis/failed_runs.h"

#include <gtest/gtest.h>

#include "analysis/summary.h"

namespace joulecast {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;

// Runs of 2, 1 and 4 seconds at 100 W, a phase in each.
Recording recording(const std::vector<int>& codes) {
  Recording out;
  out.damage.complete = true;
  out.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  out.readings.emplace_back();
  for (std::int64_t i = 0; i <= 2000; ++i) out.readings[0].push_back({i * 10'000, 100'000});
  MonotonicUs at = kSecond;
  for (const auto& [index, seconds] : {std::pair(0, 2), std::pair(1, 1), std::pair(2, 4)}) {
    out.events.push_back({at, EventKind::kBegin, 0, "command", "index=" + std::to_string(index)});
    out.events.push_back({at, EventKind::kBegin, 7, "epoch", {}});
    at += seconds * kSecond;
    out.events.push_back({at, EventKind::kEnd, 7, "epoch", {}});
    out.events.push_back({at, EventKind::kEnd, 0, "command", {}});
  }
  out.end = {{"commands", nlohmann::json::array()}};
  for (const int code : codes) out.end["commands"].push_back({{"code", code}});
  return out;
}

TEST(FailedRuns, AreInNoMean) {
  const RunSummary summary = summarize(recording({0, 9, 0})).value();
  EXPECT_EQ(summary.time_s.count, 2U);
  EXPECT_NEAR(summary.time_s.mean, 3, 1e-9);
  EXPECT_NEAR(summary.devices[0].energy_j->mean, 300, 1e-6);
  EXPECT_EQ(summary.phases[0].time_s.count, 2U);
  EXPECT_NEAR(summary.phases[0].time_s.total, 6, 1e-9);
  EXPECT_EQ(summary.doubts, std::vector<std::string>{"1 of 3 runs failed (exit code 9) and is not in the means"});
  ASSERT_EQ(summary.failed.size(), 1U);
  EXPECT_EQ(summary.failed[0].code, 9);
  EXPECT_EQ(number_of_run(summary.failed[0].command), 2U);
}

TEST(FailedRuns, AreAllThereIsWhereNoneWorked) {
  const RunSummary summary = summarize(recording({1, 9, 1})).value();
  EXPECT_EQ(summary.time_s.count, 3U);
  EXPECT_TRUE(summary.failed.empty());
  EXPECT_EQ(summary.doubts,
            std::vector<std::string>{"all 3 runs failed (exit codes 1, 9): the figures are of what they did"});
}

TEST(FailedRuns, OneWhoseEndWasNotWaitedForIsOne) {
  const RunSummary summary = summarize(recording({0, 0})).value();
  ASSERT_EQ(summary.failed.size(), 1U);
  EXPECT_EQ(summary.failed[0].code, 130);
}

TEST(FailedRuns, AreNotToldWithoutExitCodes) {
  Recording run = recording({});
  for (const nlohmann::json& end : {nlohmann::json(), nlohmann::json::object(), nlohmann::json{{"commands", 3}}}) {
    run.end = end;
    EXPECT_EQ(summarize(run).value().time_s.count, 3U);
  }
}

}  // namespace
}  // namespace joulecast
