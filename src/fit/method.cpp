// SPDX-License-Identifier: Apache-2.0
#include "fit/method.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fit/power_law_fit.h"
#include "fit/random_trees.h"

namespace joulecast {
namespace {

constexpr std::array<std::pair<Method, std::string_view>, kMethods> kNames{{{Method::kOurs, "ours"},
                                                                            {Method::kPhysics, "physics"},
                                                                            {Method::kRandomForest, "random-forest"},
                                                                            {Method::kExtraTrees, "extra-trees"},
                                                                            {Method::kBoosting, "boosting"}}};

// As many trees and as deep as a pack can hold without growing to hundreds of megabytes: a tree of 12 levels takes
// 48 KiB there.
RandomTreesOptions pack_forest(SplitChoice split) {
  return {.trees = 64,
          .split = split,
          .bootstrap = split == SplitChoice::kBest,
          .columns = 0.6,
          .min_leaf = 2,
          .depth = kMaxTreeDepth};
}

Result<Forest> random_forest(SplitChoice split, const TrainingSet& set, std::span<const std::string_view> names) {
  JC_ASSIGN_OR_RETURN(const RandomTrees trees, RandomTrees::grow(set, pack_forest(split)));
  return trees.forest(names);
}

Forest without_trees(std::span<const std::string_view> names) {
  Forest out;
  out.features.assign(names.begin(), names.end());
  return out;
}

std::size_t place_of(std::span<const std::string_view> names, std::string_view wanted) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), wanted) - names.begin());
}

// slope * x for x in [0, 1], in 2^kStairDepth steps; the last goes on for all larger x.
constexpr std::uint32_t kStairDepth = 8;
Tree staircase(std::size_t feature, double slope) {
  constexpr std::uint32_t kSteps = 1U << kStairDepth;
  Tree tree;
  tree.nodes.resize(2 * kSteps - 1);  // node i of a binary heap, from 0
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    std::uint32_t first = i + 1;
    std::uint32_t width = 1;  // steps below the node
    while (first < kSteps) first *= 2, width *= 2;
    first -= kSteps;
    const double middle = first + width / 2.0;
    if (width == 1) {
      tree.nodes[i].value = static_cast<float>(slope * middle / kSteps);
    } else {
      tree.nodes[i] = {.value = static_cast<float>(middle / kSteps),
                       .feature = static_cast<std::uint32_t>(feature),
                       .left = 2 * i + 1,
                       .right = 2 * i + 2};
    }
  }
  return tree;
}

}  // namespace

std::string_view name(Method method) {
  return kNames[static_cast<std::size_t>(method)].second;
}

std::optional<Method> parse_method(std::string_view text) {
  for (const auto& [method, word] : kNames) {
    if (word == text) return method;
  }
  return std::nullopt;
}

Result<Forest> learn_time(Method method, const TrainingSet& set, std::span<const std::string_view> names,
                          const TreeOptions& trees) {
  switch (method) {
    case Method::kPhysics:
      return without_trees(names);
    case Method::kRandomForest:
      return random_forest(SplitChoice::kBest, set, names);
    case Method::kExtraTrees:
      return random_forest(SplitChoice::kRandom, set, names);
    case Method::kOurs:
      if (trees.symmetric) return fit_symmetric(set, names, *trees.symmetric);
      break;
    case Method::kBoosting:
      break;
  }
  return fit_forest(set, names, trees.boosting);
}

Result<Forest> learn_power(Method method, const TrainingSet& set, std::span<const std::string_view> names,
                           const TreeOptions& trees) {
  if (method == Method::kPhysics) return fit_power_law(set, names);
  return learn_time(method, set, names, trees);
}

Forest fit_power_law(const TrainingSet& set, std::span<const std::string_view> names) {
  const std::size_t compute = place_of(names, "busy_compute");
  const std::size_t memory = place_of(names, "busy_memory");
  std::vector<BusyRow> rows;
  for (std::size_t i = 0; i < set.rows(); ++i) {
    const float* row = &set.features[i * set.width];
    rows.push_back(
        {.physics = {.compute = static_cast<double>(row[compute]), .memory = static_cast<double>(row[memory])},
         .time = 1.0,  // the columns are shares of it
         .share = static_cast<double>(set.targets[i]),
         .weight = static_cast<double>(set.weights[i])});
  }
  const PowerLaw law = least_squares_law(rows);
  Forest out = without_trees(names);
  out.trees = {staircase(compute, law.compute), staircase(memory, law.memory)};
  return out;
}

}  // namespace joulecast
