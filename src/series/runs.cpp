// SPDX-License-Identifier: Apache-2.0
#include "series/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "series/distribution.h"
#include "series/moments.h"

namespace joulecast::series {
namespace {

Result<double> longest(std::span<const Series> runs) {
  double end = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (auto good = check(runs[i]); !good) return tl::unexpected(std::move(good.error()).in(fmt::format("run {}", i)));
    if (runs[i].time_s.front() > 0) {
      return invalid(fmt::format("run {}: its first reading is at {} s; make times relative and cut the runs at 0", i,
                                 runs[i].time_s.front()));
    }
    end = std::max(end, runs[i].time_s.back());
  }
  return end;
}

void add_moment(MeanCurve& curve, double time, std::span<const double> values, double confidence) {
  curve.time_s.push_back(time);
  curve.mean.push_back(*mean(values));
  curve.runs.push_back(values.size());
  const std::optional<double> scatter = standard_deviation(values);
  curve.standard_deviation.push_back(scatter);
  if (values.size() < 3) add(curve.warnings, Warning::kFewSamples);
  if (!scatter) {
    curve.low.emplace_back();
    curve.high.emplace_back();
    return;
  }
  const auto n = static_cast<double>(values.size());
  const double half = t_quantile((1 + confidence) / 2, n - 1) * *scatter / std::sqrt(n);
  curve.low.emplace_back(curve.mean.back() - half);
  curve.high.emplace_back(curve.mean.back() + half);
}

}  // namespace

Result<MeanCurve> mean_curve(std::span<const Series> runs, Hertz rate, double confidence) {
  if (runs.empty()) return invalid("a mean curve of no runs");
  if (!(confidence > 0 && confidence < 1))
    return invalid(fmt::format("confidence {}: must be within 0 to 1", confidence));
  JC_ASSIGN_OR_RETURN(const double end, longest(runs));
  constexpr double kMost = 1e8;
  const double steps = end * rate.value();
  if (!(rate.value() > 0) || !(steps < kMost)) {
    return invalid(
        fmt::format("mean curve at {} Hz: the rate must be positive and make under 100 million values", rate.value()));
  }
  MeanCurve curve;
  std::vector<double> values;
  for (std::size_t k = 0; k <= static_cast<std::size_t>(std::floor(steps + 1e-6)); ++k) {
    const double time = std::min(static_cast<double>(k) / rate.value(), end);
    values.clear();
    for (const Series& run : runs) {
      if (run.time_s.back() >= time) values.push_back(value_at(run, Seconds{time}));
    }
    add_moment(curve, time, values, confidence);
  }
  return curve;
}

}  // namespace joulecast::series
