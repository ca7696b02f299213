// SPDX-License-Identifier: Apache-2.0
#include "fit/settings/fit_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "fit/settings/nelder_mead.h"

namespace joulecast::settings {
namespace {

constexpr std::size_t kConstants = kGpuConstants.size();

// How far GPUs lie apart, in the order of kGpuConstants. Identifiability is weak: without this the search wanders off
// along static power against knee against slope.
constexpr std::array<double, kConstants> kSpread{0.06, 0.08, 0.10, 0.5, 0.10, 0.03, 0.4, 0.2};
constexpr double kPriorWeight = 10.0;

GpuConstants constants_at(const std::vector<double>& z) {
  GpuConstants out;
  for (std::size_t i = 0; i < kConstants; ++i) out.*kGpuConstants[i] += z[i] * kSpread[i];
  return out;
}

// Every second sensitivity and two in three low shares: enough to place the constants.
std::vector<Hypothesis> coarse_grid() {
  const std::set<double> low{0.0, 0.03, 0.10, 0.14, 0.22, 0.33, 0.40, 0.50, 0.70, 0.90};
  std::vector<Hypothesis> out;
  for (const Hypothesis& row : hypothesis_grid()) {
    if (row.sensitivity % 2 == 0 && low.count(row.low_share) > 0) out.push_back(row);
  }
  return out;
}

// The sweeps of one GPU side by side, so that hypotheses are computed once for all.
class ConstantsCost {
 public:
  explicit ConstantsCost(std::span<const Sweep* const> sweeps) : sweeps_(sweeps), rows_(coarse_grid()) {
    for (const Sweep* sweep : sweeps) {
      const std::size_t first = shared_points(*sweep);
      known_.push_back(sweep->all_known(first));
    }
  }

  double operator()(const std::vector<double>& z) const {
    const GpuConstants constants = constants_at(z);
    if (!possible(constants)) return 1e9;
    const Curves curves = curves_of(SettingLaw(constants), rows_, points_);
    double cost = 0.0;
    for (std::size_t i = 0; i < sweeps_.size(); ++i) cost += best(curves, i);
    for (const double step : z) cost += kPriorWeight * 0.5 * step * step;
    return cost;
  }

 private:
  // Where the sweep's settings begin in points_; sweeps of the same settings share them.
  std::size_t shared_points(const Sweep& sweep) {
    const auto same = [](const OperatingPoint& a, const OperatingPoint& b) {
      return a.clock == b.clock && a.limit == b.limit;
    };
    const auto found = std::search(points_.begin(), points_.end(), sweep.points.begin(), sweep.points.end(), same);
    const auto first = static_cast<std::size_t>(found - points_.begin());
    if (found == points_.end()) points_.insert(points_.end(), sweep.points.begin(), sweep.points.end());
    return first;
  }

  // Fine sweeps count like one of kFullWeight settings: their points are not independent.
  [[nodiscard]] double best(const Curves& curves, std::size_t sweep) const {
    constexpr double kFullWeight = 9.0;
    const std::vector<double> all = misfits(curves, known_[sweep]);
    double least = 1e9;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      // A kernel that runs in a loop has no low phase; without times nothing else would say so.
      if (!sweeps_[sweep]->has_times() && rows_[r].low_share > 0.0) continue;
      least = std::min(least, all[r]);
    }
    return least * std::min(1.0, kFullWeight / static_cast<double>(known_[sweep].size()));
  }

  std::span<const Sweep* const> sweeps_;
  std::vector<Hypothesis> rows_;
  std::vector<OperatingPoint> points_;
  std::vector<std::vector<Known>> known_;
};

// Sweeps that stay far below every limit tell the low power and little else: every fourth. Of many kernels of one board
// every fourth as well.
SweepViews worth_fitting(std::span<const Sweep* const> sweeps) {
  SweepViews out;
  std::size_t skipped = 0;
  for (const Sweep* sweep : sweeps) {
    const bool limited = sweep->has_times() && std::exp(*sweep->log_power.back()) > sweep->points.front().limit;
    const bool clocked = sweep->points.front().clock < 1.0 && sweep->has_times();
    if (limited || clocked || skipped++ % 4 == 0) out.push_back(sweep);
  }
  return out;
}

// Rows for the prior: mean over networks of the mean over their sweeps. Of whole runs alone: passes of a pipeline stage
// are busy by construction, and there are more of them than of networks.
std::vector<std::uint32_t> prior_rows(std::span<const Sweep* const> sweeps, const SettingsModel& model) {
  constexpr std::size_t kRows = 256;
  const Weights flat(kGridSize, 1.0 / static_cast<double>(kGridSize));
  std::map<std::string, std::pair<Weights, double>> networks;
  for (const Sweep* sweep : sweeps) {
    if (!sweep->whole_run || !sweep->has_times()) continue;
    auto& [sum, count] = networks.try_emplace(sweep->workload, Weights(kGridSize, 0.0), 0.0).first->second;
    const Weights weights = posterior_of(*sweep, SettingLaw(model.constants(*sweep->gpu)), flat);
    std::transform(sum.begin(), sum.end(), weights.begin(), sum.begin(), std::plus<>());
    count += 1.0;
  }
  Weights total(kGridSize, 0.0);
  for (const auto& [network, entry] : networks) {
    for (std::size_t i = 0; i < kGridSize; ++i) total[i] += entry.first[i] / entry.second;
  }
  return networks.empty() ? std::vector<std::uint32_t>() : representatives(total, kRows);
}

}  // namespace

GpuConstants fit_constants(std::span<const Sweep* const> sweeps) {
  const ConstantsCost cost(sweeps);
  return constants_at(minimised(std::ref(cost), std::vector<double>(kConstants, 0.0), {}));
}

Weights posterior_of(const Sweep& sweep, const SettingLaw& law, std::span<const double> prior) {
  const Curves curves = curves_of(law, hypothesis_grid(), sweep.points);
  return posterior(prior, misfits(curves, sweep.all_known()));
}

SettingsModel restricted(const SettingsModel& model, std::span<const Sweep* const> sweeps) {
  SettingsModel out;
  for (const Sweep* sweep : sweeps) {
    const bool limited = sweep->points.front().limit < 1.0;
    out.add(*sweep->gpu, model.constants(*sweep->gpu), limited || out.limited(*sweep->gpu));
  }
  out.set_prior(prior_rows(sweeps, out));
  return out;
}

SettingsModel fit_settings(std::span<const Sweep* const> sweeps) {
  std::map<std::string_view, SweepViews> by_gpu;
  for (const Sweep* sweep : sweeps) by_gpu[sweep->gpu->id].push_back(sweep);
  SettingsModel constants;
  for (const auto& [id, own] : by_gpu) constants.add(*own.front()->gpu, fit_constants(worth_fitting(own)), false);
  return restricted(constants, sweeps);
}

}  // namespace joulecast::settings
