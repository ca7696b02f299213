// SPDX-License-Identifier: Apache-2.0
// Forests all of whose trees are symmetric: every node of a level asks the same question. They have a layout of their
// own (docs/formats/pack.md): a feature becomes a byte once, the number of its thresholds that lie at or below it, and
// a tree then compares a byte a level for 32 rows at a time, or all of its bytes for one.
#pragma once

#include <optional>
#include <vector>

#include "predict/trees/forest.h"
#include "predict/trees/walk.h"

namespace joulecast {

// Thresholds of all features, and trees that name them by number.
struct SymmetricForest {
  struct Level {
    std::uint32_t feature = 0;
    std::uint32_t threshold = 0;  // right where the feature is at or above it
  };
  struct Tree {
    std::vector<Level> levels;
    std::vector<float> leaves;  // 2^levels, by the answers, those of the first level highest, 0 for left
  };
  std::vector<std::vector<float>> thresholds;  // [feature], ascending
  std::vector<Tree> trees;
};

// Nothing where a tree is not symmetric or its leaves are more than a byte counts, where a missing feature goes right,
// or where a feature has more thresholds than a byte counts. Requires: validate(forest).
std::optional<SymmetricForest> symmetric_form(const Forest& forest);

// The words of the image and where its trees lie in them.
struct SymmetricImage {
  std::vector<std::uint32_t> words;
  std::vector<ForestView::TreePlace> trees;
};
SymmetricImage lay_out(const SymmetricForest& forest);

// That nothing in these words leads outside of them.
Result<void> check_symmetric(std::span<const ForestView::TreePlace> trees, std::span<const std::uint32_t> words,
                             std::size_t feature_count);

// As the walks of walk.h.
void walk_symmetric_portable(const WalkInput& forest, std::span<const float> features, std::span<float> out);
void walk_symmetric_avx2(const WalkInput& forest, std::span<const float> features, std::span<float> out);

}  // namespace joulecast
