// SPDX-License-Identifier: Apache-2.0
#include "report/missed_updates.h"

#include <gtest/gtest.h>

#include <vector>

namespace joulecast::report {
namespace {

TEST(MissedUpdates, ByHand) {
  // Gaps of 50, 50, 140, 310 ms.
  const std::vector<Reading> readings{{0, 1}, {50'000, 1}, {100'000, 2}, {240'000, 3}, {550'000, 4}};
  EXPECT_EQ(missed_updates(readings, 0.1), 2U);   // of the last gap
  EXPECT_EQ(missed_updates(readings, 0.05), 7U);  // two and five
  EXPECT_EQ(missed_updates(readings, 1), 0U);
  EXPECT_EQ(missed_updates({}, 0.1), 0U);
}

}  // namespace
}  // namespace joulecast::report
