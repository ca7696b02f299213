// SPDX-License-Identifier: Apache-2.0
#include "profile/validation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace joulecast::profile {
namespace {

// Two equal sums and a matrix product.
Plan plan_of_one() {
  Plan plan;
  const Graph graph = parse_graph(R"(graph "net" {
input %x : f32[4, 8]
parameter %w : f32[8, 8]
%a = binary(%x, %x)
%b = linear(%a, %w, _)
%c = binary(%b, %b)
output %c
}
)")
                          .value();
  EXPECT_TRUE(plan.add_network("net", graph, {}, {}));
  return plan;
}

// One window of one iteration.
CaseResult took(double seconds, double error, double host, std::optional<double> device) {
  CaseResult out;
  out.measured = true;
  out.timing.windows = {{1, 0, static_cast<std::int64_t>(seconds * 1e6), host, device}};
  summarize(out.timing);
  out.timing.error_s = error;
  return out;
}

std::map<std::string, CaseResult> results_of(const Plan& plan, std::optional<double> device) {
  std::map<std::string, CaseResult> out;
  for (const PlannedCase& planned : plan.cases()) {
    if (!planned.network.empty()) {
      out[planned.id] = took(4, 0.1, 4, device ? std::optional(4.0) : std::nullopt);
    } else if (planned.operation.op == "binary") {
      out[planned.id] = took(1, 0.3, 2, device);
    } else {
      out[planned.id] = took(1.5, 0.8, 1, device ? std::optional(1.5) : std::nullopt);
    }
  }
  return out;
}

// 2 x 1 + 1.5 = 3.5; the error (2 x 0.3)^2 + 0.8^2 = 1. The whole took 4.
TEST(Validation, SumsTimesWithTheirErrors) {
  const Plan plan = plan_of_one();
  const Validation found = validate(plan, results_of(plan, std::nullopt));
  ASSERT_EQ(found.networks.size(), 1U);
  const NetworkCheck& net = found.networks.front();
  EXPECT_DOUBLE_EQ(net.whole_s.value, 4);
  EXPECT_DOUBLE_EQ(net.sum_s.value, 3.5);
  EXPECT_DOUBLE_EQ(net.sum_s.error, 1);
  EXPECT_DOUBLE_EQ(net.composed_s, 3.5);
  EXPECT_DOUBLE_EQ(found.mean_absolute_error, 0.125);
  EXPECT_FALSE(net.sum_j);
}

// The host takes 2 x 2 + 1 = 5, the device 2 x 1 + 1.5 = 3.5.
TEST(Validation, TheSlowerOfHostAndDeviceSetsThePace) {
  const Plan plan = plan_of_one();
  const Validation found = validate(plan, results_of(plan, 1.0));
  EXPECT_DOUBLE_EQ(found.networks.front().composed_s, 5);
  EXPECT_DOUBLE_EQ(found.mean_absolute_composed, 0.25);
}

TEST(Validation, WhatIsMissingIsCountedAndLeavesTheMean) {
  const Plan plan = plan_of_one();
  auto results = results_of(plan, std::nullopt);
  results.erase(plan.cases().front().id);
  const Validation found = validate(plan, results);
  EXPECT_EQ(found.networks.front().missing, 1U);
  EXPECT_EQ(found.complete, 0U);
}

TEST(Validation, WhatIsNotMeasuredIsNamed) {
  const Plan plan = plan_of_one();
  const auto places = [](const Validation& found) { return std::pair(found.unmeasured, found.without_operations); };
  using Places = std::vector<std::size_t>;
  auto results = results_of(plan, std::nullopt);
  EXPECT_EQ(places(validate(plan, results)), std::pair(Places{}, Places{}));
  for (const PlannedCase& planned : plan.cases()) {
    if (planned.network.empty()) results.erase(planned.id);
  }
  EXPECT_EQ(places(validate(plan, results)), std::pair(Places{}, Places{0}));
  results.begin()->second.measured = false;  // it failed
  EXPECT_EQ(places(validate(plan, results)), std::pair(Places{0}, Places{}));
}

// What a batch norm gathers is nothing that an optimizer updates. 1 + 2 + 0.5 = 3.5 of 4.
TEST(Validation, InTrainingTheOptimizersStepIsInTheSumToo) {
  Plan plan;
  const Graph graph = parse_graph(R"(graph "net" {
input %x : f32[4, 8]
parameter %w : f32[6, 8]
parameter %scale : f32[6]
parameter %mean : f32[6]
%a = linear(%x, %w, _)
%b = batch_norm(%a, %scale, %scale, %mean, %mean)
output %b
}
)")
                          .value();
  ASSERT_TRUE(plan.add_network("net", graph, {}, {Mode::kTraining, Precision::kFp32, {}}));
  std::map<std::string, CaseResult> results;
  std::string learnt;
  for (const PlannedCase& planned : plan.cases()) {
    const bool product = planned.operation.op == "linear", step = planned.request.work == Work::kOptimizer;
    results[planned.id] = took(step ? 0.5 : product ? 2 : planned.network.empty() ? 1 : 4, 0.1, 0, std::nullopt);
    if (step) learnt = planned.request.program;
  }
  EXPECT_EQ(learnt, "value parameter f32 shape=6,8\nvalue parameter f32 shape=6\n");
  const NetworkCheck net = validate(plan, results).networks.front();
  EXPECT_EQ(net.missing, 0U);
  EXPECT_DOUBLE_EQ(net.sum_s.value, 3.5);
  EXPECT_DOUBLE_EQ(net.whole_s.value, 4);
  plan.keep(Plan::Only::kOperations);
  EXPECT_EQ(plan.cases().size(), 3U);
}

TEST(Validation, EnergyIsSummedWhereAllOfItWasMeasured) {
  const Plan plan = plan_of_one();
  auto results = results_of(plan, std::nullopt);
  for (auto& [id, result] : results) result.power = CasePower{100, 1, 10, 0.3, "nvml-counter"};
  const NetworkCheck net = validate(plan, results).networks.front();
  ASSERT_TRUE(net.sum_j);
  EXPECT_DOUBLE_EQ(net.sum_j->value, 30);
  EXPECT_NEAR(net.sum_j->error, 0.3 * std::sqrt(5.0), 1e-12);
}

}  // namespace
}  // namespace joulecast::profile
