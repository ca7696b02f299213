// SPDX-License-Identifier: Apache-2.0
#include "predict/trees/forest.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "predict/trees/layout.h"
#include "predict/trees/random_forest.h"
#include "predict/trees/symmetric.h"

namespace joulecast {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

TreeNode split(std::uint32_t feature, float threshold, std::uint32_t left, std::uint32_t right, bool default_left) {
  return {.value = threshold, .feature = feature, .left = left, .right = right, .default_left = default_left};
}
TreeNode leaf(float value) {
  return {.value = value};
}

// size < 4 ? (speed < 1 ? 10 : 20) : 30, and a tree that is a single leaf.
Forest example() {
  return {.features = {"size", "speed"},
          .base = 0.5F,
          .trees = {{{split(0, 4.0F, 1, 2, true), split(1, 1.0F, 3, 4, false), leaf(30.0F), leaf(10.0F), leaf(20.0F)}},
                    {{leaf(0.25F)}}}};
}

float evaluate(const Forest& forest, const std::vector<float>& row, TreeWalk walk) {
  const auto image = lay_out(forest);
  const auto view = ForestView::over(image->bytes());
  float out = 0.0F;
  view->predict(row, 1, {&out, 1}, walk);
  return out;
}

class Walks : public testing::TestWithParam<TreeWalk> {
 protected:
  void SetUp() override {
    if (!available(GetParam())) GTEST_SKIP() << "this processor has no AVX2";
  }
};
INSTANTIATE_TEST_SUITE_P(, Walks, testing::Values(TreeWalk::kPortable, TreeWalk::kAvx2));

TEST_P(Walks, GoesLeftBelowTheThresholdOnly) {
  EXPECT_EQ(evaluate(example(), {3.0F, 0.0F}, GetParam()), 10.75F);
  EXPECT_EQ(evaluate(example(), {3.0F, 1.0F}, GetParam()), 20.75F);  // equal goes right
  EXPECT_EQ(evaluate(example(), {4.0F, 0.0F}, GetParam()), 30.75F);
}

TEST_P(Walks, AMissingFeatureGoesTheDefaultWay) {
  EXPECT_EQ(evaluate(example(), {kMissing, 0.0F}, GetParam()), 10.75F);
  EXPECT_EQ(evaluate(example(), {3.0F, kMissing}, GetParam()), 20.75F);
}

TEST_P(Walks, InfinitiesAreOrdinaryValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(evaluate(example(), {kInfinity, 0.0F}, GetParam()), 30.75F);
  EXPECT_EQ(evaluate(example(), {-kInfinity, -kInfinity}, GetParam()), 10.75F);
}

// Rows that do not fill the last block, features that do not fill the last group of eight.
void expect_same_bits(const Forest& forest, RandomForest& random, TreeWalk walk) {
  const std::size_t features = forest.features.size();
  const auto image = lay_out(forest);
  const auto view = ForestView::over(image->bytes());
  ASSERT_TRUE(view) << view.error().text();
  for (const std::size_t rows : {0U, 1U, 2U, 3U, 8U, 9U, 27U, 32U, 34U, 70U}) {
    const std::vector<float> x = random.rows(features, rows);
    std::vector<float> out(rows);
    view->predict(x, rows, out, walk);
    for (std::size_t i = 0; i < rows; ++i) {
      const float expected = predict(forest, std::span(x).subspan(i * features, features));
      ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(expected))
          << features << " features, row " << i << " of " << rows;
    }
  }
}

TEST_P(Walks, SameBitsAsTheForestItself) {
  for (std::uint32_t depth = 0; depth <= kMaxTreeDepth; ++depth) {
    SCOPED_TRACE(depth);
    for (const std::size_t features : {1U, 7U, 8U, 13U, 40U}) {
      RandomForest random(depth * 100 + static_cast<std::uint32_t>(features));
      expect_same_bits(random.forest(features, 9, depth), random, GetParam());
    }
  }
}

// Of one depth, of several, and deeper than their own layout allows.
TEST_P(Walks, SameBitsOfSymmetricTrees) {
  for (std::uint32_t depth = 0; depth <= kMaxTreeDepth; ++depth) {
    SCOPED_TRACE(depth);
    for (const std::size_t features : {1U, 7U, 8U, 13U, 40U}) {
      RandomForest random(depth * 100 + static_cast<std::uint32_t>(features));
      Forest forest = random.symmetric(features, 9, depth);
      EXPECT_EQ(symmetric_form(forest).has_value(), depth <= forest_layout::kMaxSymmetricDepth);
      expect_same_bits(forest, random, GetParam());
      const Forest more = random.symmetric(features, 5, 3);
      forest.trees.insert(forest.trees.begin() + 4, more.trees.begin(), more.trees.end());
      expect_same_bits(forest, random, GetParam());
    }
  }
}

// Rows may be longer than what the forest reads: two forests share them, the second seeing more.
TEST_P(Walks, ReadsTheFrontOfLongerRows) {
  RandomForest random(7);
  const Forest forest = random.forest(13, 9, 6);
  const auto image = lay_out(forest);
  const auto view = ForestView::over(image->bytes());
  const std::vector<float> x = random.rows(21, 11);
  std::vector<float> out(11);
  view->predict(x, 11, out, GetParam());
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], predict(forest, std::span(x).subspan(i * 21, 13)));
}

TEST(Forest, TheLargestNumberOfFeaturesFits) {
  RandomForest random(5);
  expect_same_bits(random.symmetric(kMaxForestFeatures, 3, 6), random, TreeWalk::kPortable);
  if (available(TreeWalk::kAvx2)) expect_same_bits(random.symmetric(kMaxForestFeatures, 3, 6), random, TreeWalk::kAvx2);
  const Forest forest = random.forest(kMaxForestFeatures, 3, 6);
  const std::vector<float> x = random.rows(kMaxForestFeatures, 3);
  const auto image = lay_out(forest);
  const auto view = ForestView::over(image->bytes());
  std::vector<float> out(3);
  view->predict(x, 3, out);
  EXPECT_EQ(out[2], predict(forest, std::span(x).subspan(2 * kMaxForestFeatures)));
}

TEST(Forest, ViewKnowsTheNames) {
  const auto image = lay_out(example());
  const auto view = ForestView::over(image->bytes());
  EXPECT_EQ(view->feature_names(), (std::vector<std::string_view>{"size", "speed"}));
  EXPECT_EQ(view->feature_count(), 2U);
  EXPECT_EQ(view->tree_count(), 2U);
}

TEST(Forest, WithoutTreesIsItsBase) {
  EXPECT_EQ(evaluate({.features = {"x"}, .base = 2.0F, .trees = {}}, {1.0F}, TreeWalk::kPortable), 2.0F);
}

TEST(Forest, RefusesWhatIsNoForest) {
  const auto refused = [](auto change) {
    Forest forest = example();
    change(forest);
    return !validate(forest).has_value() && !lay_out(forest).has_value();
  };
  EXPECT_FALSE(refused([](Forest&) {}));
  EXPECT_TRUE(refused([](Forest& f) { f.features.clear(); }));
  EXPECT_TRUE(refused([](Forest& f) { f.features[1] = "size"; }));
  EXPECT_TRUE(refused([](Forest& f) { f.features[1] = "a\nb"; }));
  EXPECT_TRUE(refused([](Forest& f) { f.base = kMissing; }));
  EXPECT_TRUE(refused([](Forest& f) { f.trees[1].nodes.clear(); }));
  EXPECT_TRUE(refused([](Forest& f) { f.trees[0].nodes[0].value = kMissing; }));
  EXPECT_TRUE(refused([](Forest& f) { f.trees[0].nodes[0].feature = 2; }));
  EXPECT_TRUE(refused([](Forest& f) { f.trees[0].nodes[1].left = 1; }));   // a loop
  EXPECT_TRUE(refused([](Forest& f) { f.trees[0].nodes[1].right = 5; }));  // not there
}

TEST(Forest, RefusesTreesTooDeep) {
  Tree chain;
  for (std::uint32_t i = 0; i <= kMaxTreeDepth; ++i) {
    chain.nodes.push_back(split(0, 1.0F, 2 * i + 1, 2 * i + 2, false));
    chain.nodes.push_back(leaf(0.0F));
  }
  chain.nodes.push_back(leaf(0.0F));
  // Split i is node 2i: its left child, the next node, is a leaf, its right child the next split.
  const auto ok = validate({.features = {"x"}, .base = 0.0F, .trees = {chain}});
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().code(), ErrorCode::kUnsupported);
}

// Whatever single word of an image is replaced, a view over it is refused or stays inside (the sanitizers watch).
void expect_no_damage_leads_outside(const Forest& forest) {
  const auto image = lay_out(forest);
  const std::vector<float> x = RandomForest(2).rows(3, 8);
  std::vector<std::uint64_t> copy(image->bytes().size() / 8);
  for (std::size_t at = 0; at < image->bytes().size(); at += 4) {
    for (const std::uint32_t word : {0U, 1U, 8U, 48U, 0x7fU, 0x108U, 0x7fc00000U, 0x80000000U, 0xffffffffU}) {
      std::memcpy(copy.data(), image->bytes().data(), image->bytes().size());
      std::memcpy(reinterpret_cast<char*>(copy.data()) + at, &word, sizeof(word));
      const auto view = ForestView::over(std::as_bytes(std::span(copy)));
      if (!view || view->feature_count() != 3) continue;
      for (const std::size_t rows : {1U, 2U, 8U}) {  // few rows have walks of their own
        std::vector<float> out(rows);
        const auto first = std::span(x).first(3 * rows);
        view->predict(first, rows, out, TreeWalk::kPortable);
        if (available(TreeWalk::kAvx2)) view->predict(first, rows, out, TreeWalk::kAvx2);
      }
    }
  }
}

TEST(ForestView, NoDamageLeadsOutside) {
  expect_no_damage_leads_outside(RandomForest(1).forest(3, 2, 4));
  expect_no_damage_leads_outside(RandomForest(1).symmetric(3, 2, 4));
}

TEST(ForestView, RefusesEveryTruncation) {
  for (const Forest& forest : {example(), RandomForest(1).symmetric(3, 2, 2)}) {
    const auto image = lay_out(forest);
    const auto bytes = image->bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ForestView::over(bytes.first(size))) << size;
    }
    EXPECT_FALSE(ForestView::over(bytes.subspan(4)));  // not aligned
  }
}

// 255 thresholds of a feature at most: with one more the forest is laid out like any other.
TEST(SymmetricForest, HoldsAsManyThresholdsAsAByteCounts) {
  const auto of_thresholds = [](int count) {
    Forest forest{.features = {"x"}, .base = 0.0F, .trees = {}};
    for (int i = 0; i < count; ++i)
      forest.trees.push_back({{split(0, static_cast<float>(i), 1, 2, true), leaf(0.0F), leaf(1.0F)}});
    return forest;
  };
  EXPECT_TRUE(symmetric_form(of_thresholds(255)));
  EXPECT_FALSE(symmetric_form(of_thresholds(256)));
  for (const TreeWalk walk : {TreeWalk::kPortable, TreeWalk::kAvx2}) {
    if (!available(walk)) continue;
    EXPECT_EQ(evaluate(of_thresholds(255), {1000.0F}, walk), 255.0F);
    EXPECT_EQ(evaluate(of_thresholds(255), {126.5F}, walk), 127.0F);
    EXPECT_EQ(evaluate(of_thresholds(256), {1000.0F}, walk), 256.0F);
    const auto image = lay_out(of_thresholds(255));
    for (const std::size_t rows : {3U, 9U, 17U, 32U}) {  // blocks of each number
      std::vector<float> x(rows);
      for (std::size_t i = 0; i < rows; ++i) x[i] = 8.0F * static_cast<float>(i) + 0.5F;
      std::vector<float> out(rows);
      ForestView::over(image->bytes())->predict(x, rows, out, walk);
      for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(out[i], x[i] + 0.5F) << rows;
    }
  }
}

TEST(SymmetricForest, RefusesDepthsOfNoWalk) {
  Forest forest = RandomForest(1).symmetric(3, 4, 8);
  for (Tree& tree : forest.trees) {  // leaves that could be questions
    for (TreeNode& node : tree.nodes) node.value = node.left == 0 ? 0.0F : node.value;
  }
  const auto image = lay_out(forest);
  const auto refused = [&](std::size_t tree, std::uint32_t depth) {
    std::vector<std::uint64_t> words(image->bytes().size() / 8);
    std::memcpy(words.data(), image->bytes().data(), image->bytes().size());
    const std::size_t at = sizeof(forest_layout::Header) + tree * sizeof(ForestView::TreePlace) + sizeof(std::uint32_t);
    std::memcpy(reinterpret_cast<char*>(words.data()) + at, &depth, sizeof(depth));
    return !ForestView::over(std::as_bytes(std::span(words)));
  };
  EXPECT_FALSE(refused(0, forest_layout::kSymmetric + 8));
  EXPECT_TRUE(refused(0, forest_layout::kSymmetric + 9));
  EXPECT_TRUE(refused(0, 8));  // the others are symmetric
  EXPECT_TRUE(refused(1, 8));
}

// Also in those that a tree of this depth does not ask.
TEST(SymmetricForest, RefusesQuestionsAboutUnknownFeatures) {
  const auto image = lay_out(RandomForest(1).symmetric(3, 2, 2));
  forest_layout::Header header{};
  std::memcpy(&header, image->bytes().data(), sizeof(header));
  std::vector<std::uint64_t> copy(image->bytes().size() / sizeof(std::uint64_t));
  std::memcpy(copy.data(), image->bytes().data(), image->bytes().size());
  auto* const bytes = reinterpret_cast<char*>(copy.data());
  std::uint32_t first_word = 0;
  std::memcpy(&first_word, bytes + header.trees_offset, sizeof(first_word));
  for (std::size_t question = 0; question < forest_layout::kQuestionWords; ++question) {
    char* const at = bytes + header.words_offset + (first_word + question) * sizeof(std::uint32_t);
    std::uint32_t before = 0;
    std::memcpy(&before, at, sizeof(before));
    for (const std::uint32_t feature : {2U, 3U}) {
      const auto place = feature * static_cast<std::uint32_t>(forest_layout::kRowBytes);
      std::memcpy(at, &place, sizeof(place));
      EXPECT_EQ(ForestView::over(std::as_bytes(std::span(copy))).has_value(), feature == 2) << question;
    }
    std::memcpy(at, &before, sizeof(before));
  }
}

TEST(SymmetricForest, MissingThatGoesRightIsNotItsLayout) {
  Forest forest{.features = {"x"}, .base = 0.0F, .trees = {{{split(0, 1.0F, 1, 2, false), leaf(1.0F), leaf(2.0F)}}}};
  EXPECT_FALSE(symmetric_form(forest));
  EXPECT_EQ(evaluate(forest, {kMissing}, TreeWalk::kPortable), 2.0F);
}

}  // namespace
}  // namespace joulecast
