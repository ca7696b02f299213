// SPDX-License-Identifier: Apache-2.0
#include "profile/order.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace joulecast::profile {
namespace {

// One network: a convolution that is nearly all of its work, and a small sum.
Plan plan_of_two() {
  Plan plan;
  const Graph graph = parse_graph(R"(graph "net" {
input %x : f32[8, 64, 32, 32]
parameter %w : f32[64, 64, 3, 3]
parameter %b : f32[64, 1, 1]
%small = binary(%b, %b)
%a = conv(%x, %w, _) {padding_begin = [1, 1], padding_end = [1, 1]}
%y = binary(%a, %small)
output %y
}
)")
                          .value();
  EXPECT_TRUE(plan.add_network("net", graph, {}, {}));
  return plan;
}

CaseResult result(const std::string& id, double error) {
  CaseResult out;
  out.id = id;
  out.measured = true;
  out.timing.mean_s = 1;
  out.timing.error_s = error;
  return out;
}

TEST(Order, WhatIsMeasuredWellIsNotMeasuredAgain) {
  const Plan plan = plan_of_two();
  ASSERT_EQ(plan.cases().size(), 4U);
  const std::string& first = plan.cases()[0].id;
  EXPECT_EQ(todo(plan, {}, {}).size(), 4U);
  EXPECT_EQ(todo(plan, {{first, result(first, 0.01)}}, {}).size(), 3U);
  EXPECT_EQ(todo(plan, {{first, result(first, 0.05)}}, {}).size(), 4U);
}

TEST(Order, WhatFailedIsTriedAgainWhereAskedFor) {
  const Plan plan = plan_of_two();
  CaseResult failed;
  failed.id = plan.cases()[1].id;
  const std::map<std::string, CaseResult> results{{failed.id, failed}};
  EXPECT_EQ(todo(plan, results, {}).size(), 3U);
  EXPECT_EQ(todo(plan, results, {.retry_failed = true}).size(), 4U);
}

TEST(Order, WhatWasSharedIsMeasuredAgainWhereAskedFor) {
  const Plan plan = plan_of_two();
  CaseResult shared = result(plan.cases()[1].id, 0.01);
  shared.beside = "other processes";
  const std::map<std::string, CaseResult> results{{shared.id, shared}};
  EXPECT_EQ(todo(plan, results, {}).size(), 3U);
  EXPECT_EQ(todo(plan, results, {.retry_shared = true}).size(), 4U);
}

TEST(Order, TheSameSeedGivesTheSameOrder) {
  Plan plan;
  for (int n = 1; n <= 40; ++n) {
    ASSERT_TRUE(plan.add_operation({"activation", "f32[" + std::to_string(n) + "]", ""}, {}, true));
  }
  const auto first = todo(plan, {}, {.seed = 1});
  EXPECT_EQ(todo(plan, {}, {.seed = 1}), first);
  EXPECT_NE(todo(plan, {}, {.seed = 2}), first);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
}

TEST(Order, ByGainTheWorkOfANetworkComesBeforeItsTrifles) {
  const Plan plan = plan_of_two();
  const auto order = todo(plan, {}, {.by_gain = true});
  EXPECT_EQ(plan.cases()[order.front()].operation.op, "conv");
  EXPECT_EQ(plan.cases()[order.back()].operation.operands, "w f32[64, 1, 1]; w f32[64, 1, 1]");
}

TEST(Order, ByGainWhatIsExpectedWithCertaintyWaits) {
  const Plan plan = plan_of_two();
  Expectations expected;
  for (const PlannedCase& planned : plan.cases()) {
    const bool large = planned.operation.op == "conv";
    if (planned.network.empty()) expected[planned.id] = {large ? 1e-3 : 1e-4, large ? 0.001 : 0.5};
  }
  const auto order = todo(plan, {}, {.by_gain = true, .expected = expected});
  EXPECT_EQ(plan.cases()[order.back()].operation.op, "conv");
}

}  // namespace
}  // namespace joulecast::profile
