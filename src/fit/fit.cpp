// SPDX-License-Identifier: Apache-2.0
#include "fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>

#include "base/parallel.h"
#include "fit/benches.h"
#include "fit/power_law_fit.h"
#include "fit/tree_options.h"
#include "predict/estimator.h"

namespace joulecast {
namespace {

// Physics and features of every sample, computed once.
struct Prepared {
  std::vector<Physics> physics;
  std::vector<std::vector<float>> features;
  std::vector<int> fold;
};

Prepared prepare_samples(const std::vector<Sample>& samples) {
  Prepared out;
  for (const Sample& s : samples) {
    const std::size_t own = feature_names(group_of(s.work)).size();
    std::vector<float> row(own + kGpuFeatures.size());
    out.physics.push_back(physics_of(s.work, s.device, s.situation, row));
    write_gpu_features(out.physics.back(), s.device, std::span(row).subspan(own));
    out.features.push_back(std::move(row));
    out.fold.push_back(fold_of(s.key));
  }
  return out;
}

using Rows = std::vector<std::size_t>;

double weight_of(const Sample& sample, Kind kind) {
  if (kind == Kind::kAny) return sample.weight;
  return sample.seen_weight[static_cast<std::size_t>(kind == Kind::kSeen ? Bench::kModules : Bench::kLoops)];
}

TrainingSet time_set(const std::vector<Sample>& samples, const Prepared& prepared, const Rows& rows, Kind kind) {
  TrainingSet set;
  for (const std::size_t i : rows) {
    set.width = prepared.features[i].size();
    set.features.insert(set.features.end(), prepared.features[i].begin(), prepared.features[i].end());
    set.targets.push_back(static_cast<float>(std::log(samples[i].time / prepared.physics[i].bound)));
    set.weights.push_back(static_cast<float>(weight_of(samples[i], kind)));
  }
  return set;
}

// Of samples with power, what the law leaves of it. `times` are those the power model will see: predicted ones, as in
// use.
TrainingSet power_set(const std::vector<Sample>& samples, const Prepared& prepared, const Rows& rows,
                      const std::vector<double>& times, const PowerLaw& law) {
  TrainingSet set;
  for (const std::size_t i : rows) {
    const std::vector<float>& own = prepared.features[i];
    std::array<float, kPowerFeatures.size()> more{};
    write_power_features(prepared.physics[i], samples[i].device, times[i], more);
    set.width = own.size() + more.size();
    set.features.insert(set.features.end(), own.begin(), own.end());
    set.features.insert(set.features.end(), more.begin(), more.end());
    const double share = power_share(samples[i].power.value_or(0.0), samples[i].device);
    set.targets.push_back(static_cast<float>(share - law.share(prepared.physics[i], times[i])));
    set.weights.push_back(static_cast<float>(samples[i].power_weight));
  }
  return set;
}

std::vector<std::string_view> time_names(Group group) {
  std::vector<std::string_view> names = row_names(group);
  names.resize(names.size() - kPowerFeatures.size());
  return names;
}

// The set without the columns that tell GPUs apart.
TrainingSet without_gpu(Group group, const TrainingSet& set) {
  const auto from = static_cast<std::ptrdiff_t>(feature_names(group).size());
  const auto to = from + static_cast<std::ptrdiff_t>(kGpuFeatures.size());
  TrainingSet out{
      .width = set.width - kGpuFeatures.size(), .features = {}, .targets = set.targets, .weights = set.weights};
  for (auto row = set.features.begin(); row != set.features.end(); row += static_cast<std::ptrdiff_t>(set.width)) {
    out.features.insert(out.features.end(), row, row + from);
    out.features.insert(out.features.end(), row + to, row + static_cast<std::ptrdiff_t>(set.width));
  }
  return out;
}

// One group's rows and what the fits of it share.
struct Task {
  Group group;
  Method method;
  Step step;  // may be empty
  const std::vector<Sample>& samples;
  Prepared prepared;
  std::vector<Bench> answering;     // by sample: whose models answer for its GPU
  mutable std::mutex telling = {};  // splits are fitted side by side
};

using Learn = Result<Forest> (*)(Method, const TrainingSet&, std::span<const std::string_view>, const TreeOptions&);

// A forest over the row's columns, whatever it may split on: all models of a group read the same rows.
Result<Forest> fit_model(const Task& task, Kind kind, Learn learn, const TrainingSet& set,
                         const std::vector<std::string_view>& names, const TreeOptions& options) {
  if (kind != Kind::kAny) return learn(task.method, set, names, options);
  const Group group = task.group;
  const auto own = static_cast<std::uint32_t>(feature_names(group).size());
  std::vector<std::string_view> fewer = names;
  fewer.erase(fewer.begin() + own, fewer.begin() + own + static_cast<std::ptrdiff_t>(kGpuFeatures.size()));
  JC_ASSIGN_OR_RETURN(Forest forest, learn(task.method, without_gpu(group, set), fewer, options));
  for (Tree& tree : forest.trees) {
    for (TreeNode& node : tree.nodes) {
      if (node.left != 0 && node.feature >= own) node.feature += static_cast<std::uint32_t>(kGpuFeatures.size());
    }
  }
  forest.features.assign(names.begin(), names.end());
  return forest;
}

// Which samples stand on the test side of each split.
using Splits = std::vector<std::vector<bool>>;

Splits random_splits(const Prepared& prepared, int folds) {
  Splits out;
  for (int f = 0; f < folds; ++f) {
    std::vector<bool> test(prepared.fold.size());
    for (std::size_t i = 0; i < test.size(); ++i) test[i] = prepared.fold[i] % folds == f;
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

Rows rows_where(const std::vector<bool>& test, bool value) {
  Rows out;
  for (std::size_t i = 0; i < test.size(); ++i) {
    if (test[i] == value) out.push_back(i);
  }
  return out;
}

Rows all_rows(const std::vector<Sample>& samples) {
  Rows out(samples.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

// Those that models of this kind learn from.
Rows learnt_from(const std::vector<Sample>& samples, Rows rows, Kind kind) {
  if (kind == Kind::kAny) std::erase_if(rows, [&](std::size_t i) { return !samples[i].for_any_gpu; });
  if (kind == Kind::kSeen) std::erase_if(rows, [&](std::size_t i) { return !samples[i].for_modules; });
  return rows;
}

// Those that models of this kind answer for.
Rows judged_by(const Task& task, Rows rows, Kind kind) {
  const Bench bench = kind == Kind::kSeen ? Bench::kModules : Bench::kLoops;
  if (kind != Kind::kAny) std::erase_if(rows, [&](std::size_t i) { return task.answering[i] != bench; });
  return rows;
}

bool has_loops(const std::vector<Bench>& answering) {
  return std::find(answering.begin(), answering.end(), Bench::kLoops) != answering.end();
}

Rows with_power(const std::vector<Sample>& samples, const Rows& rows) {
  Rows out;
  for (const std::size_t i : rows) {
    if (samples[i].power) out.push_back(i);
  }
  return out;
}

void tell(const Task& task, std::string_view what, double cost) {
  const std::lock_guard lock(task.telling);
  if (task.step) task.step(what, cost);
}
// After the model of one of the splits.
void tell(const Task& task, std::string_view what, const Splits& splits, const std::vector<bool>& test, double cost) {
  tell(task, fmt::format("{}, split {} of {}", what, &test - splits.data() + 1, splits.size()), cost);
}

// Rows count the less, the further the law is off.
void doubt(TrainingSet& set, double half_at) {
  for (std::size_t i = 0; i < set.targets.size(); ++i) {
    const double off = static_cast<double>(set.targets[i]) / half_at;
    set.weights[i] /= static_cast<float>(1.0 + off * off);
  }
}

Result<Forest> fit_time(const Task& task, Kind kind, const Rows& rows) {
  TrainingSet set = time_set(task.samples, task.prepared, rows, kind);
  if (task.method == Method::kOurs) doubt(set, doubted_at(task.group, kind));
  return fit_model(task, kind, learn_time, set, time_names(task.group), time_options(task.group, kind));
}

struct PowerModel {
  PowerLaw law;
  Forest forest;
};

// The physics' own estimator is a law already.
PowerLaw law_of(const Task& task, Kind kind, const Rows& rows, const std::vector<double>& times) {
  if (task.method == Method::kPhysics || !has_power_law(task.group, kind)) return {};
  std::vector<BusyRow> busy;
  for (const std::size_t i : rows) {
    const Sample& s = task.samples[i];
    busy.push_back({.physics = task.prepared.physics[i],
                    .time = times[i],
                    .share = power_share(s.power.value_or(0.0), s.device),
                    .weight = s.power_weight});
  }
  return least_squares_law(busy);
}

// A share of each row stands at its measured time: in use a time is predicted, but which power goes with which time the
// measured ones tell best. R2 of operations left out rises by up to 0.0012 on measured GPUs; on GPUs left out nothing
// is gained, nor by larger shares.
void add_measured_times(const Task& task, const Rows& rows, const PowerLaw& law, TrainingSet& set) {
  constexpr float kShare = 0.25F;
  Rows predicted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (task.samples[rows[i]].power_from_own_time) continue;
    predicted.push_back(rows[i]);
    set.weights[i] *= 1.0F - kShare;
  }
  std::vector<double> times(task.samples.size());
  for (const std::size_t i : predicted) times[i] = task.samples[i].time;
  const TrainingSet measured = power_set(task.samples, task.prepared, predicted, times, law);
  set.features.insert(set.features.end(), measured.features.begin(), measured.features.end());
  set.targets.insert(set.targets.end(), measured.targets.begin(), measured.targets.end());
  for (const float weight : measured.weights) set.weights.push_back(kShare * weight);
}

Result<PowerModel> fit_power(const Task& task, Kind kind, const Rows& rows, const std::vector<double>& times) {
  PowerModel out{.law = law_of(task, kind, rows, times), .forest = {}};
  TrainingSet set = power_set(task.samples, task.prepared, rows, times, out.law);
  if (task.method == Method::kOurs && kind == Kind::kSeen) add_measured_times(task, rows, out.law, set);
  JC_ASSIGN_OR_RETURN(out.forest,
                      fit_model(task, kind, learn_power, set, row_names(task.group), power_options(task.group, kind)));
  return out;
}

// Predicted times of the samples that this kind answers for, each by a model that has not seen its split.
Result<void> hold_out_times(const Task& task, Kind kind, const Splits& splits, double trust, std::vector<double>& out) {
  const auto hold_out = [&](std::size_t split) -> Result<void> {
    const std::vector<bool>& test = splits[split];
    const Rows learn = learnt_from(task.samples, rows_where(test, false), kind);
    const Rows judge = judged_by(task, rows_where(test, true), kind);
    if (learn.empty() || judge.empty()) return {};
    JC_ASSIGN_OR_RETURN(const Forest forest, fit_time(task, kind, learn));
    JC_ASSIGN_OR_RETURN(const auto found, evaluate_forest(forest, time_set(task.samples, task.prepared, judge, kind)));
    for (std::size_t i = 0; i < judge.size(); ++i) out[judge[i]] *= std::exp(trust * static_cast<double>(found[i]));
    tell(task, "time", splits, test, fit_cost(learn.size(), time_options(task.group, kind)));
    return {};
  };
  return in_parallel(splits.size(), hold_out);
}

// Of all samples; the bound where nothing is left to learn from, or trees count for nothing.
Result<std::vector<double>> held_out_times(const Task& task, Kind kind, const Splits& splits, double trust) {
  std::vector<double> out(task.samples.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = task.prepared.physics[i].bound;
  if (trust > 0.0) JC_RETURN_IF_ERROR(hold_out_times(task, kind, splits, trust, out));
  return out;
}
// With loops in folds of their own, which there are enough of.
Result<std::vector<double>> held_out_times(const Task& task, const Splits& folds) {
  JC_ASSIGN_OR_RETURN(std::vector<double> out, held_out_times(task, Kind::kSeen, folds, 1.0));
  if (has_loops(task.answering))
    JC_RETURN_IF_ERROR(hold_out_times(task, Kind::kLoops, random_splits(task.prepared, kLoopFolds), 1.0, out));
  return out;
}

// The times power is learnt on: held out, but for rows of another framework their own.
std::vector<double> learning_times(const std::vector<Sample>& samples, std::vector<double> held_out) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].power_from_own_time) held_out[i] = samples[i].time;
  }
  return held_out;
}

Result<std::vector<double>> held_out_power(const Task& task, Kind kind, const Splits& splits,
                                           const std::vector<double>& learn_times,
                                           const std::vector<double>& judge_times) {
  const std::vector<Sample>& samples = task.samples;
  std::vector<double> out(samples.size(), 0.0);
  const auto hold_out = [&](std::size_t split) -> Result<void> {
    const std::vector<bool>& test = splits[split];
    const Rows learn = with_power(samples, learnt_from(samples, rows_where(test, false), kind));
    const Rows judge = with_power(samples, rows_where(test, true));
    if (learn.empty() || judge.empty()) return {};
    JC_ASSIGN_OR_RETURN(const PowerModel model, fit_power(task, kind, learn, learn_times));
    JC_ASSIGN_OR_RETURN(const auto found, evaluate_forest(model.forest, power_set(samples, task.prepared, judge,
                                                                                  judge_times, model.law)));
    for (std::size_t i = 0; i < judge.size(); ++i) {
      const double share = model.law.share(task.prepared.physics[judge[i]], judge_times[judge[i]]);
      out[judge[i]] = power_from_share(share + static_cast<double>(found[i]), samples[judge[i]].device);
    }
    tell(task, "power", splits, test, fit_cost(learn.size(), power_options(task.group, kind)));
    return {};
  };
  JC_RETURN_IF_ERROR(in_parallel(splits.size(), hold_out));
  return out;
}

Result<GroupModels> fit_models(const Task& task, Kind kind, const std::vector<double>& learn_times) {
  const Rows all = learnt_from(task.samples, all_rows(task.samples), kind);
  GroupModels out = bound_alone(task.group).any;
  if (kind != Kind::kAny || trust_unseen(task.group) > 0.0) {
    JC_ASSIGN_OR_RETURN(out.time, fit_time(task, kind, all));
    tell(task, "all rows", fit_cost(all.size(), time_options(task.group, kind)));
  }
  const Rows powered = with_power(task.samples, all);
  if (powered.empty()) return out;
  JC_ASSIGN_OR_RETURN(PowerModel power, fit_power(task, kind, powered, learn_times));
  out.power = std::move(power.forest);
  out.law = power.law;
  return out;
}

}  // namespace

int fold_of(std::string_view key) {
  std::uint32_t hash = 2166136261U;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<int>((hash >> 7) % kFolds);
}

int folds_of(Group group) {
  switch (group) {
    case Group::kGemmTensor:
    case Group::kGemmFp4:
    case Group::kPrefill:
    case Group::kDecode:
      return 5;  // of hundreds of thousands of rows
    default:
      return kFolds;
  }
}

double trust_unseen(Group group) {
  switch (group) {
    case Group::kConv:
    case Group::kReduction:
    case Group::kGemmSimt:
      return 0.0;
    case Group::kPrefill:
    case Group::kDecode:
      return 0.25;
    case Group::kPointwise:
    case Group::kGemmTensor:
    case Group::kGemmFp4:
      return 0.75;
  }
  return 0.0;
}

double group_cost(Group group, const std::vector<Sample>& samples, Judging judging) {
  std::set<std::string_view> gpus;
  std::size_t powered = 0;
  std::size_t for_any = 0;
  std::size_t for_modules = 0;
  for (const Sample& s : samples) {
    gpus.insert(s.gpu->id);
    powered += s.power ? 1U : 0U;
    for_any += s.for_any_gpu ? 1U : 0U;
    for_modules += s.for_modules ? 1U : 0U;
  }
  if (samples.empty()) return 0.0;
  const double folds = folds_of(group);
  const double any = trust_unseen(group) > 0.0 ? fit_cost(for_any, time_options(group, Kind::kAny)) : 0.0;
  const double seen = fit_cost(for_modules, time_options(group, Kind::kSeen));
  double loops = 0.0;
  if (has_loops(answering_benches(samples)))
    loops = kLoopFolds * fit_cost(samples.size(), time_options(group, Kind::kLoops));
  const double power = powered == 0 ? 0.0 : fit_cost(powered, power_options(group, Kind::kSeen));
  // Of n splits each row is learnt from in n - 1; and once more of all.
  if (judging == Judging::kQuick) return (seen + power) * folds + loops + any + 2.0 * power;
  return (seen + power) * folds + loops + (any + power) * static_cast<double>(gpus.size());
}

Result<HeldOut> held_out_operations(Group group, const std::vector<Sample>& samples, Method method) {
  HeldOut out;
  const Task task{group, method, {}, samples, prepare_samples(samples), answering_benches(samples)};
  const Splits folds = random_splits(task.prepared, folds_of(group));
  JC_ASSIGN_OR_RETURN(out.time, held_out_times(task, folds));
  JC_ASSIGN_OR_RETURN(out.power, held_out_power(task, Kind::kSeen, folds, learning_times(samples, out.time), out.time));
  return out;
}

Result<GroupFit> fit_group(Group group, const std::vector<Sample>& samples, Method method, Judging judging,
                           const Progress& progress, const Step& step) {
  if (samples.empty()) {
    progress(fmt::format("{}: no rows; predicted by its bound alone, at the power of a GPU that waits", name(group)));
    return bound_alone(group);
  }
  const Task task{group, method, step, samples, prepare_samples(samples), answering_benches(samples)};
  const Splits folds = random_splits(task.prepared, folds_of(group));
  GroupFit out;
  progress(fmt::format("{}: {} rows, {} folds", name(group), samples.size(), folds.size()));
  if (measured_keys(samples).empty())
    progress(fmt::format("{}: too few rows of any GPU; predicted as on one that nobody measured", name(group)));
  JC_ASSIGN_OR_RETURN(out.random.time, held_out_times(task, folds));
  const std::vector<double> learn = learning_times(samples, out.random.time);
  JC_ASSIGN_OR_RETURN(out.random.power, held_out_power(task, Kind::kSeen, folds, learn, out.random.time));
  if (judging == Judging::kFull) {
    const Splits gpus = gpu_splits(samples);
    HeldOut& unseen = out.unseen_gpu;
    JC_ASSIGN_OR_RETURN(unseen.time, held_out_times(task, Kind::kAny, gpus, trust_unseen(group)));
    JC_ASSIGN_OR_RETURN(unseen.power, held_out_power(task, Kind::kAny, gpus, learn, unseen.time));
  }
  const std::pair<Kind, GroupModels*> both[] = {{Kind::kAny, &out.any}, {Kind::kSeen, &out.seen}};
  const auto fit_all = [&](std::size_t i) -> Result<void> {
    JC_ASSIGN_OR_RETURN(*both[i].second, fit_models(task, both[i].first, learn));
    return {};
  };
  JC_RETURN_IF_ERROR(in_parallel(std::size(both), fit_all));
  if (has_loops(task.answering)) {
    JC_ASSIGN_OR_RETURN(out.loops_time, fit_time(task, Kind::kLoops, all_rows(samples)));
  }
  const bool powered = std::any_of(samples.begin(), samples.end(), [](const Sample& s) { return s.power.has_value(); });
  if (!powered) progress(fmt::format("{}: no row has power; predicted as waiting", name(group)));
  return out;
}

GroupFit bound_alone(Group group) {
  const auto time = time_names(group);
  const auto power = row_names(group);
  GroupModels out;
  out.time.features.assign(time.begin(), time.end());
  out.power.features.assign(power.begin(), power.end());
  return {.any = out, .seen = out, .loops_time = {}, .random = {}, .unseen_gpu = {}};
}

}  // namespace joulecast
