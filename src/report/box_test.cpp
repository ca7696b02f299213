// SPDX-License-Identifier: Apache-2.0
#include "report/box.h"

#include <gtest/gtest.h>

namespace joulecast::report {
namespace {

TEST(Box, ByHand) {
  const Box box = box_of({5, 1, 3, 2, 4});
  EXPECT_EQ(box.low, 1);
  EXPECT_EQ(box.first, 2);
  EXPECT_EQ(box.median, 3);
  EXPECT_EQ(box.third, 4);
  EXPECT_EQ(box.high, 5);
  EXPECT_TRUE(box.beyond.empty());
}

// Quartiles 2.25 and 4.75: the whiskers reach to -1.5 and 8.5.
TEST(Box, WhatIsFarAwayStandsAlone) {
  const Box box = box_of({1, 2, 3, 4, 5, 100});
  EXPECT_DOUBLE_EQ(box.first, 2.25);
  EXPECT_DOUBLE_EQ(box.median, 3.5);
  EXPECT_DOUBLE_EQ(box.third, 4.75);
  EXPECT_EQ(box.high, 5);
  EXPECT_EQ(box.low, 1);
  EXPECT_EQ(box.beyond, (std::vector<double>{100}));
}

TEST(Box, OneValueIsALine) {
  const Box box = box_of({7});
  EXPECT_EQ(box.low, 7);
  EXPECT_EQ(box.median, 7);
  EXPECT_EQ(box.high, 7);
}

// Quartiles 0, 0, 2.5 of 0 0 0 10: nothing between 2.5 and 6.25, and 10 is beyond.
TEST(Box, AWhiskerIsNeverInsideItsBox) {
  const Box box = box_of({0, 0, 0, 10});
  EXPECT_DOUBLE_EQ(box.third, 2.5);
  EXPECT_DOUBLE_EQ(box.high, 2.5);
  EXPECT_EQ(box.beyond, (std::vector<double>{10}));
}

}  // namespace
}  // namespace joulecast::report
