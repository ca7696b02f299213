// SPDX-License-Identifier: Apache-2.0
#include "fit/thesis/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <set>

#include "fit/random_trees.h"
#include "fit/thesis/features.h"
#include "store/read_rows.h"

namespace joulecast {
namespace {

// What a row of the thesis' tables is to us, if we would learn from it.
struct Ours {
  double time = 0, power = 0;  // predicted while its operation was left out
};

struct Row {
  ThesisRow thesis;
  bool learnable = false;
  std::map<Method, Ours> ours;
};

struct Rows {
  std::vector<Row> all;
  SampleSet samples;  // Sample::number is the place in `all`
  Refusals refused;
};

constexpr std::size_t kNoNumber = static_cast<std::size_t>(-1);

bool of_table(const ThesisRow& row, const PublishedTable& table) {
  return row.gpu == table.gpu && row.mode == table.mode;
}
bool of_any_table(const ThesisRow& row) {
  return std::any_of(kPublishedTables.begin(), kPublishedTables.end(),
                     [&](const PublishedTable& table) { return of_table(row, table); });
}

// Rows that a better run replaced are not judged, but ours learns from them as it always does.
void add_row(const MeasuredOperation& measured, Rows& rows) {
  auto thesis = thesis_row(measured);
  auto sample = sample_of(measured, Catalogue::shipped());
  const bool judged = thesis && measured.from.primary && of_any_table(*thesis);
  if (!thesis) rows.refused.add(measured.from.line, thesis.error().text());
  if (sample) {
    sample->number = judged ? rows.all.size() : kNoNumber;
    rows.samples.groups[static_cast<std::size_t>(group_of(sample->work))].push_back(*sample);
  }
  if (judged) rows.all.push_back({std::move(*thesis), sample && sample->power, {}});
}

Result<Rows> read(const ThesisOptions& options, const Progress& progress) {
  Rows rows;
  for (const std::string& place : options.tables) {
    progress("reading " + place);
    TableSink sink;
    sink.operation = [&](const MeasuredOperation& row) { add_row(row, rows); };
    sink.network = [&](const MeasuredNetwork& row) { rows.refused.add(row.from.line, "a network"); };
    JC_ASSIGN_OR_RETURN(const Table table, read_rows(place, options.layouts, sink));
    rows.refused.add(table.unmapped);
  }
  if (rows.all.empty()) {
    std::string why;
    for (const Refusal& refusal : rows.refused.by_frequency()) {
      why = ": " + refusal_text(refusal);
      break;
    }
    return invalid("no row is one of the thesis': time and power of an operation on an A30 or RTX 2080 Ti" + why);
  }
  thin_out(rows.samples);
  return rows;
}

// Ours and physics, fitted on everything there is, as for a pack.
Result<void> add_ours(Method method, const Progress& progress, Rows& rows) {
  for (std::size_t g = 0; g < kGroups; ++g) {
    const std::vector<Sample>& samples = rows.samples.groups[g];
    const auto group = static_cast<Group>(g);
    if (std::none_of(samples.begin(), samples.end(), [](const Sample& s) { return s.number != kNoNumber; })) continue;
    progress(fmt::format("{}: {} rows of {}", name(method), samples.size(), name(group)));
    JC_ASSIGN_OR_RETURN(const HeldOut held, held_out_operations(group, samples, method));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (samples[i].number != kNoNumber) rows.all[samples[i].number].ours[method] = {held.time[i], held.power[i]};
    }
  }
  return {};
}

// One table's rows as the thesis' estimators take them. One-hot: a column a type that the rows have.
struct Matrix {
  std::size_t width = 0;
  std::vector<float> features;
  std::vector<double> time, power;
  [[nodiscard]] std::size_t rows() const { return time.size(); }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return std::span(features).subspan(i * width, width);
  }
};

Matrix matrix_of(const std::vector<const Row*>& rows) {
  std::set<std::string_view> types;
  for (const Row* row : rows) types.insert(row->thesis.type);
  Matrix out;
  for (const Row* row : rows) {
    out.features.insert(out.features.end(), row->thesis.features.begin(), row->thesis.features.end());
    for (const std::string_view type : types) out.features.push_back(row->thesis.type == type ? 1.0F : 0.0F);
    out.time.push_back(row->thesis.time);
    out.power.push_back(row->thesis.power);
  }
  out.width = out.features.size() / out.rows();
  return out;
}

using Places = std::vector<std::size_t>;

TrainingSet training_set(const Matrix& all, const std::vector<double>& targets, double offset, const Places& rows) {
  TrainingSet set;
  set.width = all.width;
  for (const std::size_t i : rows) {
    set.features.insert(set.features.end(), all.row(i).begin(), all.row(i).end());
    set.targets.push_back(static_cast<float>(targets[i] - offset));
  }
  set.weights.assign(rows.size(), 1.0F);
  return set;
}

// XGBRegressor's own defaults. From version 2 on its base score is the mean of the targets. It makes no split that
// takes less than 1e-6 off the squared error, so of raw seconds it learns the long ones only: as in the thesis.
Result<std::vector<double>> boosted(const Matrix& all, const std::vector<double>& targets, const Places& learn,
                                    const Places& judge) {
  double mean = 0.0;
  for (const std::size_t i : learn) mean += targets[i] / static_cast<double>(learn.size());
  const std::vector<std::string> numbered = [&] {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < all.width; ++i) names.push_back(std::to_string(i));
    return names;
  }();
  const std::vector<std::string_view> names(numbered.begin(), numbered.end());
  const BoosterOptions options{.rounds = 100,
                               .depth = 6,
                               .eta = 0.3,
                               .subsample = 1.0,
                               .columns = 1.0,
                               .min_child_weight = 1.0,
                               .lambda = 1.0,
                               .seed = 1};
  JC_ASSIGN_OR_RETURN(const Forest forest, fit_forest(training_set(all, targets, mean, learn), names, options));
  JC_ASSIGN_OR_RETURN(const auto found, evaluate_forest(forest, training_set(all, targets, mean, judge)));
  std::vector<double> out;
  for (const float value : found) out.push_back(mean + static_cast<double>(value));
  return out;
}

// scikit-learn's own defaults: 100 trees, grown to the end, all features at every split.
Result<std::vector<double>> averaged(SplitChoice split, const Matrix& all, const std::vector<double>& targets,
                                     const Places& learn, const Places& judge) {
  JC_ASSIGN_OR_RETURN(const RandomTrees trees,
                      RandomTrees::grow(training_set(all, targets, 0.0, learn),
                                        {.split = split, .bootstrap = split == SplitChoice::kBest}));
  std::vector<double> out;
  for (const std::size_t i : judge) out.push_back(trees.predict(all.row(i)));
  return out;
}

Result<std::vector<double>> predicted(Method method, const Matrix& all, const std::vector<double>& targets,
                                      const Places& learn, const Places& judge) {
  if (method == Method::kBoosting) return boosted(all, targets, learn, judge);
  return averaged(method == Method::kRandomForest ? SplitChoice::kBest : SplitChoice::kRandom, all, targets, learn,
                  judge);
}

// Test sides of a split of the rows, in turn.
using Folds = std::vector<Places>;

Places others(std::size_t count, const Places& rows) {
  std::vector<bool> taken(count);
  for (const std::size_t i : rows) taken[i] = true;
  Places out;
  for (std::size_t i = 0; i < count; ++i) {
    if (!taken[i]) out.push_back(i);
  }
  return out;
}

// Rows in an order drawn once. Not std::shuffle, whose order is the library's affair.
Places shuffled(std::size_t count) {
  Places out(count);
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp,cert-msc32-c): the same folds every time
  for (std::size_t i = count; i > 1; --i) std::swap(out[i - 1], out[random() % i]);
  return out;
}

Folds row_folds(std::size_t count) {
  Folds out(kFolds);
  const Places order = shuffled(count);
  for (std::size_t i = 0; i < count; ++i) out[i * kFolds / count].push_back(order[i]);
  return out;
}

Result<double> r2(Method method, const Matrix& all, const std::vector<double>& targets, const Places& judge) {
  JC_ASSIGN_OR_RETURN(const auto found, predicted(method, all, targets, others(all.rows(), judge), judge));
  std::vector<double> measured;
  for (const std::size_t i : judge) measured.push_back(targets[i]);
  const auto figures = error_figures(measured, found);
  if (!figures.r2) return invalid("too few rows for R2 in each of 15 folds");
  return *figures.r2;
}

Result<FoldScore> row_score(Method method, const Matrix& all, const std::vector<double>& targets) {
  std::vector<double> scores;
  for (const Places& judge : row_folds(all.rows())) {
    JC_ASSIGN_OR_RETURN(const double score, r2(method, all, targets, judge));
    scores.push_back(score);
  }
  FoldScore out;
  for (const double score : scores) out.mean += score / kFolds;
  for (const double score : scores) out.deviation += (score - out.mean) * (score - out.mean) / kFolds;
  out.deviation = std::sqrt(out.deviation);
  Places fifth = shuffled(all.rows());
  fifth.resize((all.rows() + 4) / 5);
  JC_ASSIGN_OR_RETURN(out.test, r2(method, all, targets, fifth));
  return out;
}

struct Found {
  std::vector<double> time, power;
};

// Every operation left out once, together with its repeats.
Result<Found> without_operations(Method method, const std::vector<const Row*>& rows, const Matrix& all) {
  Folds folds(kFolds);
  for (std::size_t i = 0; i < rows.size(); ++i)
    folds[static_cast<std::size_t>(fold_of(rows[i]->thesis.key))].push_back(i);
  Found out{std::vector<double>(all.rows()), std::vector<double>(all.rows())};
  for (const Places& judge : folds) {
    const Places learn = others(all.rows(), judge);
    if (learn.empty() || judge.empty()) continue;
    JC_ASSIGN_OR_RETURN(const auto time, predicted(method, all, all.time, learn, judge));
    JC_ASSIGN_OR_RETURN(const auto power, predicted(method, all, all.power, learn, judge));
    for (std::size_t i = 0; i < judge.size(); ++i) {
      out.time[judge[i]] = time[i];
      out.power[judge[i]] = power[i];
    }
  }
  return out;
}

Quantities quantities(const Matrix& all, const Found& found) {
  std::vector<double> energy;
  std::vector<double> energy_found;
  for (std::size_t i = 0; i < all.rows(); ++i) {
    energy.push_back(all.time[i] * all.power[i]);
    energy_found.push_back(found.time[i] * found.power[i]);
  }
  return {error_figures(all.time, found.time), error_figures(all.power, found.power),
          error_figures(energy, energy_found)};
}

bool of_the_thesis(Method method) {
  return method != Method::kOurs && method != Method::kPhysics;
}

Result<ThesisScores> scores_of(Method method, const std::vector<const Row*>& rows,
                               const std::vector<const Row*>& learnable) {
  ThesisScores out;
  const Matrix judged = matrix_of(learnable);
  if (!of_the_thesis(method)) {
    Found found;
    for (const Row* row : learnable) {
      found.time.push_back(row->ours.at(method).time);
      found.power.push_back(row->ours.at(method).power);
    }
    out.operations = quantities(judged, found);
    return out;
  }
  const Matrix all = matrix_of(rows);
  JC_ASSIGN_OR_RETURN(const FoldScore time, row_score(method, all, all.time));
  JC_ASSIGN_OR_RETURN(const FoldScore power, row_score(method, all, all.power));
  out.rows = {time, power};
  JC_ASSIGN_OR_RETURN(const Found found, without_operations(method, learnable, judged));
  out.operations = quantities(judged, found);
  return out;
}

Result<ThesisTable> table_of(const PublishedTable& published, const ThesisOptions& options, const Rows& rows,
                             const Progress& progress) {
  std::vector<const Row*> all;
  std::vector<const Row*> learnable;
  std::set<std::string_view> operations;
  for (const Row& row : rows.all) {
    if (!of_table(row.thesis, published)) continue;
    all.push_back(&row);
    operations.insert(row.thesis.key);
    if (row.learnable) learnable.push_back(&row);
  }
  ThesisTable out{&published, all.size(), operations.size(), learnable.size(), {}};
  if (all.empty()) return out;
  if (learnable.size() < std::size_t{3} * kFolds)
    return invalid(
        fmt::format("table {}: {} usable rows are too few for {} folds", published.number, learnable.size(), kFolds));
  for (const Method method : options.methods) {
    progress(fmt::format("table {}: {}", published.number, name(method)));
    JC_ASSIGN_OR_RETURN(out.scores[method], scores_of(method, all, learnable));
  }
  return out;
}

}  // namespace

Result<ThesisResult> run_thesis_protocol(const ThesisOptions& options, const Progress& progress) {
  JC_ASSIGN_OR_RETURN(Rows rows, read(options, progress));
  for (const Method method : options.methods) {
    if (!of_the_thesis(method)) JC_RETURN_IF_ERROR(add_ours(method, progress, rows));
  }
  ThesisResult out;
  for (const PublishedTable& published : kPublishedTables) {
    JC_ASSIGN_OR_RETURN(ThesisTable table, table_of(published, options, rows, progress));
    if (table.rows > 0) out.tables.push_back(std::move(table));
  }
  out.refused = std::move(rows.refused);
  return out;
}

}  // namespace joulecast
