// SPDX-License-Identifier: Apache-2.0
#include "dataset/refusals.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Refusals, EqualReasonsAreCountedUnderTheirFirstLine) {
  Refusals refusals;
  refusals.add(9, "no time");
  refusals.add(4, "odd");
  refusals.add(7, "no time");
  EXPECT_EQ(refusals.rows(), 3U);
  ASSERT_EQ(refusals.reasons().size(), 2U);
  EXPECT_EQ(refusals.reasons()[0].reason, "no time");
  EXPECT_EQ(refusals.reasons()[0].count, 2U);
  EXPECT_EQ(refusals.reasons()[0].first_line, 7U);
  EXPECT_EQ(refusals.reasons()[1].first_line, 4U);
}

TEST(Refusals, OthersAreAddedWithTheirCounts) {
  Refusals some;
  some.add(5, "a");
  Refusals others;
  others.add(2, "a");
  others.add(3, "b");
  others.add(4, "b");
  some.add(others);
  EXPECT_EQ(some.rows(), 4U);
  EXPECT_EQ(refusal_text(some.by_frequency()[0]), "2 rows, the first in line 2: a");
  EXPECT_EQ(refusal_text(some.by_frequency()[1]), "2 rows, the first in line 3: b");
}

TEST(Refusals, AMillionReasonsAreNotKept) {
  Refusals refusals;
  for (std::size_t line = 1; line <= 1'000'000; ++line) refusals.add(line, "reason " + std::to_string(line));
  EXPECT_EQ(refusals.rows(), 1'000'000U);
  EXPECT_EQ(refusals.reasons().size(), Refusals::kMaxReasons + 1);
  EXPECT_EQ(refusal_text(refusals.by_frequency()[0]), "999000 rows, the first in line 1001: other reasons");
  EXPECT_EQ(refusal_text(refusals.by_frequency()[1]), "line 1: reason 1");
}

}  // namespace
}  // namespace joulecast
