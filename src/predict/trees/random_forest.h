// SPDX-License-Identifier: Apache-2.0
// Forests and rows for tests: random, the same on every machine.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "predict/trees/forest.h"

namespace joulecast {

class RandomForest {
 public:
  explicit RandomForest(std::uint32_t seed) : random_(seed) {}

  // Trees of at most `depth` splits, many of them with early leaves.
  Forest forest(std::size_t features, std::size_t trees, std::uint32_t depth) {
    Forest forest{.features = {}, .base = number(), .trees = {}};
    for (std::size_t i = 0; i < features; ++i) forest.features.push_back(fmt::format("feature {}", i));
    for (std::size_t i = 0; i < trees; ++i) forest.trees.push_back(tree(features, depth));
    return forest;
  }

  // The same, but all nodes of a level ask the same question, and a missing feature goes left.
  Forest symmetric(std::size_t features, std::size_t trees, std::uint32_t depth) {
    Forest forest = this->forest(features, 0, 0);
    for (std::size_t i = 0; i < trees; ++i) forest.trees.push_back(symmetric_tree(features, depth));
    return forest;
  }

  // Every seventh value or so is missing; many fall on a threshold exactly, since both are multiples of 1/8.
  std::vector<float> rows(std::size_t features, std::size_t count) {
    std::vector<float> values(features * count);
    for (float& value : values) value = below(7) == 0 ? std::numeric_limits<float>::quiet_NaN() : number();
    return values;
  }

 private:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  float number() { return (static_cast<float>(below(65)) - 32.0F) / 8.0F; }

  Tree tree(std::size_t features, std::uint32_t depth) {
    Tree tree;
    tree.nodes.push_back(leaf());
    std::vector<std::uint32_t> depths = {0};
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      if (depths[i] == depth || below(8) == 0) continue;
      const auto left = static_cast<std::uint32_t>(tree.nodes.size());
      tree.nodes[i] = {.value = number(),
                       .feature = below(static_cast<std::uint32_t>(features)),
                       .left = left,
                       .right = left + 1,
                       .default_left = below(2) == 0};
      for (int child = 0; child < 2; ++child) {
        tree.nodes.push_back(leaf());
        depths.push_back(depths[i] + 1);
      }
    }
    return tree;
  }
  Tree symmetric_tree(std::size_t features, std::uint32_t depth) {
    Tree tree;
    for (std::uint32_t level = 0; level < depth; ++level) {
      const TreeNode question{.value = number(),
                              .feature = below(static_cast<std::uint32_t>(features)),
                              .left = 1,
                              .right = 2,
                              .default_left = true};
      tree.nodes.insert(tree.nodes.end(), std::size_t{1} << level, question);
    }
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i)
      tree.nodes[i].left = 2 * i + 1, tree.nodes[i].right = 2 * i + 2;
    for (std::size_t i = 0; i < std::size_t{1} << depth; ++i) tree.nodes.push_back(leaf());
    return tree;
  }
  TreeNode leaf() {
    TreeNode node;
    node.value = number() / 7.0F;  // not a multiple of 1/8, so that sums have to round
    return node;
  }

  std::mt19937 random_;
};

}  // namespace joulecast
