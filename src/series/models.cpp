// SPDX-License-Identifier: Apache-2.0
#include "series/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"

namespace joulecast::series {
namespace {

constexpr std::size_t kPowerCoefficients = 4;
constexpr double kAtTheTop = 0.995;  // of f_max: the limit does not bind

Result<void> check_sweep(std::span<const SweepPoint> points, const SweepBasis& basis) {
  if (!(basis.utilization > 0 && basis.utilization <= 1) || !(basis.idle >= Watts{0})) {
    return invalid(fmt::format("models: utilisation {} must be above 0 to 1, idle power {} W not negative",
                               basis.utilization, basis.idle.value()));
  }
  std::set<double> clocks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const SweepPoint& p = points[i];
    const bool finite = std::isfinite(p.limit.value() + p.clock.value() + p.power.value() + p.time.value());
    if (!finite || !(p.limit > Watts{0} && p.clock > Hertz{0} && p.time > Seconds{0} && p.power > basis.idle)) {
      return invalid(
          fmt::format("models: point {}: {} W limit, {} Hz, {} W, {} s; all must be positive and power above idle", i,
                      p.limit.value(), p.clock.value(), p.power.value(), p.time.value()));
    }
    clocks.insert(p.clock.value());
  }
  if (clocks.size() >= kPowerCoefficients) return {};
  return invalid(fmt::format("models: {} different clocks; the power model has {} coefficients, sweep more limits",
                             clocks.size(), kPowerCoefficients));
}

double clock_share(const SweepModels& models, Hertz clock) {
  return clock / models.highest_clock;
}

// min(limit / u, P_max) in units of P_max.
double usable(const SweepModels& models, Watts limit) {
  return std::min(limit / (models.basis.utilization * models.basis.highest), 1.0);
}

void find_bounds(SweepModels& models, std::span<const SweepPoint> points) {
  models.highest_limit = models.lowest_limit = points[0].limit;
  for (const SweepPoint& p : points) {
    models.highest_clock = std::max(models.highest_clock, p.clock);
    models.highest_limit = std::max(models.highest_limit, p.limit);
    models.lowest_limit = std::min(models.lowest_limit, p.limit);
  }
  double time = 0, count = 0;
  for (const SweepPoint& p : points) {
    if (p.limit < models.highest_limit) continue;
    time += p.time.value();
    ++count;
  }
  models.reference_time = Seconds{time / count};
}

Result<LinearFit> fit_clock(const SweepModels& models, std::span<const SweepPoint> points) {
  const auto fit = [&](bool binding_only) {
    Design design{2, {}};
    std::vector<double> measured;
    for (const SweepPoint& p : points) {
      const double share = clock_share(models, p.clock);
      if (binding_only && share > kAtTheTop) continue;
      design.values.insert(design.values.end(), {1, usable(models, p.limit)});
      measured.push_back(share);
    }
    return least_squares(design, measured);
  };
  Result<LinearFit> binding = fit(true);
  return binding && binding->degrees_of_freedom > 0 ? binding : fit(false);
}

Result<LinearFit> fit_power(const SweepModels& models, std::span<const SweepPoint> points) {
  Design design{kPowerCoefficients, {}};
  std::vector<double> measured;
  for (const SweepPoint& p : points) {
    const double f = clock_share(models, p.clock), u = models.basis.utilization;
    design.values.insert(design.values.end(), {1, u * f, u * f * f, u * f * f * f});
    measured.push_back((p.power - models.basis.idle) / models.basis.highest);
  }
  return least_squares(design, measured);
}

Result<LinearFit> fit_delay(const SweepModels& models, std::span<const SweepPoint> points) {
  Design design{2, {}};
  std::vector<double> measured;
  for (const SweepPoint& p : points) {
    design.values.insert(design.values.end(), {1, 1 / clock_share(models, p.clock)});
    measured.push_back(p.time / models.reference_time);
  }
  return least_squares(design, measured);
}

void judge(SweepModels& models, std::span<const SweepPoint> points) {
  std::vector<double> seen[5], said[5];
  for (const SweepPoint& p : points) {
    const SettingPrediction model = models.at(p.limit);
    const double measured[5] = {p.clock.value(), p.power.value(), p.time.value(), (p.power * p.time).value(),
                                (p.power * p.time * p.time).value()};
    const double fitted[5] = {model.clock.value(), model.power.value(), model.time.value(), model.energy.value(),
                              model.energy_delay.value()};
    for (std::size_t i = 0; i < 5; ++i) {
      seen[i].push_back(measured[i]);
      said[i].push_back(fitted[i]);
    }
  }
  models.clock_r2 = r_squared(seen[0], said[0]);
  models.power_r2 = r_squared(seen[1], said[1]);
  models.time_r2 = r_squared(seen[2], said[2]);
  models.energy_r2 = r_squared(seen[3], said[3]);
  models.energy_delay_r2 = r_squared(seen[4], said[4]);
  for (const LinearFit* fit : {&models.clock, &models.power, &models.delay}) {
    if (fit->degrees_of_freedom < 2) add(models.warnings, Warning::kFewSamples);
  }
}

double value_of(const SettingPrediction& at, Optimum of) {
  switch (of) {
    case Optimum::kTime:
      return at.time.value();
    case Optimum::kEnergy:
      return at.energy.value();
    case Optimum::kEnergyDelay:
      return at.energy_delay.value();
  }
  return 0;
}

}  // namespace

Result<double> utilization_of(Watts power, Watts idle, Watts highest) {
  const double share = (power - idle) / (highest - idle);
  if (!(idle >= Watts{0}) || !(idle < power) || !(idle < highest) || !(share <= 1.02)) {
    return invalid(fmt::format("utilisation from {} W: must be above idle's {} W and not above the device's {} W",
                               power.value(), idle.value(), highest.value()));
  }
  return std::min(share, 1.0);
}

SettingPrediction SweepModels::at(Watts limit) const {
  const auto& a = clock.coefficients;
  const auto& c = power.coefficients;
  const double f = std::clamp(a[0] + a[1] * usable(*this, limit), 1e-3, 1.0);
  const double u = basis.utilization;
  SettingPrediction result;
  result.clock = f * highest_clock;
  result.power = basis.idle + (c[0] + u * f * (c[1] + f * (c[2] + f * c[3]))) * basis.highest;
  result.time = (delay.coefficients[0] + delay.coefficients[1] / f) * reference_time;
  result.energy = result.power * result.time;
  result.energy_delay = result.energy * result.time;
  return result;
}

Result<SweepModels> fit_models(std::span<const SweepPoint> points, const SweepBasis& basis) {
  JC_RETURN_IF_ERROR(check_sweep(points, basis));
  SweepModels models;
  models.basis = basis;
  find_bounds(models, points);
  JC_ASSIGN_OR_RETURN(models.clock, fit_clock(models, points));
  JC_ASSIGN_OR_RETURN(models.power, fit_power(models, points));
  JC_ASSIGN_OR_RETURN(models.delay, fit_delay(models, points));
  judge(models, points);
  return models;
}

Watts best_limit(const SweepModels& models, Optimum of, std::size_t steps) {
  JC_CHECK(steps >= 2, "a grid has two ends");
  Watts best = models.lowest_limit;
  double least = value_of(models.at(best), of);
  for (std::size_t i = 1; i < steps; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(steps - 1);
    const Watts limit = models.lowest_limit + (models.highest_limit - models.lowest_limit) * part;
    const double value = value_of(models.at(limit), of);
    // Above P_max all limits are the same but for rounding.
    if (value < least * (1 - 1e-12)) {
      least = value;
      best = limit;
    }
  }
  return best;
}

}  // namespace joulecast::series
