// SPDX-License-Identifier: Apache-2.0
#include "profile/time_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace joulecast::profile {
namespace {

// Answers as a runner whose iterations take what `takes` says; time passes only in its windows.
class FakeRunner : public Runner {
 public:
  std::function<double(std::size_t window)> takes = [](std::size_t) { return 1e-3; };
  std::string prepared = "ok copies=3 distinct_copies=3 weight_bytes=40\n";
  std::optional<Error> fails;
  std::vector<std::string> asked;
  std::size_t windows = 0;

  Result<Reply> request(std::string_view lines, Seconds /*timeout*/) override {
    asked.emplace_back(lines);
    if (lines.starts_with("prepare")) return Reply::parse(std::string_view(prepared).substr(0, prepared.size() - 1));
    if (!lines.starts_with("run")) return Reply::parse("ok");
    if (fails) return tl::unexpected<Error>(*fails);
    const std::int64_t iterations = std::stoll(std::string(lines.substr(lines.find('=') + 1)));
    const double seconds = takes(windows++) * static_cast<double>(iterations);
    const std::int64_t begin = clock_us;
    clock_us += static_cast<std::int64_t>(seconds * 1e6);
    return Reply::parse(
        fmt::format("ok iterations={} begin_us={} end_us={} host_s={}", iterations, begin, clock_us, seconds / 2));
  }
  [[nodiscard]] std::int64_t now_us() const override { return clock_us; }

 private:
  std::int64_t clock_us = 1000;
};

TEST(TimeCase, WindowsAreLongEnoughAndTheirMeanIsTheTime) {
  FakeRunner runner;
  const CaseTiming timing = time_case(runner, {}, {}).value();
  EXPECT_NEAR(timing.mean_s, 1e-3, 1e-9);
  EXPECT_NEAR(timing.host_share, 0.5, 1e-6);
  EXPECT_EQ(timing.copies, 3);
  for (const TimedWindow& window : timing.windows) EXPECT_GE(window.end_us - window.begin_us, 100'000);
  EXPECT_EQ(runner.asked.back(), "release\n");
}

TEST(TimeCase, GoesOnUntilTheErrorIsSmallEnough) {
  FakeRunner runner;
  std::size_t turn = 0;
  runner.takes = [&](std::size_t) { return turn++ % 2 == 0 ? 1.0e-3 : 1.1e-3; };
  const CaseTiming timing = time_case(runner, {}, {}).value();
  EXPECT_LE(timing.error_s, 0.01 * timing.mean_s);
  EXPECT_GT(timing.windows.size(), Protocol().least_windows);
}

TEST(TimeCase, GivesUpOnNoiseAndSaysHowLargeItIs) {
  FakeRunner runner;
  std::size_t turn = 0;
  runner.takes = [&](std::size_t) { return turn++ % 2 == 0 ? 1.0e-3 : 3.0e-3; };
  const Protocol protocol;
  const CaseTiming timing = time_case(runner, {}, protocol).value();
  EXPECT_EQ(timing.windows.size(), protocol.most_windows);
  EXPECT_GT(timing.error_s, 0.01 * timing.mean_s);
  EXPECT_FALSE(timing.settled);
}

// A clock that rises while the device warms: none of the slow windows counts.
TEST(TimeCase, WaitsUntilTheDeviceIsWarm) {
  FakeRunner runner;
  runner.takes = [](std::size_t window) { return window < 9 ? 2e-3 / static_cast<double>(window + 1) : 2e-4; };
  const CaseTiming timing = time_case(runner, {}, {}).value();
  EXPECT_TRUE(timing.settled);
  EXPECT_NEAR(timing.mean_s, 2e-4, 1e-8);
}

void expect_windows_of_a_millisecond(const CaseTiming& timing) {
  EXPECT_NEAR(timing.mean_s, 1e-3, 1e-9);
  EXPECT_TRUE(timing.settled);
  EXPECT_LE(timing.windows.size(), Protocol().most_windows);
  for (const TimedWindow& window : timing.windows) EXPECT_GE(window.clock_s(), 0.1);
}

// Fifty times as fast after the warm-up had settled, and after the first measured windows too.
TEST(TimeCase, WhatWasTimedBeforeIterationsGotFasterIsWarmUp) {
  for (const std::size_t slow : {4, 5, 7}) {
    FakeRunner runner;
    runner.takes = [&](std::size_t window) { return window < slow ? 50e-3 : 1e-3; };
    expect_windows_of_a_millisecond(time_case(runner, {}, {}).value());
  }
}

TEST(TimeCase, NoiseMakesNoShortWindows) {
  FakeRunner runner;
  runner.takes = [](std::size_t window) { return 1e-3 * (1 + 0.5 * std::sin(static_cast<double>(window))); };
  const CaseTiming timing = time_case(runner, {}, {}).value();
  for (const TimedWindow& window : timing.windows) EXPECT_GE(window.clock_s(), 0.1);
  EXPECT_NEAR(timing.mean_s, 1e-3, 1e-4);
}

// Whatever is asked for takes 50 ms.
TEST(TimeCase, WindowsThatNoIterationsFillAreNoMeasurement) {
  FakeRunner runner;
  runner.takes = [&](std::size_t) {
    return 50e-3 / std::stod(runner.asked.back().substr(runner.asked.back().find('=') + 1));
  };
  EXPECT_EQ(time_case(runner, {}, {}).error().text(),
            "after 5 warm-ups a window is still shorter than 0.1 s: iterations get ever faster");
  EXPECT_LT(runner.windows, 1000U);
}

TEST(TimeCase, IterationsLongerThanAWindowRunOneByOne) {
  FakeRunner runner;
  runner.takes = [](std::size_t) { return 0.7; };
  const CaseTiming timing = time_case(runner, {}, {}).value();
  EXPECT_EQ(timing.windows.front().iterations, 1);
  EXPECT_EQ(timing.windows.size(), Protocol().least_windows);
}

// Ten minutes of a network whose iteration takes 30 s: what is over by then is over.
TEST(TimeCase, NoWindowBeginsOnceTheTimeIsOver) {
  FakeRunner runner;
  runner.takes = [](std::size_t) { return 30.0; };
  const CaseTiming timing = time_case(runner, {}, {}, [&] { return runner.windows >= 7; }).value();
  EXPECT_EQ(runner.windows, 7U);
  EXPECT_EQ(timing.windows.size(), 4U);  // behind the first two calls and one to settle
  EXPECT_FALSE(usable(timing, {}));
  EXPECT_EQ(runner.asked.back(), "release\n");
}

TEST(TimeCase, TheTimeMayBeOverBeforeTheDeviceIsWarm) {
  FakeRunner runner;
  const CaseTiming timing = time_case(runner, {}, {}, [] { return true; }).value();
  EXPECT_TRUE(timing.windows.empty());
  EXPECT_FALSE(usable(timing, {}));
}

// The error is larger than wanted, and is told; a second campaign measures it again.
TEST(TimeCase, NoiseIsCutShortWhereTheTimeIsOver) {
  FakeRunner runner;
  std::size_t turn = 0;
  runner.takes = [&](std::size_t) { return turn++ % 2 == 0 ? 1.0e-3 : 3.0e-3; };
  const CaseTiming timing = time_case(runner, {}, {}, [&] { return runner.windows >= 70; }).value();
  EXPECT_LT(timing.windows.size(), Protocol().most_windows);
  EXPECT_GT(timing.error_s, 0.01 * timing.mean_s);
  EXPECT_TRUE(usable(timing, {}));
}

TEST(TimeCase, CopiesThatShareMemoryAreNoMeasurement) {
  FakeRunner runner;
  runner.prepared = "ok copies=3 distinct_copies=1 weight_bytes=40\n";
  EXPECT_EQ(time_case(runner, {}, {}).error().code(), ErrorCode::kInvalidInput);
}

TEST(TimeCase, CopiesThatNobodySpeaksOfAreNoMeasurementEither) {
  FakeRunner runner;
  runner.prepared = "ok copies=3 weight_bytes=40\n";
  EXPECT_EQ(time_case(runner, {}, {}).error().text(), "the runner does not say where its copies of the weights lie");
}

CaseRequest module_request() {
  CaseRequest request;
  request.work = Work::kNetwork;
  request.module = "my nets/net.py:Net";
  request.program = "value input f32 shape=2,3\n";
  return request;
}

TEST(TimeCase, AModuleIsNamedAndItsInputsAreGiven) {
  EXPECT_EQ(prepare_lines(module_request(), {}),
            "prepare kind=network mode=inference precision=fp32 input_gradient=1 copies_bytes=0 copies_most=1 "
            "module=my%20nets/net.py:Net\nvalue input f32 shape=2,3\nend\n");
}

TEST(TimeCase, AModuleThatTheRunnerPassesOverIsNoMeasurement) {
  FakeRunner runner;
  EXPECT_EQ(time_case(runner, module_request(), {}).error().code(), ErrorCode::kUnsupported);
  runner.prepared = "ok copies=1 distinct_copies=1 weight_bytes=40 module=my%20nets/net.py:Net\n";
  EXPECT_TRUE(time_case(runner, module_request(), {}));
}

TEST(TimeCase, AnOptimizerThatTheRunnerPassesOverIsNoMeasurement) {
  CaseRequest request;
  request.work = Work::kOptimizer;
  request.mode = Mode::kTraining;
  request.program = "value parameter f32 shape=2,3\n";
  EXPECT_EQ(prepare_lines(request, {}),
            "prepare kind=optimizer mode=training precision=fp32 input_gradient=1 copies_bytes=0 copies_most=1\n"
            "value parameter f32 shape=2,3\nend\n");
  FakeRunner runner;
  EXPECT_EQ(time_case(runner, request, {}).error().code(), ErrorCode::kUnsupported);
  runner.prepared = "ok copies=1 distinct_copies=1 weight_bytes=24 kind=optimizer\n";
  EXPECT_TRUE(time_case(runner, request, {}));
}

TEST(TimeCase, TheRunnersErrorIsTheCases) {
  FakeRunner runner;
  runner.fails = Error{ErrorCode::kDevice, "CUDA out of memory"};
  EXPECT_EQ(time_case(runner, {}, {}).error().text(), "CUDA out of memory");
}

// (1, 2, 3): mean 2, deviation 1, error 1 / sqrt 3.
TEST(TimeCase, SummaryIsMeanDeviationAndStandardError) {
  CaseTiming timing;
  for (const std::int64_t us : {1'000'000, 2'000'000, 3'000'000})
    timing.windows.push_back({1, 0, us, 0.5, std::nullopt});
  summarize(timing);
  EXPECT_DOUBLE_EQ(timing.mean_s, 2);
  EXPECT_DOUBLE_EQ(timing.deviation_s, 1);
  EXPECT_NEAR(timing.error_s, 0.57735, 1e-5);
  EXPECT_DOUBLE_EQ(timing.host_share, 0.25);
  timing.windows.front().device_s = 0.4;
  EXPECT_DOUBLE_EQ(timing.windows.front().iteration_s(), 0.4);
}

}  // namespace
}  // namespace joulecast::profile
