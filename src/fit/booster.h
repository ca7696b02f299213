// SPDX-License-Identifier: Apache-2.0
// Gradient boosted trees, fitted by XGBoost through its C interface.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/result.h"
#include "predict/trees/forest.h"

namespace joulecast {

// Row-major features with one target and weight a row.
struct TrainingSet {
  std::size_t width = 0;
  std::vector<float> features, targets, weights;
  [[nodiscard]] std::size_t rows() const { return targets.size(); }
};

// Where the loss of a residual turns from its square to a straight line (P. J. Huber, "Robust estimation of a location
// parameter", 1964), in units of the targets: rows that are farther off pull no harder than one at that distance, so
// few of them do not move what a leaf says of the others. Every row keeps the curvature of the square, so steps are
// small and many. kSquared: squared error.
inline constexpr double kSquared = std::numeric_limits<double>::infinity();

// A share between 0 and 1 instead of a loss of the middle: trees say what so large a share of the rows is below (R.
// Koenker, G. Bassett, "Regression quantiles", 1978). Steps are of one size, however far off the rows are.
inline constexpr double kNoQuantile = 0.0;

struct BoosterOptions {
  int rounds = 128, depth = 6;
  double eta = 0.15, subsample = 0.8, columns = 0.4, min_child_weight = 3.0, lambda = 5.0;
  double huber = kSquared;
  double quantile = kNoQuantile;  // not together with `huber`
  std::uint32_t seed = 1;
};

// Histogram method, one thread: the same rows give the same trees everywhere.
// Errors: kInvalidInput for no rows, and with what XGBoost complains of, in one line.
Result<Forest> fit_forest(const TrainingSet& set, std::span<const std::string_view> names,
                          const BoosterOptions& options);

// "XGBoost 1.7.4": another one may fit otherwise.
std::string booster_version();

// Output of a forest for every row of the set.
Result<std::vector<float>> evaluate_forest(const Forest& forest, const TrainingSet& set);

}  // namespace joulecast
