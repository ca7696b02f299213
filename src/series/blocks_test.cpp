// SPDX-License-Identifier: Apache-2.0
#include "series/blocks.h"

#include <gtest/gtest.h>

namespace joulecast::series {
namespace {

// 60 W for 4 s, then 200 W; ten values a second. `late`: by how much a reading trails.
Series step(double late) {
  Series series;
  for (int i = 0; i <= 80; ++i) {
    series.time_s.push_back(i * 0.1);
    series.value.push_back(i * 0.1 - late < 3.95 ? 60 : 200);
  }
  return series;
}

TEST(SteadyBlocks, LeaveOutTheTimeAroundAnEdge) {
  const auto blocks = steady_blocks(step(0.7), step(0), {Seconds{0.5}, Seconds{1.0}, 0.05});
  ASSERT_TRUE(blocks);
  // Blocks 0 to 15 begin every half second. 0 and 1 have no past of two; 7 has the edge after it, 8 and 9 before; 15
  // has no block after it.
  EXPECT_EQ(blocks->from_s, (std::vector<double>{1.0, 1.5, 2.0, 2.5, 5.0, 5.5, 6.0, 6.5, 7.0}));
  for (std::size_t i = 0; i < blocks->from_s.size(); ++i) EXPECT_NEAR(blocks->reading[i], blocks->reference[i], 1e-9);
}

TEST(SteadyBlocks, NeedTimeInCommon) {
  EXPECT_FALSE(steady_blocks(step(0), {{100, 101}, {1, 1}}));
  EXPECT_TRUE(steady_blocks(step(0), {{0, 1}, {1, 1}})->from_s.empty());
}

}  // namespace
}  // namespace joulecast::series
