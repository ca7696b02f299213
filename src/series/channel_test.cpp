// SPDX-License-Identifier: Apache-2.0
#include "series/channel.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::series {
namespace {

TEST(Channel, NamesWhatIsOutside) {
  // 19 values of 100 and one of 300: mean 110, deviation sqrt((19 * 100 + 36100) / 19) = 44.7; 300 is 4.2 of them off.
  std::vector<double> values(20, 100.0);
  values[7] = 300;
  const std::optional<Channel> found = channel(values);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->mean, 110);
  EXPECT_DOUBLE_EQ(found->standard_deviation, std::sqrt(38000.0 / 19));
  EXPECT_EQ(found->outside, (std::vector<std::size_t>{7}));
  EXPECT_EQ(found->kept.size(), 19U);
  EXPECT_DOUBLE_EQ(found->kept_mean, 100);
  EXPECT_DOUBLE_EQ(*found->kept_standard_deviation, 0);
}

TEST(Channel, SaysWhenNothingCanBeOutside) {
  std::vector<double> values(10, 1.0);
  values[0] = 1e6;
  const std::optional<Channel> found = channel(values);
  EXPECT_TRUE(found->outside.empty());
  EXPECT_TRUE(has(found->warnings, Warning::kFewSamples));
}

TEST(Channel, KeepsEqualValues) {
  EXPECT_EQ(channel(std::vector<double>(30, 5.0))->kept.size(), 30U);
}

TEST(Channel, OfOneValueIsAbsent) {
  EXPECT_FALSE(channel(std::vector<double>{1.0}));
}

}  // namespace
}  // namespace joulecast::series
