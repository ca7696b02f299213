// SPDX-License-Identifier: Apache-2.0
#include "base/saturating.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Saturating, StopsAtTheLargestNumber) {
  EXPECT_EQ(saturating_product(3, 5), 15);
  EXPECT_EQ(saturating_product(kMost / 2, 2), kMost - 1);
  EXPECT_EQ(saturating_product(kMost / 2 + 1, 2), kMost);
  EXPECT_EQ(saturating_product(kMost, 0), 0);
  EXPECT_EQ(saturating_sum(kMost - 1, 1), kMost);
  EXPECT_EQ(saturating_sum(kMost, kMost), kMost);
  EXPECT_EQ(saturating_sum(2, 3), 5);
}

}  // namespace
}  // namespace joulecast
