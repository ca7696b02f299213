// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/hidden.h"

#include <algorithm>
#include <cmath>

namespace joulecast::settings {
namespace {

// Time that follows the clock: where arithmetic and traffic take equally long, half of it does.
double sensitivity_of(const BusyOperation& operation) {
  const double compute = operation.compute * operation.compute;
  const double memory = operation.memory * operation.memory;
  return compute + memory > 0.0 ? compute / (compute + memory) : 0.0;
}

double demand_of(const BusyOperation& operation, double limit_w, const SettingLaw& law) {
  constexpr double kAtLimit = 0.95;
  const double statics = law.constants().static_power;
  const double share = operation.power / limit_w;
  const double fits = law.constants().held - statics;
  if (share < kAtLimit) return std::clamp(share - statics, 0.01, fits);
  const double throttled = law.dynamic_at(5, std::clamp(operation.held, 0.3, 1.0));
  return std::max(fits * 1.1, fits / throttled);
}

// Of the step; `share` of it the GPU works, at half the clock 1 + s times as long.
double slowed_with_host(double sensitivity, double share, double sharpness) {
  const double more = std::pow(1.0 + sensitivity, sharpness) - 1.0;
  return std::pow(1.0 + std::pow(share, sharpness) * more, 1.0 / sharpness) - 1.0;
}

double bell(double distance, double sigma) {
  const double z = distance / sigma;
  return std::exp(-0.5 * z * z);
}

}  // namespace

HiddenEstimate hidden_of(const HiddenStep& step, double limit_w, const SettingLaw& law) {
  double busy = 0.0;
  double sensitive = 0.0;
  double demand = 0.0;
  for (const BusyOperation& o : step.operations) {
    busy += o.busy;
    sensitive += o.busy * sensitivity_of(o);
    demand += o.busy * demand_of(o, limit_w, law);
  }
  HiddenEstimate out;
  if (busy <= 0.0 || step.time <= step.beside) return out;
  const double share = std::min(1.0, busy / (step.time - step.beside));
  out.sensitivity = slowed_with_host(sensitive / busy, share, step.sharpness);
  out.most_sensitivity = slowed_with_host(kSensitivities.back(), share, step.sharpness);
  out.dynamic = share * demand / busy;
  out.least_low_share = step.beside / step.time;
  return out;
}

Weights grid_prior_with(const Weights& prior, const HiddenEstimate& estimate) {
  const std::vector<Hypothesis>& grid = hypothesis_grid();
  constexpr std::size_t kLows = kLowShares.size();
  std::array<double, kSensitivities.size()> sensitivity{};
  std::array<double, kDynamicSteps> dynamic{};
  // Sensitivities beyond the greatest possible one are believed by how near they are to it: how host and GPU share a
  // step is a law too, and networks of a published A30 that wait for their host lose more at lower clocks than by that.
  constexpr double kMostSigma = 0.15;
  for (std::size_t i = 0; i < sensitivity.size(); ++i)
    sensitivity[i] = bell(kSensitivities[i] - estimate.sensitivity, estimate.sensitivity_sigma) *
                     bell(std::max(0.0, kSensitivities[i] - estimate.most_sensitivity), kMostSigma);
  for (std::size_t i = 0; i < dynamic.size(); ++i)
    dynamic[i] = bell(std::log(grid[i * kLows].dynamic / estimate.dynamic), estimate.dynamic_sigma);
  // Shares below the least one are believed by how near they are to it: half of the smallest step between shares.
  constexpr double kLowSigma = 0.015;
  std::array<double, kLows> low{};
  for (std::size_t i = 0; i < kLows; ++i)
    low[i] = bell(std::max(0.0, estimate.least_low_share - kLowShares[i]), kLowSigma);
  Weights out(prior.size());
  std::size_t row = 0;
  for (const double s : sensitivity) {
    for (const double d : dynamic) {
      for (std::size_t l = 0; l < kLows; ++l, ++row) out[row] = prior[row] * s * d * low[l];
    }
  }
  return out;
}

}  // namespace joulecast::settings
