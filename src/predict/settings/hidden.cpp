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

double bell(double distance, double sigma) {
  const double z = distance / sigma;
  return std::exp(-0.5 * z * z);
}

}  // namespace

HiddenEstimate hidden_of(std::span<const BusyOperation> operations, double time, double limit_w,
                         const SettingLaw& law) {
  double busy = 0.0;
  double sensitive = 0.0;
  double demand = 0.0;
  for (const BusyOperation& o : operations) {
    busy += o.busy;
    sensitive += o.busy * sensitivity_of(o);
    demand += o.busy * demand_of(o, limit_w, law);
  }
  HiddenEstimate out;
  if (busy <= 0.0 || time <= 0.0) return out;
  out.sensitivity = sensitive / busy;
  out.dynamic = demand / busy;
  out.low_share = std::clamp(1.0 - busy / time, 0.0, 0.95);
  return out;
}

Weights grid_prior_with(const Weights& prior, const HiddenEstimate& estimate) {
  const std::vector<Hypothesis>& grid = hypothesis_grid();
  std::array<double, kSensitivities.size()> sensitivity{};
  std::array<double, kDynamicSteps> dynamic{};
  std::array<double, kLowShares.size()> low{};
  for (std::size_t i = 0; i < sensitivity.size(); ++i)
    sensitivity[i] = bell(kSensitivities[i] - estimate.sensitivity, estimate.sensitivity_sigma);
  for (std::size_t i = 0; i < dynamic.size(); ++i)
    dynamic[i] = bell(std::log(grid[i * low.size()].dynamic / estimate.dynamic), estimate.dynamic_sigma);
  for (std::size_t i = 0; i < low.size(); ++i) low[i] = bell(kLowShares[i] - estimate.low_share, estimate.low_sigma);
  Weights out(prior.size());
  std::size_t row = 0;
  for (const double s : sensitivity) {
    for (const double d : dynamic) {
      for (const double l : low) {
        out[row] = prior[row] * s * d * l;
        ++row;
      }
    }
  }
  return out;
}

}  // namespace joulecast::settings
