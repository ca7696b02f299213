// SPDX-License-Identifier: Apache-2.0
#include "power/privilege.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Privilege, RootsOfContainersLackACapability) {
  EXPECT_TRUE(has_system_admin("Name:\tx\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n"));
  // Docker's default set.
  EXPECT_FALSE(has_system_admin("Name:\tx\nCapEff:\t00000000a80425fb\nCapBnd:\t000001ffffffffff\n"));
  EXPECT_TRUE(has_system_admin("Name:\tx\n"));
}

}  // namespace
}  // namespace joulecast
