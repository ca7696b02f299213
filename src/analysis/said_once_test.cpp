// SPDX-License-Identifier: Apache-2.0
#include "analysis/said_once.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

using List = std::vector<std::string>;

TEST(SaidOnce, WhatDiffersInAPercentageIsOneSentenceWithItsRange) {
  EXPECT_EQ(said_once({"gpu0: a and b disagree by +9 %", "gpu1: a and b disagree by +9 %",
                       "gpu0: a and b disagree by -12 %", "gpu0: a and b disagree by +7 %"}),
            (List{"gpu0: a and b disagree by -12 to +9 %", "gpu1: a and b disagree by +9 %"}));
  EXPECT_EQ(said_once({"readings cover 63 % of it", "readings cover 8.5 % of it", "readings cover 63 % of it"}),
            (List{"readings cover 8.5 to 63 % of it"}));
}

TEST(SaidOnce, OtherDifferencesAreSaid) {
  const List apart{"5 of 6 runs: 3 %", "4 of 6 runs: 3 %", "a % b", "a", "cover 8 % of 3 %", "cover 8 % of 4 %"};
  EXPECT_EQ(said_once(apart), apart);
  EXPECT_EQ(said_once({"a", "a"}), List{"a"});
}

}  // namespace
}  // namespace joulecast
