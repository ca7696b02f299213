// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <string>
#include <vector>

namespace joulecast {
namespace {

TEST(Parallel, DoesEachPieceOnce) {
  std::vector<std::atomic<int>> done(1000);
  EXPECT_TRUE(in_parallel(
      done.size(),
      [&](std::size_t i) {
        ++done[i];
        return Result<void>();
      },
      4));
  for (const auto& count : done) EXPECT_EQ(count, 1);
  EXPECT_TRUE(in_parallel(0, [](std::size_t) -> Result<void> { return invalid("nothing to do"); }));
}

TEST(Parallel, WorksOnSeveralAtATime) {
  std::barrier both(2);  // hangs unless two are under way
  EXPECT_TRUE(in_parallel(
      2,
      [&](std::size_t) {
        both.arrive_and_wait();
        return Result<void>();
      },
      2));
}

TEST(Parallel, TellsTheFirstErrorAndBeginsNothingAfterIt) {
  std::atomic<int> begun = 0;
  const auto failed = in_parallel(
      1000,
      [&](std::size_t i) -> Result<void> {
        ++begun;
        if (i >= 3) return invalid("piece " + std::to_string(i));
        return {};
      },
      1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text(), "piece 3");
  EXPECT_EQ(begun, 4);
}

}  // namespace
}  // namespace joulecast
