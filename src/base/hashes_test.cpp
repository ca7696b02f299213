// SPDX-License-Identifier: Apache-2.0
#include "base/hashes.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

// Of the authors' own tables: FNV-1a of "" and "a"; splitmix64 of state 0, its first two values.
TEST(Hashes, AreThePublishedOnes) {
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(stable_hash("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(mixed(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(mixed(0x9e3779b97f4a7c15U), 0x6e789e6aa1b965f4U);
}

}  // namespace
}  // namespace joulecast
