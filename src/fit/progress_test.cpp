// SPDX-License-Identifier: Apache-2.0
#include "fit/progress.h"

#include <gtest/gtest.h>

#include <vector>

namespace joulecast {
namespace {

TEST(Pace, SaysALineEveryFewSeconds) {
  double now = 100.0;
  std::vector<std::string> said;
  Pace pace([&](const std::string& line) { said.push_back(line); }, 100.0, [&] { return now; });
  now = 104.0;
  pace.done(10.0, "a");
  EXPECT_TRUE(said.empty());
  now = 110.0;
  pace.done(10.0, "b");
  now = 111.0;
  pace.done(10.0, "c");
  now = 130.0;
  pace.done(20.0, "d");
  EXPECT_EQ(said, (std::vector<std::string>{"b; 0:10 gone, about 0:40 left", "d; 0:30 gone, about 0:30 left"}));
}

TEST(Pace, WhatWasDoneBeforeTakesNoTime) {
  double now = 0.0;
  std::string said;
  Pace pace([&](const std::string& line) { said = line; }, 100.0, [&] { return now; });
  pace.skip(80.0);
  now = 10.0;
  pace.done(10.0, "a");
  EXPECT_EQ(said, "a; 0:10 gone, about 0:10 left");
}

TEST(ClockText, CountsHoursOnlyWhereThereAreAny) {
  EXPECT_EQ(clock_text(0.4), "0:00");
  EXPECT_EQ(clock_text(754.0), "12:34");
  EXPECT_EQ(clock_text(3723.0), "1:02:03");
}

}  // namespace
}  // namespace joulecast
