// SPDX-License-Identifier: Apache-2.0
// The ways through a laid-out forest. All give the same bits.
#pragma once

#include "predict/trees/forest.h"

namespace joulecast {

// A checked forest, as the walks need it.
struct WalkInput {
  std::size_t feature_count;
  float base;
  std::span<const ForestView::TreePlace> trees;
  std::span<const std::uint32_t> words;
};

// Features are row-major, rows of the same length, whose first feature_count are read. Requires: a row.
// The slow obvious one: row by row, tree by tree.
void walk_portable(const WalkInput& forest, std::span<const float> features, std::span<float> out);

// Eight rows at a time. Requires: available(TreeWalk::kAvx2).
void walk_avx2(const WalkInput& forest, std::span<const float> features, std::span<float> out);

}  // namespace joulecast
