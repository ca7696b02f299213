// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/hypotheses.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace joulecast::settings {
namespace {

std::array<double, kDynamicSteps> dynamic_steps() {
  constexpr double kFirst = 0.015;
  constexpr double kLast = 1.35;
  std::array<double, kDynamicSteps> out{0.003};
  const double ratio = std::log(kLast / kFirst) / static_cast<double>(kDynamicSteps - 2);
  for (std::size_t i = 1; i < kDynamicSteps; ++i) out[i] = kFirst * std::exp(ratio * static_cast<double>(i - 1));
  return out;
}

std::vector<Hypothesis> make_grid() {
  std::vector<Hypothesis> out;
  out.reserve(kGridSize);
  const auto dynamics = dynamic_steps();
  for (std::size_t s = 0; s < kSensitivities.size(); ++s) {
    for (const double dynamic : dynamics) {
      for (const double low : kLowShares) out.push_back({.sensitivity = s, .low_share = low, .dynamic = dynamic});
    }
  }
  return out;
}

// The grid's rows, each axis walked forth and back.
std::vector<std::uint32_t> ploughed() {
  std::vector<std::uint32_t> out;
  out.reserve(kGridSize);
  const std::size_t lows = kLowShares.size();
  for (std::size_t s = 0; s < kSensitivities.size(); ++s) {
    for (std::size_t i = 0; i < kDynamicSteps; ++i) {
      const std::size_t dynamic = s * kDynamicSteps + (s % 2 == 0 ? i : kDynamicSteps - 1 - i);
      const bool back = (s * kDynamicSteps + i) % 2 == 1;
      for (std::size_t l = 0; l < lows; ++l)
        out.push_back(static_cast<std::uint32_t>(dynamic * lows + (back ? lows - 1 - l : l)));
    }
  }
  return out;
}

bool same_busy(const Hypothesis& a, const Hypothesis& b) {
  return a.sensitivity == b.sensitivity && a.dynamic == b.dynamic;
}

double huber(double deviation) {
  constexpr double kBend = 2.5;
  const double size = std::abs(deviation);
  return size <= kBend ? 0.5 * size * size : kBend * (size - 0.5 * kBend);
}

double misfit(std::span<const float> log_time, std::span<const float> log_power, std::span<const Known> known) {
  double level = 0.0;
  double times = 0.0;
  for (const Known& k : known) {
    if (!k.log_time) continue;
    level += *k.log_time - static_cast<double>(log_time[k.point]);
    times += 1.0;
  }
  level = times > 0.0 ? level / times : 0.0;
  double out = 0.0;
  for (const Known& k : known) {
    if (k.log_time) out += huber((*k.log_time - static_cast<double>(log_time[k.point]) - level) / k.time_sigma);
    if (k.log_power) out += huber((*k.log_power - static_cast<double>(log_power[k.point])) / k.power_sigma);
  }
  return out;
}

// Weights 1/4, 1/2, 1/4 along one axis of the grid; the ends take what would fall outside.
Weights smoothed_along(const Weights& in, std::size_t stride, std::size_t extent) {
  Weights out(in.size());
  for (std::size_t first = 0; first < in.size(); first += stride * extent) {
    for (std::size_t at = 0; at < extent; ++at) {
      const std::size_t begin = first + at * stride;
      const std::size_t below = at > 0 ? begin - stride : begin;
      const std::size_t above = at + 1 < extent ? begin + stride : begin;
      for (std::size_t k = 0; k < stride; ++k)
        out[begin + k] = 0.25 * in[below + k] + 0.5 * in[begin + k] + 0.25 * in[above + k];
    }
  }
  return out;
}

}  // namespace

const std::vector<Hypothesis>& hypothesis_grid() {
  static const std::vector<Hypothesis> grid = make_grid();
  return grid;
}

Curves curves_of(const SettingLaw& law, std::span<const Hypothesis> rows, std::span<const OperatingPoint> points) {
  Curves out;
  out.points = points.size();
  out.log_time.reserve(rows.size() * points.size());
  out.log_power.reserve(rows.size() * points.size());
  std::vector<SettingLaw::Busy> busy(points.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Hypothesis& row = rows[r];
    const bool computed = r > 0 && same_busy(row, rows[r - 1]);
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (!computed) busy[p] = law.busy(row.sensitivity, row.dynamic, points[p]);
      const Outcome outcome = law.joined(busy[p], row.low_share, points[p]);
      out.log_time.push_back(std::log(static_cast<float>(outcome.time)));
      out.log_power.push_back(std::log(static_cast<float>(outcome.power)));
    }
  }
  return out;
}

std::vector<double> misfits(const Curves& curves, std::span<const Known> known) {
  const std::size_t rows = curves.points > 0 ? curves.log_time.size() / curves.points : 0;
  std::vector<double> out(rows);
  for (std::size_t r = 0; r < rows; ++r) out[r] = misfit(curves.time_of(r), curves.power_of(r), known);
  return out;
}

Weights posterior(std::span<const double> prior, std::span<const double> misfits) {
  const double best = misfits.empty() ? 0.0 : *std::min_element(misfits.begin(), misfits.end());
  Weights out(prior.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = prior[i] * std::exp(best - misfits[i]);
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  if (!(sum > 0.0 && std::isfinite(sum))) return {prior.begin(), prior.end()};  // nothing fits: nothing is learnt
  for (double& weight : out) weight /= sum;
  return out;
}

Weights smoothed(Weights grid_weights, std::size_t passes) {
  const std::size_t low = kLowShares.size();
  for (std::size_t i = 0; i < passes; ++i) {
    grid_weights = smoothed_along(grid_weights, 1, low);
    grid_weights = smoothed_along(grid_weights, low, kDynamicSteps);
    grid_weights = smoothed_along(grid_weights, low * kDynamicSteps, kSensitivities.size());
  }
  return grid_weights;
}

Weights grid_prior(std::span<const std::uint32_t> rows, double flat_share) {
  if (rows.empty()) return Weights(kGridSize, 1.0 / static_cast<double>(kGridSize));
  Weights counts(kGridSize, 0.0);
  for (const std::uint32_t row : rows) counts[row] += 1.0 / static_cast<double>(rows.size());
  // A few networks are no distribution: with one pass workloads left out are less likely than with this, on the boards
  // that were swept as on the others.
  constexpr std::size_t kPasses = 8;
  Weights out = smoothed(std::move(counts), kPasses);
  for (double& weight : out) weight = (1.0 - flat_share) * weight + flat_share / static_cast<double>(kGridSize);
  return out;
}

std::vector<std::uint32_t> at_equal_steps(std::span<const double> weights, std::size_t count) {
  std::vector<std::uint32_t> out;
  out.reserve(count);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double running = 0.0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted = sum * (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    while (at + 1 < weights.size() && running + weights[at] < wanted) running += weights[at++];
    out.push_back(static_cast<std::uint32_t>(at));
  }
  return out;
}

std::vector<std::uint32_t> representatives(const Weights& grid_weights, std::size_t count) {
  static const std::vector<std::uint32_t> order = ploughed();
  Weights walked(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) walked[i] = grid_weights[order[i]];
  std::vector<std::uint32_t> out = at_equal_steps(walked, count);
  for (std::uint32_t& row : out) row = order[row];
  return out;
}

}  // namespace joulecast::settings
