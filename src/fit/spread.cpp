// SPDX-License-Identifier: Apache-2.0
#include "fit/spread.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dataset/metrics.h"
#include "fit/booster.h"
#include "fit/symmetric_trees.h"

namespace joulecast {
namespace {

// An error below this is as good as none: its logarithm must not rule the mean.
constexpr double kSmallestError = 0.003;

// What is known of the errors of one quantity: which sample, and its |log(found / measured)|.
struct Errors {
  std::vector<std::size_t> samples;
  std::vector<double> distances;

  void add(std::size_t sample, double measured, double found) {
    if (!(measured > 0.0) || !(found > 0.0)) return;
    samples.push_back(sample);
    distances.push_back(std::abs(std::log(found / measured)));
  }
};

// Coarse leaves: a spread is a mean over many errors, or it is one of them.
double leaf_of(std::size_t rows) {
  return std::clamp(static_cast<double>(rows) / 100.0, 20.0, 200.0);
}

Result<Forest> fit_mean(const TrainingSet& set, const std::vector<std::string_view>& names) {
  return fit_symmetric(set, names,
                       {.rounds = 24, .depth = 4, .eta = 0.3, .columns = 0.4, .lambda = 0.2 * leaf_of(set.rows())});
}

// Where there are very many errors, trees can say what most of them are below, which differs between kernels and
// frameworks by more than their means do; of fewer they would learn single ones.
Result<Forest> fit_share(TrainingSet set, const std::vector<std::string_view>& names) {
  const std::vector<double> targets(set.targets.begin(), set.targets.end());
  const auto start = static_cast<float>(quantile(targets, kSpreadLevel).value_or(0.0));
  for (float& target : set.targets) target -= start;  // trees take small steps
  JC_ASSIGN_OR_RETURN(
      Forest forest,
      fit_forest(
          set, names,
          {.rounds = 60, .depth = 5, .eta = 0.7, .min_child_weight = leaf_of(set.rows()), .quantile = kSpreadLevel}));
  forest.base += start;
  return forest;
}

using SpreadRows = std::vector<std::vector<float>>;

SpreadRows rows_of(Group group, const std::vector<Sample>& samples, const HeldOut& held) {
  SpreadRows out;
  const std::size_t columns = spread_row_names(group).size();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::vector<float> row(columns);
    write_spread_row(samples[i].work, samples[i].device, samples[i].situation, held.time[i], row);
    out.push_back(std::move(row));
  }
  return out;
}

// Of the samples in one half of the operations, or of all.
Result<Forest> fit(const std::vector<std::string_view>& names, const std::vector<Sample>& samples,
                   const SpreadRows& rows, const Errors& errors, std::optional<int> half) {
  TrainingSet set{.width = names.size(), .features = {}, .targets = {}, .weights = {}};
  for (std::size_t e = 0; e < errors.samples.size(); ++e) {
    const std::size_t i = errors.samples[e];
    if (half && fold_of(samples[i].key) % 2 != *half) continue;
    set.features.insert(set.features.end(), rows[i].begin(), rows[i].end());
    set.targets.push_back(static_cast<float>(std::log(errors.distances[e] + kSmallestError)));
    set.weights.push_back(1.0F);
  }
  // Halves must be learnt like the whole.
  return errors.samples.size() < kQuantileRows ? fit_mean(set, names) : fit_share(std::move(set), names);
}

struct QuantityFit {
  Forest forest;
  std::vector<double> held_out;
};

Result<QuantityFit> fit_quantity(Group group, const std::vector<Sample>& samples, const SpreadRows& rows,
                                 const Errors& errors) {
  const std::vector<std::string_view> names = spread_row_names(group);
  QuantityFit out;
  out.forest.features.assign(names.begin(), names.end());
  out.held_out.assign(samples.size(), 1.0);
  if (errors.samples.size() < kSpreadRows) return out;
  JC_ASSIGN_OR_RETURN(out.forest, fit(names, samples, rows, errors, {}));
  for (const int half : {0, 1}) {
    JC_ASSIGN_OR_RETURN(const Forest other, fit(names, samples, rows, errors, 1 - half));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (fold_of(samples[i].key) % 2 == half) out.held_out[i] = std::exp(static_cast<double>(predict(other, rows[i])));
    }
  }
  return out;
}

}  // namespace

Result<SpreadFit> fit_spread(Group group, const std::vector<Sample>& samples, const HeldOut& held) {
  const SpreadRows rows = rows_of(group, samples, held);
  Errors time;
  Errors power;
  Errors energy;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // Bare loops must not drown the modules, whose errors are others.
    if (!samples[i].primary || !samples[i].for_modules) continue;
    time.add(i, samples[i].time, held.time[i]);
    if (!samples[i].power || held.power.empty()) continue;
    power.add(i, *samples[i].power, held.power[i]);
    energy.add(i, *samples[i].power * samples[i].time, held.power[i] * held.time[i]);
  }
  JC_ASSIGN_OR_RETURN(QuantityFit times, fit_quantity(group, samples, rows, time));
  JC_ASSIGN_OR_RETURN(QuantityFit powers, fit_quantity(group, samples, rows, power));
  JC_ASSIGN_OR_RETURN(QuantityFit energies, fit_quantity(group, samples, rows, energy));
  return SpreadFit{.time = std::move(times.forest),
                   .power = std::move(powers.forest),
                   .energy = std::move(energies.forest),
                   .held_out = {std::move(times.held_out), std::move(powers.held_out), std::move(energies.held_out)}};
}

}  // namespace joulecast
