// SPDX-License-Identifier: Apache-2.0
#include "profile/proportionality.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace joulecast::profile {
namespace {

// Two points a number of iterations, one above and one below the line by `noise` of the work.
std::vector<DurationPoint> line(double offset, double slope, double noise) {
  std::vector<DurationPoint> out;
  for (std::int64_t n = 1; n <= 1 << 16; n *= 2) {
    const double work = slope * static_cast<double>(n);
    out.push_back({n, offset + work * (1 + noise)});
    out.push_back({n, offset + work * (1 - noise)});
  }
  return out;
}

TEST(ProportionalityTest, OfAStraightLineFindsTheLineAndNoOutlier) {
  const auto points = line(0, 1e-4, 0.01);
  const Proportionality found = proportionality(points).value();
  EXPECT_NEAR(found.slope_s, 1e-4, 1e-9);
  EXPECT_NEAR(found.deviation, 0.014826, 1e-6);  // all are 0.01 off
  EXPECT_TRUE(found.outliers.empty());
  EXPECT_NEAR(*found.safe_s, 1e-4, 1e-9);  // one iteration, though runs of one took less
}

// A start that costs three iterations' time on runs of one and two: the longest of them takes 5.02e-4 s, and the next
// that was measured beyond it are eight iterations less a hundredth.
TEST(ProportionalityTest, WhatIsNotProportionalEndsBeforeTheSafeDuration) {
  auto points = line(0, 1e-4, 0.01);
  for (DurationPoint& point : points) {
    if (point.iterations <= 2) point.seconds += 3e-4;
  }
  const Proportionality found = proportionality(points).value();
  EXPECT_EQ(found.outliers.size(), 4U);
  for (const std::size_t i : found.outliers) EXPECT_LE(points[i].iterations, 2);
  EXPECT_NEAR(*found.safe_s, 7.92e-4, 1e-8);
}

TEST(ProportionalityTest, AnOutlierAmongTheLongestLeavesNothingSafe) {
  auto points = line(0, 1e-4, 0.001);
  points.back().seconds *= 3;
  const Proportionality found = proportionality(points).value();
  EXPECT_FALSE(found.safe_s);
}

// 16.5 ms an iteration, and runs of one, two and four iterations that take a fourteenth of their work: with whatever
// scatter of the others these are no proportional ones.
std::vector<DurationPoint> fast_starts(double noise) {
  std::vector<DurationPoint> points = line(0, 16.5e-3, noise);
  for (DurationPoint& point : points) {
    if (point.iterations <= 4) point.seconds /= 14;
  }
  return points;
}

TEST(ProportionalityTest, RunsThatAreTooShortAreNotSafe) {
  const Proportionality found = proportionality(fast_starts(0.05)).value();
  EXPECT_NEAR(found.slope_s, 16.5e-3, 1e-4);
  EXPECT_EQ(found.outliers.size(), 6U);
  EXPECT_FALSE(found.too_noisy);
  EXPECT_NEAR(*found.safe_s, 8 * 0.95 * 16.5e-3, 1e-9);
}

TEST(ProportionalityTest, AMachineThatIsTooNoisyIsToldAsThat) {
  const Proportionality found = proportionality(fast_starts(0.2)).value();
  EXPECT_NEAR(found.deviation, 0.2 * 1.4826, 0.01);
  EXPECT_EQ(found.outliers.size(), 6U);
  EXPECT_TRUE(found.too_noisy);
  EXPECT_FALSE(found.safe_s);
}

TEST(ProportionalityTest, PointsThatAreNoneAreRefused) {
  EXPECT_FALSE(proportionality({}));
  const std::vector<DurationPoint> alike(10, {4, 1.0});
  EXPECT_FALSE(proportionality(alike));
  auto points = line(0, 1, 0);
  points[3].seconds = 0;
  EXPECT_FALSE(proportionality(points));
}

// Iterations of one duration, and a start that costs each run the same.
class SteadyRunner : public Runner {
 public:
  SteadyRunner(std::int64_t overhead_us, std::int64_t iteration_us)
      : overhead_us_(overhead_us), iteration_us_(iteration_us) {}
  Result<Reply> request(std::string_view lines, Seconds /*timeout*/) override {
    if (!lines.starts_with("run")) return Reply::parse("ok");
    const std::int64_t iterations = std::stoll(std::string(lines.substr(lines.find('=') + 1)));
    const std::int64_t begin = clock_us_;
    clock_us_ += overhead_us_ + iteration_us_ * iterations;
    return Reply::parse(fmt::format("ok iterations={} begin_us={} end_us={} host_s=0", iterations, begin, clock_us_));
  }
  [[nodiscard]] std::int64_t now_us() const override { return clock_us_; }

 private:
  std::int64_t clock_us_ = 0, overhead_us_, iteration_us_;
};

TEST(ProportionalityTest, MeasuresEveryDurationUpToTheLongestAsOftenAsAsked) {
  SteadyRunner runner(500, 1000);
  const auto points = measure_durations(runner, {}, {}, Seconds{0.1}, 3).value();
  EXPECT_EQ(points.size(), 3U * 8U);  // 1, 2, 4, ... 128 iterations
  std::int64_t most = 0;
  for (const DurationPoint& point : points) most = std::max(most, point.iterations);
  EXPECT_EQ(most, 128);
  const Proportionality found = proportionality(points).value();
  EXPECT_NEAR(found.slope_s, 1e-3, 1e-9);
  EXPECT_NEAR(found.offset_s, 5e-4, 1e-9);
}

// Time that does not pass is told of at the sixteenth iteration, not after iterations without end.
TEST(ProportionalityTest, ARunnerWhoseTimeStandsStillIsNoMeasurement) {
  SteadyRunner runner(0, 0);
  EXPECT_EQ(measure_durations(runner, {}, {}, Seconds{0.1}, 3).error().text(),
            "the runner tells of 16 iterations that took 0 us");
}

TEST(ProportionalityTest, IterationsHaveAnEndWhereTheLongestRunIsNeverReached) {
  SteadyRunner runner(1, 0);
  const auto points = measure_durations(runner, {}, {}, Seconds{0.1}, 1).value();
  EXPECT_EQ(points.size(), 24U);  // 1, 2, 4, ... 2^23
}

}  // namespace
}  // namespace joulecast::profile
