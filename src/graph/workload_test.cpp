// SPDX-License-Identifier: Apache-2.0
#include "joulecast/workload.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Workload, HostsAreNamedScaledOrBoth) {
  EXPECT_EQ(parse_host("older")->profile, HostProfile::kOlder);
  EXPECT_EQ(parse_host("older")->scale, 1.0);
  EXPECT_EQ(parse_host("1.8")->profile, HostProfile::kModern);
  EXPECT_EQ(parse_host("1.8")->scale, 1.8);
  EXPECT_EQ(parse_host("older:0.5")->profile, HostProfile::kOlder);
  EXPECT_EQ(parse_host("older:0.5")->scale, 0.5);
  for (const char* wrong :
       {"", ":", "older:", "0", "-1", "nan", "inf", "1e9", "1.5x", "fast", "fast:2", "modern:2:3"}) {
    EXPECT_FALSE(parse_host(wrong)) << wrong;
  }
}

TEST(Workload, HostsReadBackAsTheyArePrinted) {
  for (const char* text : {"modern", "older", "modern:1.8", "older:0.5"}) {
    EXPECT_EQ(joulecast::text(*parse_host(text)), text);
  }
}

}  // namespace
}  // namespace joulecast
