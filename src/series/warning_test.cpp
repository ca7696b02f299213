// SPDX-License-Identifier: Apache-2.0
#include "series/warning.h"

#include <gtest/gtest.h>

#include <set>

namespace joulecast::series {
namespace {

TEST(Warning, EachHasANameOfItsOwnATextAndAdvice) {
  std::set<std::string_view> names;
  for (const Warning warning : kWarnings) {
    EXPECT_TRUE(names.insert(warning_name(warning)).second) << warning_name(warning);
    EXPECT_FALSE(warning_text(warning).empty());
    EXPECT_FALSE(warning_advice(warning).empty());
  }
  EXPECT_EQ(names.count(""), 0U);
}

TEST(Warning, IsSaidOnce) {
  Warnings warnings;
  add(warnings, Warning::kGap);
  add(warnings, Warnings{Warning::kNoisy, Warning::kGap});
  EXPECT_EQ(warnings, (Warnings{Warning::kGap, Warning::kNoisy}));
}

}  // namespace
}  // namespace joulecast::series
