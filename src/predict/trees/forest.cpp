// SPDX-License-Identifier: Apache-2.0
#include "predict/trees/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "predict/trees/layout.h"
#include "predict/trees/symmetric.h"

namespace joulecast {
namespace {

using namespace forest_layout;

Result<void> check_names(const std::vector<std::string>& names) {
  if (names.empty() || names.size() > kMaxForestFeatures) {
    return invalid(fmt::format("{} features; expected 1 to {}", names.size(), kMaxForestFeatures));
  }
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty() || name.find('\n') != std::string::npos) {
      return invalid(fmt::format("'{}' cannot name a feature", name));
    }
    if (!seen.insert(name).second) return invalid(fmt::format("feature '{}' is there twice", name));
  }
  return {};
}

Result<void> check_node(const Tree& tree, std::size_t i, std::size_t feature_count) {
  const TreeNode& node = tree.nodes[i];
  if (!std::isfinite(node.value)) return invalid(fmt::format("node {} holds {}", i, node.value));
  if (node.left == 0) return {};
  if (node.feature >= feature_count) return invalid(fmt::format("node {} splits on feature {}", i, node.feature));
  if (node.left <= i || node.right <= i || node.left >= tree.nodes.size() || node.right >= tree.nodes.size()) {
    return invalid(fmt::format("node {} has children {} and {}", i, node.left, node.right));
  }
  return {};
}

// Splits on the longest way from the root. Children come after their parents, so one pass from the end is enough.
std::uint32_t depth(const Tree& tree) {
  std::vector<std::uint32_t> below(tree.nodes.size(), 0);
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const TreeNode& node = tree.nodes[i];
    if (node.left != 0) below[i] = 1 + std::max(below[node.left], below[node.right]);
  }
  return below.front();
}

Result<void> check_tree(const Tree& tree, std::size_t feature_count) {
  if (tree.nodes.empty()) return invalid("has no node");
  if (tree.nodes.size() > tree_words(kMaxTreeDepth)) return invalid(fmt::format("has {} nodes", tree.nodes.size()));
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) JC_RETURN_IF_ERROR(check_node(tree, i, feature_count));
  const std::uint32_t deep = depth(tree);
  if (deep > kMaxTreeDepth) return unsupported(fmt::format("is {} deep; at most {}", deep, kMaxTreeDepth));
  return {};
}

// Writes one tree into its words, filling up below early leaves.
class TreeWriter {
 public:
  TreeWriter(const Tree& tree, std::uint32_t depth, std::uint32_t* words)
      : tree_(tree), first_leaf_(std::size_t{1} << depth), values_(words), slots_(words + value_words(depth)) {}

  void write(const TreeNode& node, std::size_t at) {  // NOLINT(misc-no-recursion): at most kMaxTreeDepth deep
    values_[at] = std::bit_cast<std::uint32_t>(node.value);
    if (at >= first_leaf_) return;
    const bool leaf = node.left == 0;
    slots_[at] = leaf ? 0 : slot(node.feature, node.default_left);
    write(leaf ? node : tree_.nodes[node.left], 2 * at);
    write(leaf ? node : tree_.nodes[node.right], 2 * at + 1);
  }

 private:
  const Tree& tree_;
  std::size_t first_leaf_;
  std::uint32_t* values_;
  std::uint32_t* slots_;
};

std::size_t aligned(std::size_t size) {
  return (size + kTreeAlignment - 1) / kTreeAlignment * kTreeAlignment;
}

// The header of a forest whose trees take `word_count` words.
Header header_of(const Forest& forest, std::size_t names_size, std::size_t word_count) {
  const std::size_t trees_end = sizeof(Header) + forest.trees.size() * sizeof(ForestView::TreePlace);
  return {.feature_count = static_cast<std::uint32_t>(forest.features.size()),
          .tree_count = static_cast<std::uint32_t>(forest.trees.size()),
          .base = forest.base,
          .names_size = static_cast<std::uint32_t>(names_size),
          .names_offset = static_cast<std::uint32_t>(trees_end),
          .trees_offset = sizeof(Header),
          .words_offset = static_cast<std::uint32_t>(aligned(trees_end + names_size)),
          .word_count = static_cast<std::uint32_t>(word_count)};
}

}  // namespace

Result<void> validate(const Forest& forest) {
  JC_RETURN_IF_ERROR(check_names(forest.features));
  if (!std::isfinite(forest.base)) return invalid(fmt::format("the base is {}", forest.base));
  if (forest.trees.size() > 100'000) return unsupported(fmt::format("{} trees", forest.trees.size()));
  for (std::size_t i = 0; i < forest.trees.size(); ++i) {
    if (auto ok = check_tree(forest.trees[i], forest.features.size()); !ok) {
      return tl::unexpected(std::move(ok).error().in(fmt::format("tree {}", i)));
    }
  }
  return {};
}

float predict(const Forest& forest, std::span<const float> features) {
  float sum = forest.base;
  for (const Tree& tree : forest.trees) {
    const TreeNode* node = tree.nodes.data();
    while (node->left != 0) {
      const float x = features[node->feature];
      const bool left = std::isnan(x) ? node->default_left : x < node->value;
      node = &tree.nodes[left ? node->left : node->right];
    }
    sum += node->value;
  }
  return sum;
}

namespace {

// The trees of a forest as they lie in its image.
struct Laid {
  std::vector<ForestView::TreePlace> places;
  std::vector<std::uint32_t> words;
};

Laid lay_out_trees(const Forest& forest) {
  if (const auto symmetric = symmetric_form(forest); symmetric && !forest.trees.empty()) {
    SymmetricImage image = lay_out(*symmetric);
    return {std::move(image.trees), std::move(image.words)};
  }
  Laid out;
  std::size_t word_count = 0;
  for (const Tree& tree : forest.trees) {
    const std::uint32_t deep = std::max(depth(tree), kMinStoredDepth);
    out.places.push_back({static_cast<std::uint32_t>(word_count), deep});
    word_count += tree_words(deep);
  }
  out.words.resize(word_count);
  for (std::size_t i = 0; i < out.places.size(); ++i) {
    const auto [first, deep] = out.places[i];
    TreeWriter(forest.trees[i], deep, &out.words[first]).write(forest.trees[i].nodes[0], 1);
  }
  return out;
}

// Of all trees, however they are laid out: not more than this is written.
std::size_t most_words(const Forest& forest) {
  std::size_t out = 0;
  for (const Tree& tree : forest.trees) out += tree_words(std::max(depth(tree), kMinStoredDepth));
  return out;
}

}  // namespace

Result<ForestImage> lay_out(const Forest& forest) {
  JC_RETURN_IF_ERROR(validate(forest));
  std::string names;
  for (const std::string& name : forest.features) names += (names.empty() ? "" : "\n") + name;
  if (const std::size_t most = most_words(forest); most > (std::size_t{1} << 28))
    return unsupported(fmt::format("the trees take {} words", most));
  const auto [places, words] = lay_out_trees(forest);
  const Header header = header_of(forest, names.size(), words.size());
  ForestImage image;
  image.words_.assign((header.words_offset + words.size() * sizeof(std::uint32_t)) / sizeof(std::uint64_t), 0);
  auto* const bytes = reinterpret_cast<std::byte*>(image.words_.data());
  std::memcpy(bytes, &header, sizeof(header));
  std::memcpy(bytes + header.names_offset, names.data(), names.size());
  if (!places.empty()) {
    std::memcpy(bytes + header.trees_offset, places.data(), places.size() * sizeof(places[0]));
    std::memcpy(bytes + header.words_offset, words.data(), words.size() * sizeof(words[0]));
  }
  return image;
}

}  // namespace joulecast
