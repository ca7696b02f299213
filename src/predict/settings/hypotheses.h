// SPDX-License-Identifier: Apache-2.0
// What is hidden of a workload, as a set of weighted hypotheses: no solver, no random numbers, the same answer always.
//
//   const std::vector<Hypothesis>& rows = hypothesis_grid();
//   const Curves curves = curves_of(law, rows, points);
//   const Weights weights = posterior(prior, misfits(curves, known));
//   const MeanCurve mean = through_known(mean_curve(curves, weights), points, known);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "predict/settings/law.h"

namespace joulecast::settings {

inline constexpr std::array<double, 15> kLowShares{0.00, 0.03, 0.06, 0.10, 0.14, 0.18, 0.22, 0.27,
                                                   0.33, 0.40, 0.50, 0.60, 0.70, 0.80, 0.90};
inline constexpr std::size_t kDynamicSteps = 39;  // 0.003, then 38 from 0.015 to 1.35, equal ratios between
inline constexpr std::size_t kGridSize = kSensitivities.size() * kDynamicSteps * kLowShares.size();

// All combinations; the low share changes fastest, then the dynamic demand.
const std::vector<Hypothesis>& hypothesis_grid();

// Logarithms of time and power of some hypotheses at some settings: [hypothesis][setting].
struct Curves {
  std::size_t points = 0;
  std::vector<float> log_time, log_power;

  [[nodiscard]] std::span<const float> time_of(std::size_t row) const {
    return std::span(log_time).subspan(row * points, points);
  }
  [[nodiscard]] std::span<const float> power_of(std::size_t row) const {
    return std::span(log_power).subspan(row * points, points);
  }
};
Curves curves_of(const SettingLaw& law, std::span<const Hypothesis> rows, std::span<const OperatingPoint> points);

// A setting that was measured. Only ratios of times count: their level is free.
struct Known {
  std::size_t point = 0;  // index of the setting
  std::optional<double> log_time = {}, log_power = {};
  double time_sigma = 0.02, power_sigma = 0.03;
};

// How badly each hypothesis fits: Huber's loss (2.5 standard deviations) over the known times and powers.
std::vector<double> misfits(const Curves& curves, std::span<const Known> known);

// One weight a hypothesis; they add up to 1.
using Weights = std::vector<double>;
// prior * exp(-misfit), normalised. Requires: equal lengths, a prior above 0 somewhere.
Weights posterior(std::span<const double> prior, std::span<const double> misfits);

// Weights of the grid from rows that were seen: each counts the same, smoothed along each axis by a bell of two cells'
// standard deviation, and `flat_share` of the weight spread evenly. Requires: indices below kGridSize.
Weights grid_prior(std::span<const std::uint32_t> rows, double flat_share);
// A quarter of each weight to either side along each axis, `passes` times: a variance of half a cell each time.
Weights smoothed(Weights grid_weights, std::size_t passes);

// `count` rows that stand for weights of the grid: those at equal steps of their running sum, so the same row may come
// twice. The sum runs through the grid as an ox ploughs, so that rows beside each other differ by one step of one axis.
std::vector<std::uint32_t> representatives(const Weights& grid_weights, std::size_t count);

// Indices at `count` equal steps of the running sum of some weights. Requires: some weights.
std::vector<std::uint32_t> at_equal_steps(std::span<const double> weights, std::size_t count);

}  // namespace joulecast::settings
