// SPDX-License-Identifier: Apache-2.0
// Gradient boosting of symmetric trees: all nodes of a level ask the same question, so a tree of depth d is d questions
// and 2^d answers (as in CatBoost: Prokhorenkova et al., "CatBoost: unbiased boosting with categorical features",
// NeurIPS 2018). Few rows say little about such a tree, which keeps it from learning single ones by heart, and a walk
// through it looks nothing up but its answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "fit/booster.h"
#include "joulecast/result.h"
#include "predict/trees/forest.h"

namespace joulecast {

struct SymmetricOptions {
  int rounds = 300;
  int depth = 6;  // 1 to kMaxTreeDepth
  double eta = 0.15;
  double columns = 0.5;  // share of the features that a level chooses from
  double lambda = 3.0;   // rows of mean weight with residual 0 that every leaf has besides its own
  double huber = kSquared;
  std::size_t thresholds = 127;  // of a feature at most, at equal shares of the rows; up to 255
  std::uint32_t seed = 1;
};

// One thread: the same rows give the same trees everywhere. A tree ends early where no question parts
// its rows any further. Missing features (NaN) count as smaller than all others. Errors: kInvalidInput for no rows, and
// for targets or weights that are no numbers.
Result<Forest> fit_symmetric(const TrainingSet& set, std::span<const std::string_view> names,
                             const SymmetricOptions& options);

}  // namespace joulecast
