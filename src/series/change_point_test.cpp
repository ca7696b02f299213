// SPDX-License-Identifier: Apache-2.0
#include "series/change_point.h"

#include <gtest/gtest.h>

#include <functional>

namespace joulecast::series {
namespace {

// Ten readings a second, with one watt of noise that has no pattern an edge could be mistaken for.
Series sampled(double seconds, const std::function<double(double)>& power) {
  Series series;
  unsigned state = 1;
  for (int i = 0; i <= static_cast<int>(seconds * 10); ++i) {
    state = state * 1103515245U + 12345U;
    series.time_s.push_back(i * 0.1);
    series.value.push_back(power(i * 0.1) + static_cast<double>(state >> 16U & 1023U) / 511.5 - 1);
  }
  return series;
}

TEST(Segments, FindAnEdgeWhereItIs) {
  const auto parts = segments(sampled(10, [](double t) { return t < 3.95 ? 60.0 : 200.0; }));
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 2U);
  EXPECT_EQ((*parts)[0].last, 39U);
  EXPECT_EQ((*parts)[1].first, 40U);
  EXPECT_NEAR((*parts)[0].level, 60, 0.5);
  EXPECT_NEAR((*parts)[1].level, 200, 0.5);
}

TEST(Segments, FindNoneInNoise) {
  EXPECT_EQ(segments(sampled(60, [](double) { return 200.0; }))->size(), 1U);
  // Noise of tenths of the level: the levels of halves differ by chance, but not for a reason.
  EXPECT_EQ(segments(sampled(60, [](double) { return 4.0; }))->size(), 1U);
}

// A load that turns at random, behind a sensor that updates every 0.1 s and is polled every 20 ms; and its mean of a
// second. Neighbours are the same or nearly so, and tell nothing of how much halves of it differ by chance.
TEST(Segments, FindNoneInReadingsThatHangTogether) {
  int parts = 0;
  unsigned state = 7;
  for (int trial = 0; trial < 40; ++trial) {
    Series polls, averaged;
    std::vector<double> updates;
    for (int i = 0; i < 300; ++i) {
      state = state * 1103515245U + 12345U;
      updates.push_back((state >> 16U & 1U) == 0 ? 150 : 350);
      double sum = 0;
      const int window = std::min(i + 1, 10);
      for (int k = 0; k < window; ++k) sum += updates[static_cast<std::size_t>(i - k)];
      averaged.time_s.push_back(i * 0.1);
      averaged.value.push_back(sum / window);
      for (int poll = 0; poll < 5; ++poll) {
        polls.time_s.push_back(i * 0.1 + poll * 0.02);
        polls.value.push_back(updates.back());
      }
    }
    for (const Series& series : {polls, averaged}) parts += static_cast<int>(segments(series)->size());
  }
  EXPECT_LE(parts - 80, 4) << "cuts in 80 series without a change";
}

TEST(Segments, DriftIsNoChange) {
  EXPECT_EQ(segments(sampled(60, [](double t) { return 200 + t / 10; }))->size(), 1U);
}

TEST(SteadyPart, LeavesOutStartUpAndTailAndSaysHowMuch) {
  const auto part = steady_part(sampled(10, [](double t) { return t < 1.95 ? 100.0 : t < 8.95 ? 250.0 : 120.0; }));
  ASSERT_TRUE(part);
  EXPECT_NEAR(part->level, 250, 0.5);
  EXPECT_NEAR(part->cut_head.value(), 2.0, 1e-9);
  EXPECT_NEAR(part->cut_tail.value(), 1.1, 1e-9);
  EXPECT_EQ(part->head_readings, 20U);
  EXPECT_EQ(part->tail_readings, 11U);
  EXPECT_EQ(part->steady.time_s.size(), 70U);
  EXPECT_TRUE(part->warnings.empty());
}

TEST(SteadyPart, KeepsDipsThatBelongToTheWork) {
  const auto part = steady_part(sampled(12, [](double t) { return t > 4.95 && t < 5.95 ? 150.0 : 250.0; }));
  EXPECT_DOUBLE_EQ(part->cut_head.value() + part->cut_tail.value(), 0);
  EXPECT_EQ(part->steady.time_s.size(), 121U);
}

TEST(SteadyPart, OfOneReadingIsThatReading) {
  EXPECT_EQ(steady_part({{1}, {5}})->steady.value.size(), 1U);
}

TEST(SteadyPart, RefusesOptionsThatAreNone) {
  EXPECT_FALSE(steady_part({{1}, {5}}, {Seconds{0}, 0.05}));
}

}  // namespace
}  // namespace joulecast::series
