// SPDX-License-Identifier: Apache-2.0
#include "measure/child.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Child, WhatIsMissingIsNamed) {
  const SignalsBlocked blocked;
  const auto program = start_child({"no-such-program"}, {});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, 127);
  EXPECT_EQ(program.error().text, "no-such-program: No such file or directory");
  ChildOptions elsewhere;
  elsewhere.folder = "/no/such/folder";
  const auto folder = start_child({"true"}, elsewhere);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().text, "true: not started, its folder /no/such/folder: No such file or directory");
}

}  // namespace
}  // namespace joulecast
