// SPDX-License-Identifier: Apache-2.0
#include "predict/trees/symmetric.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

#include "predict/trees/layout.h"

namespace joulecast {
namespace {

using namespace forest_layout;

// The nodes of a level, left before right; empty below the leaves.
using LevelNodes = std::vector<std::uint32_t>;

LevelNodes below(const Tree& tree, const LevelNodes& nodes) {
  LevelNodes out;
  for (const std::uint32_t i : nodes) out.push_back(tree.nodes[i].left), out.push_back(tree.nodes[i].right);
  return out;
}

bool ask_the_same(const Tree& tree, const LevelNodes& nodes) {
  const TreeNode& first = tree.nodes[nodes.front()];
  return std::all_of(nodes.begin(), nodes.end(), [&](std::uint32_t i) {
    const TreeNode& node = tree.nodes[i];
    return (node.left != 0) == (first.left != 0) &&
           (first.left == 0 || (node.feature == first.feature && node.value == first.value && node.default_left));
  });
}

// Each level's nodes, the leaves last; nothing if it is not symmetric.
std::optional<std::vector<LevelNodes>> levels_of(const Tree& tree) {
  std::vector<LevelNodes> out{{0}};
  while (ask_the_same(tree, out.back())) {
    if (tree.nodes[out.back().front()].left == 0) return out;
    if (out.size() > kMaxSymmetricDepth) return std::nullopt;
    out.push_back(below(tree, out.back()));
  }
  return std::nullopt;
}

std::uint32_t number_of(const std::vector<float>& thresholds, float value) {
  return static_cast<std::uint32_t>(std::lower_bound(thresholds.begin(), thresholds.end(), value) - thresholds.begin());
}

SymmetricForest::Tree tree_of(const Tree& tree, const std::vector<LevelNodes>& levels,
                              const std::vector<std::vector<float>>& thresholds) {
  SymmetricForest::Tree out;
  for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
    const TreeNode& node = tree.nodes[levels[level].front()];
    out.levels.push_back({node.feature, number_of(thresholds[node.feature], node.value)});
  }
  for (const std::uint32_t leaf : levels.back()) out.leaves.push_back(tree.nodes[leaf].value);
  return out;
}

// Of all features, each threshold once.
std::vector<std::vector<float>> thresholds_of(const Forest& forest,
                                              const std::vector<std::vector<LevelNodes>>& levels) {
  std::vector<std::set<float>> sets(forest.features.size());
  for (std::size_t t = 0; t < levels.size(); ++t) {
    for (std::size_t level = 0; level + 1 < levels[t].size(); ++level) {
      const TreeNode& node = forest.trees[t].nodes[levels[t][level].front()];
      sets[node.feature].insert(node.value);
    }
  }
  std::vector<std::vector<float>> out;
  out.reserve(sets.size());
  for (const std::set<float>& set : sets) out.emplace_back(set.begin(), set.end());
  return out;
}

// So many that the thresholds of every feature and one place beyond them have numbers.
std::uint32_t steps_of(const SymmetricForest& forest) {
  std::size_t most = 1;
  for (const std::vector<float>& of_feature : forest.thresholds) most = std::max(most, of_feature.size());
  return static_cast<std::uint32_t>(std::bit_width(most));
}

std::uint32_t question(const SymmetricForest::Level& level) {
  const int biased = static_cast<int>(level.threshold) + 1 - kByteBias;
  return level.feature * static_cast<std::uint32_t>(kRowBytes) |
         static_cast<std::uint32_t>(static_cast<std::uint8_t>(biased)) << kPlaceBits;
}

void append(const SymmetricForest::Tree& tree, SymmetricImage& image) {
  const auto depth = static_cast<std::uint32_t>(tree.levels.size());
  image.trees.push_back({static_cast<std::uint32_t>(image.words.size()), depth | kSymmetric});
  for (std::uint32_t i = 0; i < kQuestionWords; ++i) image.words.push_back(i < depth ? question(tree.levels[i]) : 0);
  // Where left is 1 the leaves stand the other way round.
  for (auto leaf = tree.leaves.rbegin(); leaf != tree.leaves.rend(); ++leaf)
    image.words.push_back(std::bit_cast<std::uint32_t>(*leaf));
  while (image.words.size() % kWordsPerAlignment != 0) image.words.push_back(0);
}

}  // namespace

std::optional<SymmetricForest> symmetric_form(const Forest& forest) {
  std::vector<std::vector<LevelNodes>> levels;
  for (const Tree& tree : forest.trees) {
    auto of_tree = levels_of(tree);
    if (!of_tree) return std::nullopt;
    levels.push_back(std::move(*of_tree));
  }
  SymmetricForest out{.thresholds = thresholds_of(forest, levels), .trees = {}};
  if (steps_of(out) > kMaxSteps) return std::nullopt;
  for (std::size_t t = 0; t < levels.size(); ++t)
    out.trees.push_back(tree_of(forest.trees[t], levels[t], out.thresholds));
  return out;
}

SymmetricImage lay_out(const SymmetricForest& forest) {
  const std::uint32_t steps = steps_of(forest);
  SymmetricImage out;
  out.words.assign(kThresholdsFrom, 0);
  out.words[0] = steps;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& of_feature : forest.thresholds) {
    const std::size_t end = out.words.size() + (std::size_t{1} << steps);
    for (const float threshold : of_feature) out.words.push_back(std::bit_cast<std::uint32_t>(threshold));
    out.words.resize(end, std::bit_cast<std::uint32_t>(kInfinity));
  }
  while (out.words.size() % kWordsPerAlignment != 0) out.words.push_back(0);
  for (const SymmetricForest::Tree& tree : forest.trees) append(tree, out);
  return out;
}

Result<void> check_symmetric(std::span<const ForestView::TreePlace> trees, std::span<const std::uint32_t> words,
                             std::size_t feature_count) {
  if (words.size() < kThresholdsFrom || words[0] < 1 || words[0] > kMaxSteps)
    return invalid("thresholds of a byte are found in 1 to 8 steps");
  if ((words.size() - kThresholdsFrom) >> words[0] < feature_count)
    return invalid("thresholds lie outside of the forest");
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const std::uint32_t depth = trees[i].depth & ~kSymmetric;
    const auto wrong = [&](std::string_view what) { return invalid(fmt::format("tree {} {}", i, what)); };
    if ((trees[i].depth & kSymmetric) == 0) return wrong("is not symmetric as the others are");
    if (depth > kMaxSymmetricDepth) return wrong(fmt::format("is {} deep", depth));
    const std::size_t size = kQuestionWords + (std::size_t{1} << depth);
    if (trees[i].first_word > words.size() || size > words.size() - trees[i].first_word)
      return wrong("lies outside of the forest");
    // Those past the depth too: a walk may read all and use the answers of the first.
    for (const std::uint32_t word : words.subspan(trees[i].first_word, kQuestionWords)) {
      const std::uint32_t place = word & ((1U << kPlaceBits) - 1U);
      if (place % kRowBytes != 0 || place / kRowBytes >= feature_count) return wrong("splits on an unknown feature");
    }
  }
  return {};
}

namespace {

// How many thresholds lie at or below x, as a byte less 128. Missing: none.
std::int8_t byte_of(float x, std::span<const std::uint32_t> thresholds) {
  std::size_t at = 0;
  for (std::size_t step = thresholds.size() / 2; step > 0; step /= 2) {
    if (x >= std::bit_cast<float>(thresholds[at + step - 1])) at += step;
  }
  return static_cast<std::int8_t>(static_cast<int>(at) - kByteBias);
}

}  // namespace

void walk_symmetric_portable(const WalkInput& forest, std::span<const float> features, std::span<float> out) {
  const std::size_t columns = features.size() / out.size();
  const std::size_t thresholds = std::size_t{1} << forest.words[0];
  std::vector<std::int8_t> bytes(forest.feature_count);
  for (std::size_t row = 0; row < out.size(); ++row) {
    for (std::size_t f = 0; f < bytes.size(); ++f)
      bytes[f] =
          byte_of(features[row * columns + f], forest.words.subspan(kThresholdsFrom + f * thresholds, thresholds));
    float sum = forest.base;
    for (const auto& place : forest.trees) {
      const std::uint32_t depth = place.depth & ~kSymmetric;
      std::size_t leaf = 0;
      for (const std::uint32_t word : forest.words.subspan(place.first_word, depth)) {
        const std::int8_t byte = bytes[(word & ((1U << kPlaceBits) - 1U)) / kRowBytes];
        leaf = 2 * leaf + (static_cast<std::int8_t>(word >> kPlaceBits) > byte ? 1 : 0);
      }
      sum += std::bit_cast<float>(forest.words[place.first_word + kQuestionWords + leaf]);
    }
    out[row] = sum;
  }
}

}  // namespace joulecast
