// SPDX-License-Identifier: Apache-2.0
// Regression forests: as they are fitted (Forest) and as they are evaluated (ForestView, over one flat image).
//
//   JC_ASSIGN_OR_RETURN(ForestImage image, lay_out(forest));
//   JC_ASSIGN_OR_RETURN(ForestView view, ForestView::over(image.bytes()));
//   view.predict(features, rows, out);   // features: row-major [rows, view.feature_count()]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/result.h"

namespace joulecast {

// A split (left != 0) or a leaf. A row goes left where its feature < value; a missing (NaN) feature goes left where
// default_left. Node 0 is the root; children come after their parents.
struct TreeNode {
  float value = 0.0F;  // threshold of a split, output of a leaf
  std::uint32_t feature = 0;
  std::uint32_t left = 0, right = 0;
  bool default_left = false;

  bool operator==(const TreeNode&) const = default;
};

struct Tree {
  std::vector<TreeNode> nodes;

  bool operator==(const Tree&) const = default;
};

// Output: base + leaf of tree 0 + leaf of tree 1 + ..., each step rounded to float (as XGBoost sums).
struct Forest {
  std::vector<std::string> features;  // names, each once
  float base = 0.0F;
  std::vector<Tree> trees;

  bool operator==(const Forest&) const = default;
};

inline constexpr std::size_t kMaxForestFeatures = 256;
inline constexpr std::uint32_t kMaxTreeDepth = 12;

// Checks what a Forest must hold: names, finite values, nodes that form a tree no deeper than kMaxTreeDepth.
Result<void> validate(const Forest& forest);

// The slow obvious evaluation of one row, node by node. Requires: validate(forest), one feature per name.
float predict(const Forest& forest, std::span<const float> features);

// The flat form of a forest (layout: docs/formats/pack.md), aligned for any view over it.
class ForestImage {
 public:
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

 private:
  friend Result<ForestImage> lay_out(const Forest& forest);
  std::vector<std::uint64_t> words_;
};

// Errors: those of validate().
Result<ForestImage> lay_out(const Forest& forest);

// How rows are walked. Both give the same bits; kAvx2 needs the processor to have it.
enum class TreeWalk : std::uint8_t { kPortable, kAvx2 };
bool available(TreeWalk walk);

// A forest's image, checked once and then evaluated in place. The bytes must outlive it. Safe to share among threads.
class ForestView {
 public:
  // Errors: kInvalidInput for anything that does not fit the layout. Never reads outside `image`, nor will predict().
  // Requires: nothing of the contents; the address must be a multiple of 8 (it is an error otherwise).
  static Result<ForestView> over(std::span<const std::byte> image);

  [[nodiscard]] std::size_t feature_count() const { return feature_count_; }
  [[nodiscard]] std::size_t tree_count() const { return trees_.size(); }
  [[nodiscard]] float base() const { return base_; }
  // In the order predict() wants them.
  [[nodiscard]] std::vector<std::string_view> feature_names() const;

  // One output a row. `features` is row-major [rows, columns] with columns = features.size() / rows, of which the first
  // feature_count() are read; NaN is "missing".
  // Requires: columns is whole and at least feature_count(), out.size() == rows.
  void predict(std::span<const float> features, std::size_t rows, std::span<float> out) const;
  // Requires also: available(walk).
  void predict(std::span<const float> features, std::size_t rows, std::span<float> out, TreeWalk walk) const;

  // Where one tree lies in `words`, and how many splits lie on every way from its root to a leaf (layout.h: what says
  // that it is symmetric stands beside them).
  struct TreePlace {
    std::uint32_t first_word;
    std::uint32_t depth;
  };

 private:
  std::size_t feature_count_ = 0;
  float base_ = 0.0F;
  bool symmetric_ = false;
  std::string_view names_;
  std::span<const TreePlace> trees_;
  std::span<const std::uint32_t> words_;
};

}  // namespace joulecast
