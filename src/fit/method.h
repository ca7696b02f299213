// SPDX-License-Identifier: Apache-2.0
// What an estimator may be fitted with. All of them see the same rows, features and targets, and become forests of a
// pack.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fit/booster.h"
#include "fit/symmetric_trees.h"
#include "joulecast/result.h"
#include "predict/trees/forest.h"

namespace joulecast {

enum class Method : std::uint8_t {
  kOurs,          // boosting, of symmetric trees where these are better
  kPhysics,       // the bound alone; power by a law of two figures
  kRandomForest,  // the thesis' three, on our features and targets
  kExtraTrees,
  kBoosting,
};
inline constexpr std::size_t kMethods = 5;
std::string_view name(Method method);  // "ours", "physics", "random-forest", "extra-trees", "boosting"
std::optional<Method> parse_method(std::string_view text);

// What trees of a group are fitted with: ours are symmetric where that is said.
struct TreeOptions {
  BoosterOptions boosting;
  std::optional<SymmetricOptions> symmetric = {};
};

// Of log(time / bound). `trees` is the group's setting. Errors: those of fit_forest(), fit_symmetric() and
// RandomTrees::grow().
Result<Forest> learn_time(Method method, const TrainingSet& set, std::span<const std::string_view> names,
                          const TreeOptions& trees);
// Of the share of the power between waiting and limit. Requires: kPowerFeatures among the names.
Result<Forest> learn_power(Method method, const TrainingSet& set, std::span<const std::string_view> names,
                           const TreeOptions& trees);

// min(1, a busy_compute + b busy_memory) with the a and b, both of at least 0, that leave the least weighted squared
// error. As a forest: one staircase of 256 steps each. Requires: kPowerFeatures among the names.
Forest fit_power_law(const TrainingSet& set, std::span<const std::string_view> names);

}  // namespace joulecast
