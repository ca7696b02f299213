// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/mean_curve.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace joulecast::settings {
namespace {

// A limit acts as a clock, so their product orders settings of either kind.
double coordinate(const OperatingPoint& point) {
  return point.clock * point.limit;
}

struct Difference {
  OperatingPoint where;
  double at = 0, value = 0;  // coordinate of the setting; measured - predicted
};

std::vector<Difference> differences(const std::vector<double>& curve, std::span<const OperatingPoint> points,
                                    std::span<const Known> known, std::optional<double> Known::*quantity) {
  std::vector<Difference> out;
  for (const Known& k : known) {
    const OperatingPoint& where = points[k.point];
    if (const auto& value = k.*quantity) out.push_back({where, coordinate(where), *value - curve[k.point]});
  }
  std::sort(out.begin(), out.end(), [](const Difference& a, const Difference& b) { return a.at < b.at; });
  return out;
}

// Of one or two: at a setting that is one of them what was measured there, elsewhere between them.
double interpolated(std::span<const Difference> differences, const OperatingPoint& point) {
  const auto same =
      std::find_if(differences.begin(), differences.end(), [&](const Difference& d) { return d.where == point; });
  if (same != differences.end()) return same->value;
  const Difference &a = differences.front(), &b = differences.back();
  const double at = coordinate(point);
  if (!(b.at > a.at)) return 0.5 * (a.value + b.value);
  return a.value + (b.value - a.value) * std::clamp((at - a.at) / (b.at - a.at), 0.0, 1.0);
}

double similarity(double a, double b) {
  constexpr double kLength = 0.18;
  constexpr double kDeviation = 0.04;
  const double distance = (a - b) / kLength;
  return kDeviation * kDeviation * std::exp(-0.5 * distance * distance);
}

// Solves a x = b for a symmetric positive definite matrix [row][column] of a few rows: Gaussian elimination, which
// needs no pivots there.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

// The mean of a Gaussian process around the differences' own mean.
class Residual {
 public:
  Residual(std::span<const Difference> differences, double noise) : differences_(differences) {
    for (const Difference& d : differences) mean_ += d.value / static_cast<double>(differences.size());
    std::vector<std::vector<double>> covariance;
    std::vector<double> values;
    for (const Difference& a : differences) {
      std::vector<double>& row = covariance.emplace_back();
      for (const Difference& b : differences) row.push_back(similarity(a.at, b.at));
      row[covariance.size() - 1] += noise * noise;
      values.push_back(a.value - mean_);
    }
    factors_ = solved(std::move(covariance), std::move(values));
  }

  [[nodiscard]] double at(double coordinate) const {
    double out = mean_;
    for (std::size_t i = 0; i < differences_.size(); ++i)
      out += similarity(coordinate, differences_[i].at) * factors_[i];
    return out;
  }

 private:
  std::span<const Difference> differences_;
  double mean_ = 0.0;
  std::vector<double> factors_;
};

void correct(std::vector<double>& curve, std::span<const OperatingPoint> points,
             std::span<const Difference> differences, double noise) {
  if (differences.empty()) return;
  if (differences.size() < 3) {
    for (std::size_t p = 0; p < points.size(); ++p) curve[p] += interpolated(differences, points[p]);
    return;
  }
  const Residual residual(differences, noise);
  for (std::size_t p = 0; p < points.size(); ++p) curve[p] += residual.at(coordinate(points[p]));
}

double log_cost(const Curves& curves, std::size_t row, std::size_t point, Objective objective) {
  const auto time = static_cast<double>(curves.time_of(row)[point]);
  const auto power = static_cast<double>(curves.power_of(row)[point]);
  if (objective == Objective::kTime) return time;
  return power + (objective == Objective::kEdp ? 2.0 : 1.0) * time;
}

}  // namespace

MeanCurve mean_curve(const Curves& curves, const Weights& weights) {
  MeanCurve out{std::vector<double>(curves.points, 0.0), std::vector<double>(curves.points, 0.0)};
  for (std::size_t r = 0; r < weights.size(); ++r) {
    if (weights[r] == 0.0) continue;
    for (std::size_t p = 0; p < curves.points; ++p) {
      out.log_time[p] += weights[r] * static_cast<double>(curves.time_of(r)[p]);
      out.log_power[p] += weights[r] * static_cast<double>(curves.power_of(r)[p]);
    }
  }
  return out;
}

MeanCurve through_known(MeanCurve curve, std::span<const OperatingPoint> points, std::span<const Known> known) {
  correct(curve.log_time, points, differences(curve.log_time, points, known, &Known::log_time), 0.01);
  correct(curve.log_power, points, differences(curve.log_power, points, known, &Known::log_power), 0.015);
  return curve;
}

Curves moved(Curves curves, const MeanCurve& from, const MeanCurve& to) {
  for (std::size_t i = 0; i < curves.log_time.size(); ++i) {
    const std::size_t p = i % curves.points;
    curves.log_time[i] += static_cast<float>(to.log_time[p] - from.log_time[p]);
    curves.log_power[i] += static_cast<float>(to.log_power[p] - from.log_power[p]);
  }
  return curves;
}

double distance(const MeanCurve& curve, std::size_t point, std::span<const std::size_t> known) {
  constexpr double kLeast = 0.05;
  double out = HUGE_VAL;
  for (const std::size_t k : known) {
    out = std::min(out, std::abs(curve.log_time[point] - curve.log_time[k]) +
                            std::abs(curve.log_power[point] - curve.log_power[k]));
  }
  return std::max(kLeast, out);
}

std::size_t recommended(const Curves& curves, const Weights& weights, Objective objective,
                        std::span<const std::size_t> allowed) {
  constexpr double kNegligible = 1e-7;
  std::vector<double> sums(allowed.size(), 0.0);
  std::vector<double> costs(allowed.size());
  for (std::size_t r = 0; r < weights.size(); ++r) {
    if (weights[r] < kNegligible) continue;
    for (std::size_t i = 0; i < allowed.size(); ++i) costs[i] = log_cost(curves, r, allowed[i], objective);
    const double least = *std::min_element(costs.begin(), costs.end());
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      const double regret = std::expm1(costs[i] - least);
      sums[i] += weights[r] * regret * regret;
    }
  }
  return allowed[static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin())];
}

double chance_of_saving(const Curves& curves, const Weights& weights, Objective objective, std::size_t setting,
                        std::size_t reference, double share) {
  const double least = std::log(share);
  double out = 0.0;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    const double change = log_cost(curves, r, setting, objective) - log_cost(curves, r, reference, objective);
    if (change < least) out += weights[r];
  }
  return out;
}

}  // namespace joulecast::settings
