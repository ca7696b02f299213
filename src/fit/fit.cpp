// SPDX-License-Identifier: Apache-2.0
#include "fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "fit/booster.h"
#include "predict/estimator.h"

namespace joulecast {
namespace {

BoosterOptions time_options(Group group) {
  switch (group) {
    case Group::kConv:
      return {.eta = 0.15, .min_child_weight = 3};
    case Group::kPointwise:
      return {.rounds = 64, .depth = 5, .eta = 0.2, .min_child_weight = 3};
    case Group::kReduction:
      return {.rounds = 96, .depth = 5, .eta = 0.18, .min_child_weight = 3};
    case Group::kGemmSimt:
      return {.eta = 0.15, .min_child_weight = 2, .lambda = 2};  // most rows weigh 0.01
    case Group::kGemmTensor:
    case Group::kPrefill:
    case Group::kDecode:
      return {.eta = 0.18, .min_child_weight = 20};
  }
  return {};
}

// Elementwise work is simpler than matrix work: fewer and shallower trees say as much.
BoosterOptions power_options(Group group) {
  switch (group) {
    case Group::kPointwise:
      return {.rounds = 48, .depth = 4, .eta = 0.2, .min_child_weight = 3};
    case Group::kReduction:
      return {.rounds = 64, .depth = 5, .eta = 0.16, .min_child_weight = 3};
    default:
      return {.rounds = 96, .eta = 0.12, .min_child_weight = 3};
  }
}

// The histograms of a level cost as much as so many rows, however few there are.
double fit_cost(std::size_t rows, const BoosterOptions& options) {
  constexpr double kHistograms = 20'000.0;
  return (static_cast<double>(rows) + kHistograms) * options.rounds * options.depth;
}

// Physics and features of every sample, computed once; and whom to tell of each model.
struct Prepared {
  Step step;
  std::vector<Physics> physics;
  std::vector<std::vector<float>> features;
  std::vector<int> fold;
};

std::uint32_t fold_hash(std::string_view key) {
  std::uint32_t hash = 2166136261U;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash >> 7;
}

Prepared prepare_samples(const std::vector<Sample>& samples) {
  Prepared out;
  for (const Sample& s : samples) {
    std::vector<float> row(feature_names(group_of(s.work)).size());
    out.physics.push_back(physics_of(s.work, s.device, s.situation, row));
    out.features.push_back(std::move(row));
    out.fold.push_back(static_cast<int>(fold_hash(s.key) % kFolds));
  }
  return out;
}

using Rows = std::vector<std::size_t>;

TrainingSet time_set(const std::vector<Sample>& samples, const Prepared& prepared, const Rows& rows) {
  TrainingSet set;
  for (const std::size_t i : rows) {
    set.width = prepared.features[i].size();
    set.features.insert(set.features.end(), prepared.features[i].begin(), prepared.features[i].end());
    set.targets.push_back(static_cast<float>(std::log(samples[i].time / prepared.physics[i].bound)));
    set.weights.push_back(static_cast<float>(samples[i].weight));
  }
  return set;
}

// `times` are those the power model will see: predicted ones, as in use.
TrainingSet power_set(const std::vector<Sample>& samples, const Prepared& prepared, const Rows& rows,
                      const std::vector<double>& times) {
  TrainingSet set;
  for (const std::size_t i : rows) {
    const std::vector<float>& own = prepared.features[i];
    std::array<float, kPowerFeatures.size()> more{};
    write_power_features(prepared.physics[i], samples[i].device, times[i], more);
    set.width = own.size() + more.size();
    set.features.insert(set.features.end(), own.begin(), own.end());
    set.features.insert(set.features.end(), more.begin(), more.end());
    set.targets.push_back(static_cast<float>(power_share(samples[i].power.value_or(0.0), samples[i].device)));
    set.weights.push_back(static_cast<float>(samples[i].power_weight));
  }
  return set;
}

std::vector<std::string_view> power_names(Group group) {
  const auto own = feature_names(group);
  std::vector<std::string_view> names(own.begin(), own.end());
  names.insert(names.end(), kPowerFeatures.begin(), kPowerFeatures.end());
  return names;
}

// Which samples stand on the test side of each split.
using Splits = std::vector<std::vector<bool>>;

Splits random_splits(const Prepared& prepared) {
  Splits out;
  for (int f = 0; f < kFolds; ++f) {
    std::vector<bool> test(prepared.fold.size());
    for (std::size_t i = 0; i < test.size(); ++i) test[i] = prepared.fold[i] == f;
    out.push_back(std::move(test));
  }
  return out;
}

Splits gpu_splits(const std::vector<Sample>& samples) {
  std::set<std::string_view> ids;
  for (const Sample& s : samples) ids.insert(s.gpu->id);
  Splits out;
  for (const std::string_view id : ids) {
    std::vector<bool> test(samples.size());
    for (std::size_t i = 0; i < test.size(); ++i) test[i] = samples[i].gpu->id == id;
    out.push_back(std::move(test));
  }
  return out;
}

void tell(const Prepared& prepared, std::string_view what, const Splits& splits, const std::vector<bool>& test,
          double cost) {
  prepared.step(fmt::format("{}, split {} of {}", what, &test - splits.data() + 1, splits.size()), cost);
}

Rows rows_where(const std::vector<bool>& test, bool value) {
  Rows out;
  for (std::size_t i = 0; i < test.size(); ++i) {
    if (test[i] == value) out.push_back(i);
  }
  return out;
}

Rows with_power(const std::vector<Sample>& samples, const Rows& rows) {
  Rows out;
  for (const std::size_t i : rows) {
    if (samples[i].power) out.push_back(i);
  }
  return out;
}

// Predicted times of all samples, each by a model that has not seen its split.
Result<std::vector<double>> held_out_times(Group group, const std::vector<Sample>& samples, const Prepared& prepared,
                                           const Splits& splits, double trust) {
  std::vector<double> out(samples.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = prepared.physics[i].bound;
  for (const std::vector<bool>& test : splits) {
    const Rows learn = rows_where(test, false);
    const Rows judge = rows_where(test, true);
    if (learn.empty() || judge.empty()) continue;
    JC_ASSIGN_OR_RETURN(const Forest forest,
                        fit_forest(time_set(samples, prepared, learn), feature_names(group), time_options(group)));
    JC_ASSIGN_OR_RETURN(const auto found, evaluate_forest(forest, time_set(samples, prepared, judge)));
    for (std::size_t i = 0; i < judge.size(); ++i) out[judge[i]] *= std::exp(trust * static_cast<double>(found[i]));
    tell(prepared, "time", splits, test, fit_cost(learn.size(), time_options(group)));
  }
  return out;
}

// The times power is learnt on: held out, but for rows of another framework their own.
std::vector<double> learning_times(const std::vector<Sample>& samples, std::vector<double> held_out) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].power_from_own_time) held_out[i] = samples[i].time;
  }
  return held_out;
}

Result<std::vector<double>> held_out_power(Group group, const std::vector<Sample>& samples, const Prepared& prepared,
                                           const Splits& splits, const std::vector<double>& learn_times,
                                           const std::vector<double>& judge_times) {
  std::vector<double> out(samples.size(), 0.0);
  for (const std::vector<bool>& test : splits) {
    const Rows learn = with_power(samples, rows_where(test, false));
    const Rows judge = with_power(samples, rows_where(test, true));
    if (learn.empty() || judge.empty()) continue;
    JC_ASSIGN_OR_RETURN(const Forest forest, fit_forest(power_set(samples, prepared, learn, learn_times),
                                                        power_names(group), power_options(group)));
    JC_ASSIGN_OR_RETURN(const auto found, evaluate_forest(forest, power_set(samples, prepared, judge, judge_times)));
    for (std::size_t i = 0; i < judge.size(); ++i)
      out[judge[i]] = power_from_share(static_cast<double>(found[i]), samples[judge[i]].device);
    tell(prepared, "power", splits, test, fit_cost(learn.size(), power_options(group)));
  }
  return out;
}

}  // namespace

double trust_unseen(Group group) {
  switch (group) {
    case Group::kConv:
    case Group::kGemmSimt:
      return 0.5;
    case Group::kPointwise:
    case Group::kReduction:
      return 0.75;
    case Group::kGemmTensor:
    case Group::kPrefill:
    case Group::kDecode:
      return 1.0;
  }
  return 0.0;
}

double group_cost(Group group, const std::vector<Sample>& samples, Judging judging) {
  std::set<std::string_view> gpus;
  std::size_t powered = 0;
  for (const Sample& s : samples) {
    gpus.insert(s.gpu->id);
    powered += s.power ? 1U : 0U;
  }
  // Of n splits each row is learnt from in n - 1.
  const double random = kFolds - 1.0;
  const double unseen = gpus.empty() ? 0.0 : static_cast<double>(gpus.size()) - 1.0;
  const double time = samples.empty() ? 0.0 : fit_cost(samples.size(), time_options(group));
  const double power = powered == 0 ? 0.0 : fit_cost(powered, power_options(group));
  if (judging == Judging::kQuick) return time * (random + 1.0) + power;
  return (time + power) * (random + unseen + 1.0);
}

Result<GroupFit> fit_group(Group group, const std::vector<Sample>& samples, Judging judging, const Progress& progress,
                           const Step& step) {
  if (samples.empty()) {
    progress(fmt::format("{}: no rows; predicted by its bound alone, at idle power", name(group)));
    return bound_alone(group);
  }
  Prepared prepared = prepare_samples(samples);
  prepared.step = step;
  const Splits folds = random_splits(prepared);
  GroupFit out;
  progress(fmt::format("{}: {} rows, {} folds", name(group), samples.size(), folds.size()));
  JC_ASSIGN_OR_RETURN(out.random.time, held_out_times(group, samples, prepared, folds, 1.0));
  const std::vector<double> learn = learning_times(samples, out.random.time);
  if (judging == Judging::kFull) {
    const Splits gpus = gpu_splits(samples);
    HeldOut& unseen = out.unseen_gpu;
    JC_ASSIGN_OR_RETURN(unseen.time, held_out_times(group, samples, prepared, gpus, trust_unseen(group)));
    JC_ASSIGN_OR_RETURN(out.random.power, held_out_power(group, samples, prepared, folds, learn, out.random.time));
    JC_ASSIGN_OR_RETURN(unseen.power, held_out_power(group, samples, prepared, gpus, learn, unseen.time));
  }

  Rows all(samples.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  JC_ASSIGN_OR_RETURN(out.time,
                      fit_forest(time_set(samples, prepared, all), feature_names(group), time_options(group)));
  step("all rows", fit_cost(all.size(), time_options(group)));
  const Rows powered = with_power(samples, all);
  if (powered.empty()) {
    progress(fmt::format("{}: no row has power; predicted as idle", name(group)));
    out.power = bound_alone(group).power;
    return out;
  }
  JC_ASSIGN_OR_RETURN(
      out.power, fit_forest(power_set(samples, prepared, powered, learn), power_names(group), power_options(group)));
  return out;
}

GroupFit bound_alone(Group group) {
  GroupFit out;
  const auto own = feature_names(group);
  const auto wide = power_names(group);
  out.time.features.assign(own.begin(), own.end());
  out.power.features.assign(wide.begin(), wide.end());
  return out;
}

}  // namespace joulecast
