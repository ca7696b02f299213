// SPDX-License-Identifier: Apache-2.0
#include "series/running_mean.h"

#include <gtest/gtest.h>

#include <array>

namespace joulecast::series {
namespace {

// What a sensor with a window of four updates reads of these loads, idle before.
Series running_mean_of_four(const std::vector<double>& load) {
  Series series;
  for (std::size_t k = 0; k < load.size(); ++k) {
    double sum = 0;
    for (std::size_t back = 0; back < 4; ++back) sum += k >= back ? load[k - back] : load[0];
    series.time_s.push_back(0.25 * static_cast<double>(k));
    series.value.push_back(sum / 4);
  }
  return series;
}

const std::vector<double> kLoad{60, 60, 200, 210, 60, 60, 300, 60, 80, 80};

TEST(Desmear, GivesBackTheLoad) {
  const auto result = desmear(running_mean_of_four(kLoad), Seconds{1}, Seconds{0.25});
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(result->power.value.size(), kLoad.size());
  for (std::size_t k = 0; k < kLoad.size(); ++k) EXPECT_NEAR(result->power.value[k], kLoad[k], 1e-9);
}

TEST(Desmear, RefusesAWindowThatIsNoMultiple) {
  EXPECT_EQ(desmear(running_mean_of_four(kLoad), Seconds{1}, Seconds{0.3}).error().code(), ErrorCode::kUnsupported);
}

TEST(Desmear, RefusesMissingUpdates) {
  Series series = running_mean_of_four(kLoad);
  series.time_s.erase(series.time_s.begin() + 4);
  series.value.erase(series.value.begin() + 4);
  EXPECT_FALSE(desmear(series, Seconds{1}, Seconds{0.25}));
}

TEST(Desmear, RefusesReadingsThatAreNoSuchMean) {
  // An edge seen at once, and taken for a quarter of one.
  EXPECT_FALSE(desmear({{0, 0.25, 0.5, 0.75}, {60, 200, 60, 60}}, Seconds{1}, Seconds{0.25}));
}

TEST(OffEdges, LeavesOutWhatFollowsAnEdge) {
  const Series series{{0, 1, 2, 3, 4, 5}, {1, 1, 5, 9, 9, 9}};
  const auto result = off_edges(series, std::array{1.5}, Seconds{1});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kept.time_s, (std::vector<double>{0, 1, 3, 4, 5}));
  EXPECT_EQ(result->readings_excluded, 1U);
  EXPECT_DOUBLE_EQ(result->excluded.value(), 1);
}

TEST(OffEdges, CountsOverlapsOnceAndNothingOutside) {
  const Series series{{0, 1, 2, 3, 4, 5}, {1, 1, 5, 9, 9, 9}};
  const auto result = off_edges(series, std::array{4.5, 2.5, 2.0, -3.0}, Seconds{1});
  EXPECT_DOUBLE_EQ(result->excluded.value(), 1.5 + 0.5);
  EXPECT_EQ(result->kept.time_s, (std::vector<double>{0, 1, 4}));
}

TEST(OffEdges, RefusesToLeaveNothing) {
  EXPECT_FALSE(off_edges({{0, 1}, {1, 1}}, std::array{0.0}, Seconds{2}));
}

}  // namespace
}  // namespace joulecast::series
