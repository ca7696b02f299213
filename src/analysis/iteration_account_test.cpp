// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_account.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

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

RunSummary of_commands(std::vector<Phase> commands) {
  RunSummary out;
  out.commands = std::move(commands);
  return out;
}

// 300 W for half of each second and 100 W for the rest, by a counter that steps every 100 ms and by readings of power
// that always see 250 W.
Recording counted() {
  Recording out;
  out.channels.push_back({"gpu0", Signal::kEnergy, "nvml-counter", std::nullopt});
  out.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  out.readings.resize(2);
  std::int64_t joules = 0;
  for (std::int64_t i = 0; i <= 120; ++i) {
    out.readings[0].push_back({i * 100'000, joules * 1'000'000});
    out.readings[1].push_back({i * 100'000, 250'000});
    joules += i % 10 < 5 ? 30 : 10;
  }
  return out;
}

void mark(Recording& run, std::int64_t begin_us, std::int64_t end_us) {
  run.events.push_back({begin_us, EventKind::kBegin, 3, "batch", {}});
  run.events.push_back({end_us, EventKind::kEnd, 3, "batch", {}});
}

// A second at 300 W between readings of 20 to 29 W: by the readings 164 W, by their changes alone some 45.
TEST(IterationAccount, AReadingThatStaysIsAsGoodAsOneThatChanges) {
  Recording run;
  run.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  run.readings.emplace_back();
  for (std::int64_t i = 0; i <= 200; ++i) {
    run.readings[0].push_back({i * 100'000, i / 10 % 2 == 0 ? 300'000 : 20'000 + i % 10 * 1'000});
  }
  const auto out = iterations_of_commands(run, Accountant(run), of_commands({command(0, 20)}), "gpu0", 10).value();
  EXPECT_EQ(out.values.kept, 200U);
  EXPECT_NEAR(out.values.power.value(), 162.25, 0.1);
}

// Polled five times an update the same 100 updates are seen, each once.
TEST(IterationAccount, PollsOfOneUpdateCountOnce) {
  Recording run;
  run.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  run.readings.emplace_back();
  for (std::int64_t i = 0; i < 500; ++i) run.readings[0].push_back({i * 20'000, 199'000 + i / 5 * 7919 % 2'000});
  const Phase all{"command", {}, 0, 0, 9'980'000, false};
  const auto out = iterations_of_commands(run, Accountant(run), of_commands({all}), "gpu0", 10).value();
  EXPECT_EQ(out.values.kept + out.values.dropped, 100U);
}

TEST(IterationAccount, OfCommandsIsTheThesisSum) {
  const Recording run = recording();
  // Eight and ten seconds: 9 s, deviation the root of 2.
  const auto out =
      iterations_of_commands(run, Accountant(run), of_commands({command(0, 8), command(9, 19)}), "gpu0", 100).value();
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
  const auto out = iterations_of_commands(run, Accountant(run), of_commands({command(0, 10)}), "gpu0", 10).value();
  EXPECT_FALSE(out.time_scatter_known);
  EXPECT_NEAR(out.values.energy.value(), 200, 1e-6);
}

TEST(IterationAccount, OfMarkedPhasesEachStepCounts) {
  Recording run = recording();
  for (std::int64_t i = 0; i < 10; ++i) {
    run.events.push_back({i * 1'000'000 + 50'000, EventKind::kBegin, 3, "batch", "count=4"});
    run.events.push_back({i * 1'000'000 + 1'050'000, EventKind::kEnd, 3, "batch", {}});
  }
  const auto out = iterations_of_phases(run, Accountant(run), {}, "gpu0", "batch").value();
  EXPECT_EQ(out.iterations, 40U);
  EXPECT_NEAR(out.values.time.value(), 0.25, 1e-9);
  EXPECT_NEAR(out.values.energy.value(), 50, 1e-6);
  EXPECT_NEAR(out.answer->value(), 50, 0.01);
  EXPECT_FALSE(iterations_of_phases(run, Accountant(run), {}, "gpu0", "epoch"));
  EXPECT_FALSE(iterations_of_phases(run, Accountant(run), {}, "gpu1", "batch"));
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
  const auto out = iterations_of_phases(run, Accountant(run), {}, "gpu0", "batch").value();
  EXPECT_EQ(out.iterations, 20U);
  EXPECT_NEAR(out.values.time.value(), 0.5, 1e-9);
  EXPECT_NEAR(out.values.energy.value(), 100, 1e-6);
  EXPECT_NEAR(out.answer->value(), 100, 0.01);
}

// The counter has 300 W in the marked halves; what lies between them is nobody's.
TEST(IterationAccount, TheSummarysSourceIsTheAnswerWhereverPhasesLie) {
  Recording run = counted();
  for (std::int64_t i = 1; i <= 10; ++i) mark(run, i * 1'000'000, i * 1'000'000 + 500'000);
  const auto out = iterations_of_phases(run, Accountant(run), {}, "gpu0", "batch").value();
  EXPECT_EQ(out.answer_source, "nvml-counter");
  EXPECT_NEAR(out.answer->value(), 150, 1e-9);
  EXPECT_NEAR(out.values.energy.value(), 125, 1e-9) << "250 W for half a second";
  // Each: 150 J * 0.1 s / 0.5 s / sqrt(6); ten of them, independent.
  EXPECT_NEAR(out.answer_standard_error->value(), 150 * 0.2 / std::sqrt(6) / std::sqrt(10), 1e-9);
  const RunSummary summary = summarize(run).value();
  ASSERT_EQ(summary.phases.size(), 1U);
  EXPECT_NEAR(summary.phases[0].energy_j[0]->mean, out.answer->value(), 1e-9);
  EXPECT_NEAR(summary.phases[0].standard_error_j[0].value(), out.answer_standard_error->value(), 1e-9);
}

// Of 50 ms each at every second's begin: a step is 30 J, half of it theirs. All share the step in the same way.
TEST(IterationAccount, PhasesInsideAStepAreOffTogether) {
  Recording run = counted();
  for (std::int64_t i = 1; i <= 10; ++i) mark(run, i * 1'000'000, i * 1'000'000 + 50'000);
  const auto out = iterations_of_phases(run, Accountant(run), {}, "gpu0", "batch").value();
  EXPECT_NEAR(out.answer->value(), 15, 1e-9);
  EXPECT_NEAR(out.answer_standard_error->value(), 15 * 2 / std::sqrt(6), 1e-9) << "no smaller by there being ten";
}

// Twenty of 25 ms with 2.5 ms between them in 300 W: 7.5 J each. The edges of the whole, 547.5 ms and 164.25 J of which
// 14.25 J lie between them, tell more than the edges inside one step.
TEST(IterationAccount, PhasesThatFollowEachOtherAreKnownByTheWhole) {
  Recording run;
  run.channels.push_back({"gpu0", Signal::kEnergy, "nvml-counter", std::nullopt});
  run.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  run.readings.resize(2);
  for (std::int64_t i = 0; i <= 10; ++i) {
    run.readings[0].push_back({i * 100'000, i * 30'000'000});
    run.readings[1].push_back({i * 100'000, i % 2 == 0 ? 299'000 : 301'000});
  }
  for (std::int64_t i = 0; i < 20; ++i) mark(run, 200'000 + i * 27'500, 225'000 + i * 27'500);
  const auto out = iterations_of_phases(run, Accountant(run), {}, "gpu0", "batch");
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_NEAR(out->answer->value(), 7.5, 1e-9);
  const double edges = 164.25 * 100 / 547.5 / std::sqrt(6), between = 14.25 / std::sqrt(3);
  EXPECT_NEAR(out->answer_standard_error->value(), std::hypot(edges, between) / 20, 1e-9);
}

TEST(IterationAccount, ReadingsThatDoNotScatterTellNoError) {
  Recording run = recording();
  for (Reading& reading : run.readings[0]) reading.value = 200'000;
  const auto out = iterations_of_commands(run, Accountant(run), of_commands({command(0, 10)}), "gpu0", 10).value();
  EXPECT_FALSE(out.power_scatter_known);
  EXPECT_NEAR(out.answer->value(), 200, 1e-9);
  EXPECT_FALSE(out.answer_standard_error);
}

TEST(IterationAccount, WhatAliasesTellsNoError) {
  const Recording run = recording();
  RunSummary summary = of_commands({command(0, 10)});
  EXPECT_TRUE(iterations_of_commands(run, Accountant(run), summary, "gpu0", 10)->answer_standard_error);
  summary.sensor_doubts.push_back({"gpu0", "nvml-instant", 'A', series::Warning::kAliasing, {}});
  const auto out = iterations_of_commands(run, Accountant(run), summary, "gpu0", 10).value();
  EXPECT_TRUE(out.answer);
  EXPECT_FALSE(out.answer_standard_error);
  EXPECT_FALSE(out.power_scatter_known);
}

// Five iterations of a second at 90, 95, 100, 105 and 110 W: each is known exactly, and the next one is not. Their
// deviation is 7.9 J, that of the mean 3.5 J.
TEST(IterationAccount, WhatScattersFromIterationToIterationIsInTheError) {
  Recording run;
  run.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  run.readings.emplace_back();
  for (std::int64_t i = 0; i <= 500; ++i) {
    run.readings[0].push_back({i * 10'000, 90'000 + i / 100 * 5'000 + (i % 2 == 0 ? 1 : -1)});
  }
  for (std::int64_t i = 0; i < 5; ++i) mark(run, i * 1'000'000, (i + 1) * 1'000'000);
  const auto out = iterations_of_phases(run, Accountant(run), of_commands({command(0, 5)}), "gpu0", "batch").value();
  EXPECT_NEAR(out.answer->value(), 100, 0.1);
  EXPECT_NEAR(out.answer_standard_error->value(), 7.906 / std::sqrt(5.0), 0.02);
}

TEST(IterationAccount, PhasesOfRunsThatFailedAreNotCounted) {
  Recording run = recording();
  mark(run, 1'000'000, 3'000'000);
  mark(run, 12'000'000, 13'000'000);
  RunSummary summary = of_commands({command(0, 10)});
  summary.failed.push_back({command(11, 19), 1});
  const auto out = iterations_of_phases(run, Accountant(run), summary, "gpu0", "batch").value();
  EXPECT_EQ(out.iterations, 1U);
  EXPECT_NEAR(out.values.time.value(), 2, 1e-9);
}

}  // namespace
}  // namespace joulecast
