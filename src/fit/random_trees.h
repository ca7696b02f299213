// SPDX-License-Identifier: Apache-2.0
// Averages of many independent regression trees: random forests (Breiman, Machine Learning 45, 2001) and extremely
// randomised trees (Geurts, Ernst, Wehenkel, Machine Learning 63, 2006). What is not said is as in scikit-learn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "fit/booster.h"
#include "joulecast/result.h"
#include "predict/trees/forest.h"

namespace joulecast {

enum class SplitChoice : std::uint8_t {
  kBest,    // of all thresholds of a feature the one that leaves the least squared error
  kRandom,  // one threshold a feature, drawn between its least and its greatest value
};

struct RandomTreesOptions {
  int trees = 100;
  SplitChoice split = SplitChoice::kBest;
  bool bootstrap = true;     // a tree sees as many rows as there are, drawn with replacement
  double columns = 1.0;      // share of the features that a split chooses from
  std::size_t min_leaf = 1;  // rows of a leaf
  std::uint32_t depth = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t seed = 1;
  unsigned threads = 0;  // 0: one a core; the trees are the same whatever it is
};

class RandomTrees {
 public:
  // Errors: kInvalidInput for no rows, and for features, targets or weights that are no numbers.
  static Result<RandomTrees> grow(const TrainingSet& set, const RandomTreesOptions& options);

  [[nodiscard]] const std::vector<Tree>& trees() const { return trees_; }
  // The mean of the trees. Requires: one feature a column of the set.
  [[nodiscard]] double predict(std::span<const float> features) const;
  // The same as a sum, as packs have it: each leaf is divided by the number of trees.
  // Requires: one name a column of the set. Trees deeper than kMaxTreeDepth fit no pack.
  [[nodiscard]] Forest forest(std::span<const std::string_view> names) const;

 private:
  std::vector<Tree> trees_;
};

}  // namespace joulecast
