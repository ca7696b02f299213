// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "predict/trees/forest.h"
#include "predict/trees/layout.h"
#include "predict/trees/symmetric.h"
#include "predict/trees/walk.h"

namespace joulecast {
namespace {

using namespace forest_layout;

// `count` objects of type T at `offset`, or an error where they would leave the image.
template <typename T>
Result<std::span<const T>> part(std::span<const std::byte> image, std::size_t offset, std::size_t count,
                                std::string_view what) {
  const bool inside = offset <= image.size() && count <= (image.size() - offset) / sizeof(T);
  if (!inside || offset % alignof(T) != 0) return invalid(fmt::format("{} lie outside of the forest", what));
  return std::span<const T>(reinterpret_cast<const T*>(image.data() + offset), count);
}

Result<void> check_names(std::string_view names, std::size_t expected) {
  const auto separators = static_cast<std::size_t>(std::count(names.begin(), names.end(), '\n'));
  const bool gap = names.empty() || names.front() == '\n' || names.back() == '\n';
  if (expected < 1 || expected > kMaxForestFeatures || gap || names.find("\n\n") != std::string_view::npos ||
      separators + 1 != expected) {
    return invalid(fmt::format("{} feature names for {} features", gap ? 0 : separators + 1, expected));
  }
  return {};
}

Result<void> check_tree(const ForestView::TreePlace& place, std::span<const std::uint32_t> words,
                        std::size_t feature_count) {
  if (place.depth < kMinStoredDepth || place.depth > kMaxTreeDepth) {
    return invalid(fmt::format("is {} deep", place.depth));
  }
  const std::size_t size = tree_words(place.depth);
  if (place.first_word % kWordsPerAlignment != 0 || place.first_word > words.size() ||
      size > words.size() - place.first_word) {
    return invalid("lies outside of the forest");
  }
  const auto slots = words.subspan(place.first_word + value_words(place.depth), slot_words(place.depth));
  std::uint32_t highest = 0;
  std::uint32_t bits = 0;
  for (const std::uint32_t slot : slots) {
    highest = std::max(highest, slot);
    bits |= slot;
  }
  if (slot_feature(highest) >= feature_count || bits % kLanes != 0) return invalid("splits on an unknown feature");
  return {};
}

Result<void> check_trees(std::span<const ForestView::TreePlace> trees, std::span<const std::uint32_t> words,
                         std::size_t feature_count) {
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (auto ok = check_tree(trees[i], words, feature_count); !ok) {
      return tl::unexpected(std::move(ok).error().in(fmt::format("tree {}", i)));
    }
  }
  return {};
}

}  // namespace

Result<ForestView> ForestView::over(std::span<const std::byte> image) {
  if (reinterpret_cast<std::uintptr_t>(image.data()) % sizeof(std::uint64_t) != 0) {
    return invalid("the forest is not aligned in memory");
  }
  JC_ASSIGN_OR_RETURN(const auto headers, part<Header>(image, 0, 1, "its first bytes"));
  const Header& header = headers.front();
  JC_ASSIGN_OR_RETURN(const auto names, part<char>(image, header.names_offset, header.names_size, "feature names"));
  JC_ASSIGN_OR_RETURN(const auto trees, part<TreePlace>(image, header.trees_offset, header.tree_count, "trees"));
  JC_ASSIGN_OR_RETURN(const auto words, part<std::uint32_t>(image, header.words_offset, header.word_count, "nodes"));
  ForestView view;
  view.names_ = {names.data(), names.size()};
  JC_RETURN_IF_ERROR(check_names(view.names_, header.feature_count));
  if (!std::isfinite(header.base)) return invalid("the base of the forest is not a number");
  view.symmetric_ = !trees.empty() && (trees.front().depth & kSymmetric) != 0;
  JC_RETURN_IF_ERROR((view.symmetric_ ? check_symmetric : check_trees)(trees, words, header.feature_count));
  view.feature_count_ = header.feature_count;
  view.base_ = header.base;
  view.trees_ = trees;
  view.words_ = words;
  return view;
}

std::vector<std::string_view> ForestView::feature_names() const {
  std::vector<std::string_view> names;
  std::string_view rest = names_;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    names.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

void ForestView::predict(std::span<const float> features, std::size_t rows, std::span<float> out) const {
  predict(features, rows, out, available(TreeWalk::kAvx2) ? TreeWalk::kAvx2 : TreeWalk::kPortable);
}

void ForestView::predict(std::span<const float> features, std::size_t rows, std::span<float> out, TreeWalk walk) const {
  if (rows == 0) return;
  JC_CHECK(out.size() == rows && features.size() % rows == 0 && features.size() / rows >= feature_count_,
           "sizes of features and outputs differ");
  if (trees_.empty()) {
    std::fill(out.begin(), out.end(), base_);
    return;
  }
  const WalkInput input{feature_count_, base_, trees_, words_};
  if (walk == TreeWalk::kAvx2) {
    JC_CHECK(available(walk), "this processor has no AVX2");
    (symmetric_ ? walk_symmetric_avx2 : walk_avx2)(input, features, out);
  } else {
    (symmetric_ ? walk_symmetric_portable : walk_portable)(input, features, out);
  }
}

}  // namespace joulecast
