// SPDX-License-Identifier: Apache-2.0
#include "fit/symmetric_trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "base/check.h"

namespace joulecast {
namespace {

// A column as the numbers of its thresholds that lie at or below each value.
struct Column {
  std::vector<float> thresholds;  // ascending
  std::vector<std::uint8_t> bins;
};

// Between two neighbours: above the lower one, at most the upper one, which goes right as it shall.
float between(float lower, float upper) {
  const float middle = lower + (upper - lower) / 2.0F;
  return middle > lower && middle < upper ? middle : upper;
}

// Between different values only, as near as these allow to equal shares of the rows.
std::vector<float> thresholds_of(std::vector<float> values, std::size_t most) {
  for (float& value : values) value = std::isnan(value) ? -std::numeric_limits<float>::infinity() : value;
  std::sort(values.begin(), values.end());
  std::size_t changes = 0;
  for (std::size_t i = 1; i < values.size(); ++i) changes += values[i] == values[i - 1] ? 0U : 1U;
  const double share = changes <= most ? 0.0 : static_cast<double>(values.size()) / static_cast<double>(most + 1);
  std::vector<float> out;
  double next = share;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto below = static_cast<double>(i);
    if (values[i] == values[i - 1] || below < next) continue;
    out.push_back(between(values[i - 1], values[i]));
    next = share > 0.0 ? share * (std::floor(below / share) + 1.0) : 0.0;
  }
  return out;
}

Column column_of(const TrainingSet& set, std::size_t feature, std::size_t most) {
  std::vector<float> values(set.rows());
  for (std::size_t r = 0; r < values.size(); ++r) values[r] = set.features[r * set.width + feature];
  Column out{.thresholds = thresholds_of(values, most), .bins = {}};
  for (const float value : values) {
    const auto above = std::upper_bound(out.thresholds.begin(), out.thresholds.end(), value,
                                        [](float x, float threshold) { return !(x >= threshold); });
    out.bins.push_back(static_cast<std::uint8_t>(above - out.thresholds.begin()));
  }
  return out;
}

// The weight of some rows and their weighted sum of residuals.
struct Sum {
  double residual = 0, weight = 0;
};

struct Question {
  std::size_t feature = 0, threshold = 0;
  double score = 0;
};

class Boosting {
 public:
  Boosting(const TrainingSet& set, const SymmetricOptions& options)
      : options_(options),
        weights_(set.weights.begin(), set.weights.end()),
        weighted_(set.rows()),
        random_(options.seed),
        leaves_(set.rows()),
        order_(set.width) {
    for (std::size_t f = 0; f < set.width; ++f) columns_.push_back(column_of(set, f, options.thresholds));
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const double weight = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    double sum = 0.0;
    for (std::size_t r = 0; r < weights_.size(); ++r) sum += weights_[r] * static_cast<double>(set.targets[r]);
    base_ = weight > 0.0 ? static_cast<float>(sum / weight) : 0.0F;
    lambda_ = options.lambda * weight / static_cast<double>(weights_.size());
    for (const float target : set.targets)
      residuals_.push_back(static_cast<double>(target) - static_cast<double>(base_));
  }

  [[nodiscard]] float base() const { return base_; }
  // The next one; lowers the residuals by what it says.
  Tree grow();

 private:
  void draw_columns();
  [[nodiscard]] Question best_question(std::size_t leaf_count);
  void count(const Column& column, std::size_t leaf_count);
  void score(std::size_t threshold_count, std::size_t leaf_count);
  void part(const Question& question);
  std::vector<float> answers(std::size_t leaf_count);

  SymmetricOptions options_;
  std::vector<Column> columns_;
  std::vector<double> weights_, residuals_;
  std::vector<double> weighted_;  // both multiplied, as far as residuals count, for the tree that grows
  float base_ = 0;
  double lambda_ = 0;
  std::mt19937_64 random_;             // the standard's engines are the same everywhere, its distributions are not
  std::vector<std::uint32_t> leaves_;  // by row
  std::vector<std::size_t> order_;     // the columns drawn stand first
  std::size_t drawn_ = 0;
  std::vector<Sum> sums_;       // [leaf][bin]
  std::vector<double> scores_;  // by threshold
};

void Boosting::draw_columns() {
  const auto wanted = static_cast<std::size_t>(std::ceil(options_.columns * static_cast<double>(order_.size())));
  drawn_ = std::clamp<std::size_t>(wanted, 1, order_.size());
  for (std::size_t i = 0; i < drawn_; ++i) std::swap(order_[i], order_[i + random_() % (order_.size() - i)]);
}

void Boosting::count(const Column& column, std::size_t leaf_count) {
  const std::size_t bins = column.thresholds.size() + 1;
  sums_.assign(leaf_count * bins, {});
  for (std::size_t r = 0; r < leaves_.size(); ++r) {
    Sum& sum = sums_[leaves_[r] * bins + column.bins[r]];
    sum.residual += weighted_[r];
    sum.weight += weights_[r];
  }
}

// By how much the squared error falls, for every threshold, where all leaves part there.
void Boosting::score(std::size_t threshold_count, std::size_t leaf_count) {
  scores_.assign(threshold_count, 0.0);
  const std::size_t bins = threshold_count + 1;
  for (std::size_t leaf = 0; leaf < leaf_count; ++leaf) {
    const Sum* const sums = &sums_[leaf * bins];
    Sum all;
    for (std::size_t b = 0; b < bins; ++b) all.residual += sums[b].residual, all.weight += sums[b].weight;
    if (all.weight <= 0.0) continue;
    Sum left;
    double parted = all.residual * all.residual / (all.weight + lambda_);
    for (std::size_t t = 0; t < threshold_count; ++t) {
      if (sums[t].weight > 0.0) {  // else the threshold parts them as the one before
        left.residual += sums[t].residual;
        left.weight += sums[t].weight;
        const double right = all.residual - left.residual;
        parted = left.residual * left.residual / (left.weight + lambda_) +
                 right * right / (std::max(0.0, all.weight - left.weight) + lambda_);
      }
      scores_[t] += parted;
    }
  }
}

Question Boosting::best_question(std::size_t leaf_count) {
  draw_columns();
  Question best;
  for (std::size_t i = 0; i < drawn_; ++i) {
    const Column& column = columns_[order_[i]];
    if (column.thresholds.empty()) continue;
    count(column, leaf_count);
    score(column.thresholds.size(), leaf_count);
    const auto at = std::max_element(scores_.begin(), scores_.end());
    if (*at > best.score) best = {order_[i], static_cast<std::size_t>(at - scores_.begin()), *at};
  }
  return best;
}

void Boosting::part(const Question& question) {
  const std::vector<std::uint8_t>& bins = columns_[question.feature].bins;
  for (std::size_t r = 0; r < leaves_.size(); ++r)
    leaves_[r] = 2 * leaves_[r] + (bins[r] > question.threshold ? 1U : 0U);
}

// Each leaf's share of its mean residual, as far as it counts, which its rows are rid of.
std::vector<float> Boosting::answers(std::size_t leaf_count) {
  std::vector<Sum> sums(leaf_count);
  for (std::size_t r = 0; r < leaves_.size(); ++r) {
    sums[leaves_[r]].residual += weighted_[r];
    sums[leaves_[r]].weight += weights_[r];
  }
  std::vector<float> out;
  out.reserve(sums.size());
  for (const Sum& sum : sums)
    out.push_back(sum.weight > 0.0 ? static_cast<float>(options_.eta * sum.residual / (sum.weight + lambda_)) : 0.0F);
  for (std::size_t r = 0; r < leaves_.size(); ++r) residuals_[r] -= static_cast<double>(out[leaves_[r]]);
  return out;
}

Tree Boosting::grow() {
  std::fill(leaves_.begin(), leaves_.end(), 0U);
  std::transform(
      weights_.begin(), weights_.end(), residuals_.begin(), weighted_.begin(),
      [&](double weight, double residual) { return weight * std::clamp(residual, -options_.huber, options_.huber); });
  Tree tree;
  std::size_t leaf_count = 1;
  double reached = 0.0;
  for (int level = 0; level < options_.depth; ++level) {
    const Question question = best_question(leaf_count);
    if (!(question.score > reached)) break;
    reached = question.score;
    part(question);
    const auto first = static_cast<std::uint32_t>(2 * leaf_count - 1);  // node i of a binary heap, from 0
    for (std::uint32_t i = 0; i < leaf_count; ++i) {
      tree.nodes.push_back({.value = columns_[question.feature].thresholds[question.threshold],
                            .feature = static_cast<std::uint32_t>(question.feature),
                            .left = first + 2 * i,
                            .right = first + 2 * i + 1,
                            .default_left = true});
    }
    leaf_count *= 2;
  }
  for (const float answer : answers(leaf_count)) tree.nodes.push_back({.value = answer});
  return tree;
}

}  // namespace

Result<Forest> fit_symmetric(const TrainingSet& set, std::span<const std::string_view> names,
                             const SymmetricOptions& options) {
  JC_CHECK(options.lambda > 0.0 && options.huber > 0.0 && options.thresholds <= 255 &&
               options.depth <= static_cast<int>(kMaxTreeDepth),
           "trees of no pack");
  if (set.rows() == 0) return invalid("no rows to fit");
  const auto finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(set.targets.begin(), set.targets.end(), finite) ||
      !std::all_of(set.weights.begin(), set.weights.end(), finite))
    return invalid("a target or weight that is no number");
  Boosting boosting(set, options);
  Forest out;
  out.features.assign(names.begin(), names.end());
  out.base = boosting.base();
  for (int round = 0; round < options.rounds; ++round) out.trees.push_back(boosting.grow());
  return out;
}

}  // namespace joulecast
