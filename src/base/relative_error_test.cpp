// SPDX-License-Identifier: Apache-2.0
#include "base/relative_error.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(RelativeError, HasTwoDigits) {
  EXPECT_EQ(relative_error(0.3, 100), "±0.3 %");
  EXPECT_EQ(relative_error(2.14, 100), "±2.1 %");
  EXPECT_EQ(relative_error(45.4, 100), "±45 %");
  EXPECT_EQ(relative_error(0.096, 100), "±0.10 %");
  EXPECT_EQ(relative_error(0.012, 100), "±0.01 %");
}

TEST(RelativeError, IsNeverAPowerOfTen) {
  EXPECT_EQ(relative_error(99.6, 100), "±100 %");
  EXPECT_EQ(relative_error(100, 100), "±100 %");
  EXPECT_EQ(relative_error(107, 100), ">100 %");
  EXPECT_EQ(relative_error(0.0088, 100), "<0.01 %");
  EXPECT_EQ(relative_error(1, 0), "");
}

}  // namespace
}  // namespace joulecast
