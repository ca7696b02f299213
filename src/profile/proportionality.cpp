// SPDX-License-Identifier: Apache-2.0
#include "profile/proportionality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace joulecast::profile {
namespace {

constexpr std::size_t kLeastPoints = 7;
constexpr double kOutlier = 5;  // standard deviations

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

// From fewest to most iterations.
std::vector<std::size_t> by_iterations(std::span<const DurationPoint> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a].iterations < points[b].iterations; });
  return order;
}

// Least squares of relative errors: every point weighs 1 / iterations^2.
Result<void> fit(std::span<const DurationPoint> points, std::span<const std::size_t> straight, Proportionality& out) {
  double weights = 0, mean_x = 0, mean_y = 0;
  for (const std::size_t i : straight) {
    const auto x = static_cast<double>(points[i].iterations);
    weights += 1 / (x * x);
    mean_x += 1 / x;
    mean_y += points[i].seconds / (x * x);
  }
  mean_x /= weights;
  mean_y /= weights;
  double xx = 0, xy = 0;
  for (const std::size_t i : straight) {
    const auto x = static_cast<double>(points[i].iterations);
    xx += std::pow((x - mean_x) / x, 2);
    xy += (x - mean_x) * (points[i].seconds - mean_y) / (x * x);
  }
  if (!(xx > 0)) return invalid("all points have the same number of iterations");
  out.slope_s = xy / xx;
  out.offset_s = mean_y - out.slope_s * mean_x;
  if (!(out.slope_s > 0)) return invalid("time does not grow with the iterations");
  return {};
}

// From the line, and from what is proportional: time divided by iterations is wrong by the latter.
struct RelativeErrors {
  double of_line, of_work;
};
RelativeErrors relative_errors(const DurationPoint& point, const Proportionality& line) {
  const double work = line.slope_s * static_cast<double>(point.iterations);
  return {(point.seconds - line.offset_s - work) / work, (point.seconds - work) / work};
}

// What one run of that many took.
Result<double> run_once(Runner& runner, const Protocol& protocol, std::int64_t iterations, Seconds longest) {
  JC_ASSIGN_OR_RETURN(const TimedWindow window, timed_run(runner, iterations, protocol.patience + longest * 10.0));
  return window.clock_s();
}

}  // namespace

Result<Proportionality> proportionality(std::span<const DurationPoint> points) {
  JC_RETURN_IF_ERROR(check(points));
  const std::vector<std::size_t> order = by_iterations(points);
  const auto straight = std::span(order).subspan(order.size() / kLeastPoints);
  Proportionality out;
  JC_RETURN_IF_ERROR(fit(points, straight, out));
  double squares = 0;
  for (const std::size_t i : straight) squares += std::pow(relative_errors(points[i], out).of_line, 2);
  out.deviation = std::sqrt(squares / static_cast<double>(straight.size() - 2));
  double longest_outlier = 0;
  for (const std::size_t i : order) {
    if (std::abs(relative_errors(points[i], out).of_work) <= kOutlier * out.deviation) continue;
    out.outliers.push_back(i);
    longest_outlier = std::max(longest_outlier, points[i].seconds);
  }
  for (const DurationPoint& point : points) {
    if (point.seconds > longest_outlier) out.safe_s = std::min(out.safe_s.value_or(point.seconds), point.seconds);
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
