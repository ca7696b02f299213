// SPDX-License-Identifier: Apache-2.0
#include "profile/plan.h"

#include <gtest/gtest.h>

namespace joulecast::profile {
namespace {

TEST(Plan, WhatNobodyCanRunIsToldOnceForAllModesAndPrecisions) {
  const Graph graph = parse_graph(R"(graph "net" {
input %x : f32[2, 3]
%a = opaque(%x) {name = "Foo", output_types = [f32[2, 3]]}
output %a
}
)")
                          .value();
  Plan plan;
  ASSERT_TRUE(plan.add_network("net", graph, {}, {Mode::kInference, Precision::kFp32, {}}));
  const std::size_t of_one = plan.notes().size();
  ASSERT_GE(of_one, 1U);
  EXPECT_NE(plan.notes()[0].find("Foo"), std::string::npos) << plan.notes()[0];
  ASSERT_TRUE(plan.add_network("net", graph, {}, {Mode::kTraining, Precision::kFp32, {}}));
  ASSERT_TRUE(plan.add_network("net", graph, {}, {Mode::kInference, Precision::kBf16, {}}));
  EXPECT_EQ(plan.notes().size(), of_one);
  ASSERT_TRUE(plan.add_network("another", graph, {}, {Mode::kInference, Precision::kFp32, {}}));
  EXPECT_EQ(plan.notes().size(), 2 * of_one);
}

}  // namespace
}  // namespace joulecast::profile
