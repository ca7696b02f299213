// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_account.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

// 199 and 201 W in turn, every 100 ms, for 20 s.
Recording recording() {
  Recording out;
  out.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  out.readings.emplace_back();
  for (std::int64_t i = 0; i <= 200; ++i) out.readings[0].push_back({i * 100'000, i % 2 == 0 ? 199'000 : 201'000});
  return out;
}

Phase command(std::int64_t begin_s, std::int64_t end_s) {
  return {"command", {}, 0, begin_s * 1'000'000 + 50'000, end_s * 1'000'000 + 50'000, false};
}

TEST(IterationAccount, OfCommandsIsTheThesisSum) {
  const Recording run = recording();
  // Eight and ten seconds: 9 s, deviation the root of 2.
  const auto out = iterations_of_commands(run, Accountant(run), "gpu0", {command(0, 8), command(9, 19)}, 100).value();
  EXPECT_TRUE(out.time_scatter_known);
  EXPECT_NEAR(out.values.time.value(), 0.09, 1e-9);
  EXPECT_NEAR(out.values.time_deviation.value(), 0.0141421, 1e-6);  // (3.8)
  EXPECT_NEAR(out.values.energy.value(), 18, 1e-6);                 // (3.7): 200 W * 9 s / 100
  EXPECT_NEAR(out.values.energy_deviation.value(), 0.09, 0.001);    // (3.9): 1 W * 9 s / 100
  EXPECT_EQ(out.values.kept, 180U);
  // 1 W / sqrt(180) * 9 s and 200 W * 1.414 s in quadrature, over 100.
  EXPECT_NEAR(out.values.energy_standard_error.value(), 2.8284, 0.001);
  EXPECT_EQ(out.iterations, 200U);
  EXPECT_NEAR(out.answer->value(), 18, 0.01);
}

TEST(IterationAccount, OfOneRunTheScatterOfTimeIsNotKnown) {
  const Recording run = recording();
  const auto out = iterations_of_commands(run, Accountant(run), "gpu0", {command(0, 10)}, 10).value();
  EXPECT_FALSE(out.time_scatter_known);
  EXPECT_NEAR(out.values.energy.value(), 200, 1e-6);
}

TEST(IterationAccount, OfMarkedPhasesEachStepCounts) {
  Recording run = recording();
  for (std::int64_t i = 0; i < 10; ++i) {
    run.events.push_back({i * 1'000'000 + 50'000, EventKind::kBegin, 3, "batch", "count=4"});
    run.events.push_back({i * 1'000'000 + 1'050'000, EventKind::kEnd, 3, "batch", {}});
  }
  const auto out = iterations_of_phases(run, Accountant(run), "gpu0", "batch").value();
  EXPECT_EQ(out.iterations, 40U);
  EXPECT_NEAR(out.values.time.value(), 0.25, 1e-9);
  EXPECT_NEAR(out.values.energy.value(), 50, 1e-6);
  EXPECT_NEAR(out.answer->value(), 50, 0.01);
  EXPECT_FALSE(iterations_of_phases(run, Accountant(run), "gpu0", "epoch"));
  EXPECT_FALSE(iterations_of_phases(run, Accountant(run), "gpu1", "batch"));
}

// Two workers with a batch a second each: two batches share a second and its 200 J.
TEST(IterationAccount, IterationsSideBySideShareTimeAndEnergy) {
  Recording run = recording();
  for (std::int64_t i = 0; i < 10; ++i) {
    for (const std::int64_t worker : {3, 4}) {
      run.events.push_back({i * 1'000'000 + 50'000, EventKind::kBegin, worker, "batch", {}});
      run.events.push_back({i * 1'000'000 + 1'050'000, EventKind::kEnd, worker, "batch", {}});
    }
  }
  const auto out = iterations_of_phases(run, Accountant(run), "gpu0", "batch").value();
  EXPECT_EQ(out.iterations, 20U);
  EXPECT_NEAR(out.values.time.value(), 0.5, 1e-9);
  EXPECT_NEAR(out.values.energy.value(), 100, 1e-6);
  EXPECT_NEAR(out.answer->value(), 100, 0.01);
}

}  // namespace
}  // namespace joulecast
