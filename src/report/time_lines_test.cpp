// SPDX-License-Identifier: Apache-2.0
#include "report/time_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "report/charts/charts.h"
#include "report/phase_bands.h"

namespace joulecast::report {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;

// The command begins two seconds after the first reading.
Recording recording() {
  Recording out;
  out.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  out.readings.push_back(
      {{0, 50'000}, {kSecond, 60'000}, {3 * kSecond, 200'000}, {4 * kSecond, 210'000}, {9 * kSecond, 100'000}});
  out.events.push_back({2 * kSecond, EventKind::kBegin, kRecorderTrack, "command", ""});
  out.events.push_back({9 * kSecond, EventKind::kEnd, kRecorderTrack, "command", ""});
  return out;
}

struct View {
  explicit View(Recording of)
      : recording(std::move(of)), summary(*summarize(recording)), run("x", recording, summary) {}
  Recording recording;
  RunSummary summary;
  RunView run;
};

TEST(TimeLines, BeginWithTheCommand) {
  const View view(recording());
  const auto lines = time_lines(view.run, Signal::kPower, 1, "power");
  ASSERT_EQ(lines.size(), 1U);
  ASSERT_EQ(lines[0].parts.size(), 1U);
  EXPECT_EQ(lines[0].parts[0].time_s, (std::vector<double>{-2, -1, 1, 2, 7}));
  EXPECT_EQ(lines[0].parts[0].value, (std::vector<double>{50, 60, 200, 210, 100}));
}

TEST(TimeLines, NothingJoinsWhatIsMissing) {
  Recording of = recording();
  of.absences.push_back({2 * kSecond + 1, 0, Absence::kDeviceLost, 3, "lost"});
  const View view(std::move(of));
  const auto lines = time_lines(view.run, Signal::kPower, 1, "power");
  ASSERT_EQ(lines[0].parts.size(), 2U);
  EXPECT_EQ(lines[0].parts[1].time_s.front(), 1);
  const Json block = line_blocks(lines, 100)[0];
  EXPECT_EQ(block["columns"]["value"].dump(), "[50.0,60.0,null,200.0,210.0,100.0]");
  EXPECT_EQ(block["columns"]["time_s"].size(), 6U);
  EXPECT_EQ(block["constants"]["device"], "gpu0");
}

TEST(TimeLines, ChartsOfWhatWasNotReadAreNotThere) {
  const View view(recording());
  EXPECT_TRUE(clock_charts(view.run).empty());
  EXPECT_TRUE(memory_charts(view.run).empty());
  EXPECT_TRUE(temperature_charts(view.run).empty());
  EXPECT_EQ(power_charts(view.run).size(), 1U);
}

TEST(PhaseBands, WhatIsEverywhereIsNoBand) {
  Recording of = recording();
  for (MonotonicUs t = 3; t < 7; ++t) {
    of.events.push_back({t * kSecond, EventKind::kBegin, 7, "epoch", ""});
    of.events.push_back({t * kSecond + kSecond / 2, EventKind::kEnd, 7, "epoch", ""});
  }
  std::stable_sort(of.events.begin(), of.events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  const View view(std::move(of));
  const auto all = stretches(view.run, 500);
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].name, "command");
  const auto behind = bands(all).stretches;
  ASSERT_EQ(behind.size(), 4U);
  EXPECT_EQ(behind[0].name, "epoch");
  EXPECT_DOUBLE_EQ(behind[0].begin_s, 1);
  EXPECT_DOUBLE_EQ(behind[0].end_s, 1.5);
}

TEST(PhaseBands, NamesWithoutABandAreTold) {
  Recording of = recording();
  for (MonotonicUs t = 0; t < 8; ++t) {
    const std::string name = "part " + std::to_string(t);
    of.events.push_back({(3 * kSecond) + t * 1000, EventKind::kBegin, 7, name, ""});
    of.events.push_back({(3 * kSecond) + t * 1000 + 500, EventKind::kEnd, 7, name, ""});
  }
  std::stable_sort(of.events.begin(), of.events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  const View view(std::move(of));
  EXPECT_EQ(bands(stretches(view.run, 500)).names_left_out, 2U);
  EXPECT_EQ(power_charts(view.run)[0].caption, "Phases of 2 more names are only in the chart of phases.");
}

TEST(PhaseBands, NeighboursAreJoinedWhereThereAreTooMany) {
  Recording of = recording();
  for (MonotonicUs t = 0; t < 1000; ++t) {
    of.events.push_back({3 * kSecond + t * 1000, EventKind::kBegin, 7, "batch", ""});
    of.events.push_back({3 * kSecond + t * 1000 + 500, EventKind::kEnd, 7, "batch", ""});
  }
  std::stable_sort(of.events.begin(), of.events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  const View view(std::move(of));
  std::size_t batches = 0;
  std::size_t drawn_ones = 0;
  for (const Stretch& one : stretches(view.run, 100)) {
    if (one.name != "batch") continue;
    ++drawn_ones;
    batches += one.count;
  }
  EXPECT_LE(drawn_ones, 100U);
  EXPECT_EQ(batches, 1000U);
}

}  // namespace
}  // namespace joulecast::report
