// SPDX-License-Identifier: Apache-2.0
#include "profile/proportionality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "series/moments.h"

namespace joulecast::profile {
namespace {

constexpr std::size_t kLeastPoints = 7;
constexpr double kOutlier = 5;  // standard deviations
constexpr double kLeastDeviation = 0.01;

Result<void> check(std::span<const DurationPoint> points) {
  if (points.size() < kLeastPoints)
    return invalid(fmt::format("{} points; a line needs {}", points.size(), kLeastPoints));
  for (const DurationPoint& point : points) {
    if (point.iterations < 1 || !(point.seconds > 0) || !std::isfinite(point.seconds)) {
      return invalid(fmt::format("{} iterations in {} s", point.iterations, point.seconds));
    }
  }
  return {};
}

// Median of what `value` says of these points. Requires: at least one.
template <typename Value>
double median_of(std::span<const DurationPoint> points, const Value& value) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const DurationPoint& point : points) values.push_back(value(point));
  return series::median(values).value();
}

double work(const Proportionality& line, const DurationPoint& point) {
  return line.slope_s * static_cast<double>(point.iterations);
}

struct Runs {
  std::vector<DurationPoint> brief, lengthy;
};

// The long ones have an eighth of the most iterations, or more.
Result<Runs> split(std::span<const DurationPoint> points) {
  constexpr std::int64_t kPart = 8;
  std::int64_t fewest = points.front().iterations, most = fewest;
  for (const DurationPoint& point : points) {
    fewest = std::min(fewest, point.iterations);
    most = std::max(most, point.iterations);
  }
  if (fewest == most) return invalid("all points have the same number of iterations");
  Runs out;
  for (const DurationPoint& point : points)
    (point.iterations < most / kPart ? out.brief : out.lengthy).push_back(point);
  return out;
}

// The long runs tell what an iteration takes, the short ones what a start costs: each in turn, without the other.
// An error in one is less in the next by the ratio of their iterations.
Result<void> fit(const Runs& runs, Proportionality& line) {
  constexpr int kTurns = 40;
  for (int i = 0; i < kTurns; ++i) {
    line.slope_s = median_of(runs.lengthy, [&](const DurationPoint& point) {
      return (point.seconds - line.offset_s) / static_cast<double>(point.iterations);
    });
    if (runs.brief.empty()) break;
    line.offset_s =
        median_of(runs.brief, [&](const DurationPoint& point) { return point.seconds - work(line, point); });
  }
  if (!(line.slope_s > 0)) return invalid("time does not grow with the iterations");
  constexpr double kDeviations = 1.4826;  // a normal distribution's standard deviation over its median distance
  line.deviation = kDeviations * median_of(runs.lengthy, [&](const DurationPoint& point) {
                     return std::abs((point.seconds - line.offset_s) / work(line, point) - 1);
                   });
  line.too_noisy = line.deviation > kTooNoisy;
  return {};
}

// What one run of that many took.
Result<double> run_once(Runner& runner, const Protocol& protocol, std::int64_t iterations, Seconds longest) {
  JC_ASSIGN_OR_RETURN(const TimedWindow window, timed_run(runner, iterations, protocol.patience + longest * 10.0));
  return window.clock_s();
}

}  // namespace

Result<Proportionality> proportionality(std::span<const DurationPoint> points) {
  JC_RETURN_IF_ERROR(check(points));
  JC_ASSIGN_OR_RETURN(const Runs runs, split(points));
  Proportionality out;
  JC_RETURN_IF_ERROR(fit(runs, out));
  const double tolerance = kOutlier * std::max(out.deviation, kLeastDeviation);
  double longest_outlier = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::abs(std::log(points[i].seconds / work(out, points[i]))) <= tolerance) continue;
    out.outliers.push_back(i);
    // What was too short by far is as long as it should have been.
    longest_outlier = std::max({longest_outlier, points[i].seconds, work(out, points[i])});
  }
  if (out.too_noisy) return out;
  for (const DurationPoint& point : points) {
    if (point.seconds <= longest_outlier) continue;
    out.safe_s = std::max(std::min(out.safe_s.value_or(point.seconds), point.seconds), out.slope_s);
  }
  return out;
}

Result<std::vector<DurationPoint>> measure_durations(Runner& runner, const CaseRequest& request,
                                                     const Protocol& protocol, Seconds longest, std::size_t repeats) {
  JC_RETURN_IF_ERROR(runner.request(prepare_lines(request, protocol), protocol.patience));
  std::vector<std::int64_t> plan;
  for (std::int64_t iterations = 1; iterations <= kMostIterations; iterations *= 2) {
    JC_ASSIGN_OR_RETURN(const double seconds, run_once(runner, protocol, iterations, longest));  // warms up as well
    plan.insert(plan.end(), repeats, iterations);
    if (seconds >= longest.value()) break;
  }
  std::mt19937_64 random(1);
  for (std::size_t i = plan.size(); i > 1; --i) std::swap(plan[i - 1], plan[random() % i]);
  std::vector<DurationPoint> out;
  for (const std::int64_t iterations : plan) {
    JC_ASSIGN_OR_RETURN(const double seconds, run_once(runner, protocol, iterations, longest));
    out.push_back({iterations, seconds});
  }
  JC_RETURN_IF_ERROR(runner.request("release\n", protocol.patience));
  return out;
}

}  // namespace joulecast::profile
