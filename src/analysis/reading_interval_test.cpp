// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading_interval.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

constexpr MonotonicUs kMilli = 1000;

Recording log_of(const std::string& source, const std::string& name = "NVIDIA GeForce RTX 3090") {
  Recording out;
  out.damage.complete = true;
  out.head["imported"] = {{"from", "nvidia-smi"}};
  out.head["devices"] = {{{"id", "gpu0"}, {"name", name}, {"details", {{"driver", "535.54"}}}}};
  out.channels.push_back({"gpu0", Signal::kPower, source, std::nullopt});
  out.readings.emplace_back();
  return out;
}

// `count` more readings, one each `step_us`.
void add(Recording& run, std::size_t count, MonotonicUs step_us) {
  auto& readings = run.readings[0];
  for (std::size_t i = 0; i < count; ++i) {
    readings.push_back({readings.empty() ? 0 : readings.back().time + step_us, 200'000});
  }
}

std::vector<std::string> doubts(const Recording& run, std::optional<Seconds> expected = std::nullopt) {
  SummaryOptions options;
  options.expected_interval = expected;
  return interval_doubts(run, summarize(run, options)->devices, expected);
}

// The median of the gaps sees nothing of it.
TEST(ReadingInterval, EverySecondReadingMissingIsSeenByTheIntervalThatWasAskedFor) {
  Recording run = log_of("smi-instant");
  add(run, 100, 200 * kMilli);
  EXPECT_EQ(doubts(run, Seconds{0.1}),
            std::vector<std::string>{"gpu0: smi-instant: 99 of 199 readings are missing, by one each 100 ms"});
  EXPECT_TRUE(doubts(run, Seconds{0.2}).empty());
}

TEST(ReadingInterval, ABufferOfKnownPaceShowsThemWithoutAWord) {
  Recording run = log_of("gpyjoules-buffer", "Tesla V100-SXM2-16GB");
  add(run, 100, 40 * kMilli);
  ASSERT_EQ(doubts(run).size(), 1U);
  EXPECT_NE(doubts(run)[0].find("99 of 199 readings are missing, by one each 20 ms"), std::string::npos);
  run.readings[0].clear();
  add(run, 100, 20 * kMilli);
  EXPECT_TRUE(doubts(run).empty());
}

TEST(ReadingInterval, APaceThatChangesIsSaid) {
  Recording run = log_of("smi-instant");
  add(run, 200, 100 * kMilli);
  add(run, 60, 200 * kMilli);
  ASSERT_EQ(doubts(run).size(), 1U);
  EXPECT_NE(doubts(run)[0].find("every 100 ms in one part and every 200 ms in another (from 20.1 s on)"),
            std::string::npos)
      << doubts(run)[0];
}

TEST(ReadingInterval, ALogIsOnlyAsCompleteAsItLooks) {
  Recording run = log_of("smi-instant");
  add(run, 100, 200 * kMilli);
  ASSERT_EQ(doubts(run).size(), 1U);
  EXPECT_NE(doubts(run)[0].find("a reading each 200 ms, of a sensor that has a new one each 100 ms"), std::string::npos)
      << doubts(run)[0];
  run.head.erase("imported");
  EXPECT_TRUE(doubts(run).empty()) << "our own sensors say what they lose";
}

TEST(ReadingInterval, AFewLateReadingsAreNoDoubt) {
  Recording run = log_of("smi-instant");
  add(run, 300, 100 * kMilli);
  run.readings[0].erase(run.readings[0].begin() + 50);
  EXPECT_TRUE(doubts(run, Seconds{0.1}).empty());
}

}  // namespace
}  // namespace joulecast
