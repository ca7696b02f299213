// SPDX-License-Identifier: Apache-2.0
#include "fit/symmetric_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "fit/friedman.h"
#include "predict/trees/symmetric.h"

namespace joulecast {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr std::string_view kOne[] = {"x"};
constexpr std::string_view kTwo[] = {"x", "y"};

TrainingSet rows(std::size_t width, std::vector<float> features, std::vector<float> targets) {
  TrainingSet set{.width = width, .features = std::move(features), .targets = std::move(targets), .weights = {}};
  set.weights.assign(set.targets.size(), 1.0F);
  return set;
}

std::vector<float> learnt(const TrainingSet& set, std::span<const std::string_view> names, SymmetricOptions options) {
  options.columns = 1.0;
  return evaluate_forest(fit_symmetric(set, names, options).value(), set).value();
}

// The mean is 2.5, residuals -2.5, -2.5, 1.5, 3.5; cutting in the middle takes off most of their squares.
TEST(SymmetricTrees, OneQuestionByHand) {
  const TrainingSet set = rows(1, {3, 0, 2, 1}, {6, 0, 4, 0});
  const Forest forest =
      fit_symmetric(set, kOne, {.rounds = 1, .depth = 1, .eta = 1.0, .columns = 1.0, .lambda = 2.0}).value();
  EXPECT_EQ(forest.base, 2.5F);
  ASSERT_EQ(forest.trees.size(), 1U);
  const std::vector<TreeNode>& nodes = forest.trees[0].nodes;
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].value, 1.5F);
  EXPECT_EQ(nodes[1].value, -5.0F / 4.0F);  // two rows and two of lambda's
  EXPECT_EQ(nodes[2].value, 5.0F / 4.0F);
}

// The mean of weights is 2.5, so lambda's row weighs as much; the mean of targets (4 + 3 + 0 + 0) / 10.
TEST(SymmetricTrees, WeightsAndLambdaByHand) {
  TrainingSet set = rows(1, {0, 0, 1, 1}, {1, 1, 0, 0});
  set.weights = {4, 3, 1, 2};
  const Forest forest =
      fit_symmetric(set, kOne, {.rounds = 1, .depth = 1, .eta = 0.5, .columns = 1.0, .lambda = 1.0}).value();
  EXPECT_FLOAT_EQ(forest.base, 0.7F);
  EXPECT_FLOAT_EQ(forest.trees[0].nodes[1].value, 0.5F * 7.0F * 0.3F / (7.0F + 2.5F));
  EXPECT_FLOAT_EQ(forest.trees[0].nodes[2].value, 0.5F * 3.0F * -0.7F / (3.0F + 2.5F));
}

// As above with residuals cut at 2: -2, -2, 1.5, 2.
TEST(SymmetricTrees, HubersLossByHand) {
  const TrainingSet set = rows(1, {3, 0, 2, 1}, {6, 0, 4, 0});
  const Forest forest =
      fit_symmetric(set, kOne, {.rounds = 1, .depth = 1, .eta = 1.0, .columns = 1.0, .lambda = 2.0, .huber = 2.0})
          .value();
  EXPECT_EQ(forest.base, 2.5F);
  EXPECT_EQ(forest.trees[0].nodes[1].value, -4.0F / 4.0F);
  EXPECT_EQ(forest.trees[0].nodes[2].value, 3.5F / 4.0F);
}

TEST(SymmetricTrees, HubersLossIsNotDrawnByAnOutlier) {
  const TrainingSet set = rows(1, {0, 0, 0, 1, 1}, {2, 2, 50, 4, 4});
  const auto found = learnt(set, kOne, {.rounds = 2000, .depth = 1, .eta = 0.5, .lambda = 1e-6, .huber = 0.5});
  EXPECT_NEAR(found[0], 2.25F, 0.01F);  // (answer - 2) * 2 = 0.5
  EXPECT_NEAR(found[3], 4.0F, 0.01F);
}

TEST(SymmetricTrees, ALevelAsksOneQuestionAndTwoLevelsTellFourCornersApart) {
  const TrainingSet set = rows(2, {0, 0, 0, 1, 1, 0, 1, 1}, {1, 2, 4, 9});
  const auto found = learnt(set, kTwo, {.rounds = 1, .depth = 2, .eta = 1.0, .lambda = 1e-9});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], set.targets[i], 1e-6F) << i;
}

TEST(SymmetricTrees, EndEarlyWhereNothingIsLeftToAsk) {
  const TrainingSet set = rows(1, {0, 0, 1, 1}, {1, 1, 2, 2});
  const Forest forest = fit_symmetric(set, kOne, {.rounds = 2, .depth = 6, .eta = 1.0, .lambda = 1e-9}).value();
  EXPECT_EQ(forest.trees[0].nodes.size(), 3U);
  const TrainingSet alike = rows(1, {5, 5}, {1, 3});
  const Forest none = fit_symmetric(alike, kOne, {.rounds = 1}).value();
  ASSERT_EQ(none.trees[0].nodes.size(), 1U);
  EXPECT_EQ(none.base + none.trees[0].nodes[0].value, 2.0F);
}

TEST(SymmetricTrees, MissingCountsAsSmallest) {
  const TrainingSet set = rows(1, {kMissing, kMissing, 0, 1}, {8, 8, 1, 1});
  const auto found = learnt(set, kOne, {.rounds = 40, .depth = 2, .eta = 0.5, .lambda = 0.1});
  EXPECT_NEAR(found[0], 8.0F, 0.01F);
  EXPECT_NEAR(found[2], 1.0F, 0.01F);
}

TEST(SymmetricTrees, ThresholdsStandAtEqualSharesOfTheRows) {
  TrainingSet set;
  set.width = 1;
  for (int i = 0; i < 400; ++i) {
    set.features.push_back(static_cast<float>(i * i));
    set.targets.push_back(std::sin(static_cast<float>(i)));
  }
  set.weights.assign(400, 1.0F);
  const Forest forest = fit_symmetric(set, kOne, {.rounds = 200, .depth = 4, .thresholds = 3}).value();
  std::set<float> thresholds;
  for (const Tree& tree : forest.trees) {
    for (const TreeNode& node : tree.nodes) {
      if (node.left != 0) thresholds.insert(node.value);
    }
  }
  const auto between = [](float i) { return (i * i + (i - 1) * (i - 1)) / 2.0F; };
  EXPECT_EQ(thresholds, (std::set<float>{between(100), between(200), between(300)}));
}

// Predictions of CatBoost 1.2.10 with the same settings (tools/fit/forests.py).
TEST(SymmetricTrees, SayWhatCatBoostSays) {
  const Friedman data = friedman();
  const SymmetricOptions options{
      .rounds = 100, .depth = 4, .eta = 0.1, .columns = 1.0, .lambda = 3.0, .thresholds = 255};
  const Forest forest = fit_symmetric(data.learn, kFriedmanNames, options).value();
  const auto found = evaluate_forest(forest, data.judge).value();
  constexpr double kTheirs[] = {23.32284852, 23.36688719, 9.8105882, 14.79598981};
  for (std::size_t i = 0; i < std::size(kTheirs); ++i) EXPECT_NEAR(found[i], kTheirs[i], 2e-5) << i;
}

TEST(SymmetricTrees, TheSameRowsGiveTheSameTreesAndEachSeedItsOwn) {
  const TrainingSet set = friedman().learn;
  const SymmetricOptions options{.rounds = 20};
  EXPECT_EQ(fit_symmetric(set, kFriedmanNames, options).value(), fit_symmetric(set, kFriedmanNames, options).value());
  SymmetricOptions other = options;
  other.seed = 2;
  EXPECT_NE(fit_symmetric(set, kFriedmanNames, options).value(), fit_symmetric(set, kFriedmanNames, other).value());
}

TEST(SymmetricTrees, FitTheLayoutThatIsMadeForThem) {
  const Forest forest = fit_symmetric(friedman().learn, kFriedmanNames, {.rounds = 30, .depth = 8}).value();
  EXPECT_TRUE(symmetric_form(forest));
}

TEST(SymmetricTrees, RefuseWhatCannotBeLearntFrom) {
  EXPECT_EQ(fit_symmetric({}, kOne, {}).error().text(), "no rows to fit");
  for (const float odd : {kMissing, std::numeric_limits<float>::infinity()}) {
    EXPECT_FALSE(fit_symmetric(rows(1, {0, 1}, {odd, 1}), kOne, {}));
    TrainingSet weighted = rows(1, {0, 1}, {0, 1});
    weighted.weights[1] = odd;
    EXPECT_FALSE(fit_symmetric(weighted, kOne, {}));
  }
}

}  // namespace
}  // namespace joulecast
