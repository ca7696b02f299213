// SPDX-License-Identifier: Apache-2.0
#include "fit/booster.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace joulecast {
namespace {

constexpr std::array<std::string_view, 1> kNames{"x"};

// y = 1 above x = 49.5, else 0.
TrainingSet step() {
  TrainingSet set;
  set.width = 1;
  for (int i = 0; i < 100; ++i) {
    set.features.push_back(static_cast<float>(i));
    set.targets.push_back(i < 50 ? 0.0F : 1.0F);
    set.weights.push_back(1.0F);
  }
  return set;
}

TEST(FitForest, FindsAStep) {
  const auto forest = fit_forest(step(), kNames, {.subsample = 1.0, .columns = 1.0});
  ASSERT_TRUE(forest) << forest.error().text();
  EXPECT_EQ(forest->features, std::vector<std::string>{"x"});
  const auto found = evaluate_forest(*forest, step()).value();
  EXPECT_NEAR(found[0], 0.0F, 0.01F);
  EXPECT_NEAR(found[49], 0.0F, 0.01F);
  EXPECT_NEAR(found[50], 1.0F, 0.01F);
}

TEST(FitForest, TheSameRowsGiveTheSameTrees) {
  EXPECT_EQ(fit_forest(step(), kNames, {}).value(), fit_forest(step(), kNames, {}).value());
}

// One row of ten lies at 100: squared error ends in their mean, Huber's loss where one of the others' steps up balances
// nine down.
TEST(FitForest, HubersLossIsNotDrawnByAnOutlier) {
  TrainingSet set{.width = 1, .features = std::vector<float>(10, 1.0F), .targets = {}, .weights = {}};
  for (int i = 0; i < 10; ++i) set.targets.push_back(i == 3 ? 100.0F : 2.0F);
  set.weights.assign(10, 1.0F);
  BoosterOptions options{.rounds = 400, .eta = 0.3, .subsample = 1.0, .columns = 1.0, .lambda = 0.0};
  const auto answer = [&] { return evaluate_forest(fit_forest(set, kNames, options).value(), set).value()[0]; };
  EXPECT_NEAR(answer(), 11.8F, 0.01F);
  options.huber = 0.9;
  EXPECT_NEAR(answer(), 2.1F, 0.01F);  // (answer - 2) * 9 = 0.9
}

// Of 0 to 9 nine tenths of the weight lie below 9 on, half of it below 5 on, however far off the largest is.
TEST(FitForest, AQuantileIsWhatSoManyRowsAreBelow) {
  TrainingSet set{.width = 1, .features = std::vector<float>(10, 1.0F), .targets = {}, .weights = {}};
  for (int i = 0; i < 10; ++i) set.targets.push_back(static_cast<float>(i));
  set.targets[7] = 70.0F;
  set.weights.assign(10, 1.0F);
  BoosterOptions options{.rounds = 2000, .eta = 0.05, .subsample = 1.0, .columns = 1.0, .lambda = 0.0, .quantile = 0.5};
  const auto answer = [&] { return evaluate_forest(fit_forest(set, kNames, options).value(), set).value()[0]; };
  EXPECT_NEAR(answer(), 4.5F, 0.6F);
  options.quantile = 0.85;
  EXPECT_NEAR(answer(), 9.0F, 0.1F);
}

TEST(FitForest, RowsOfNoWeightAreNotLearnt) {
  TrainingSet set = step();
  for (std::size_t i = 50; i < 100; ++i) set.weights[i] = 0.0F;
  const auto found = evaluate_forest(fit_forest(set, kNames, {}).value(), step()).value();
  EXPECT_NEAR(found[99], 0.0F, 0.01F);
}

TEST(FitForest, NoRowsAreAnError) {
  EXPECT_EQ(fit_forest({}, kNames, {}).error().text(), "no rows to fit");
}

TEST(FitForest, WhatXgboostRefusesIsOneLineOfOurs) {
  TrainingSet infinite = step();
  infinite.features[7] = std::numeric_limits<float>::infinity();
  TrainingSet unlabelled = step();
  unlabelled.targets[7] = std::numeric_limits<float>::quiet_NaN();
  for (const TrainingSet& set : {infinite, unlabelled}) {
    const auto forest = fit_forest(set, kNames, {});
    ASSERT_FALSE(forest);
    EXPECT_EQ(forest.error().text().find('\n'), std::string::npos) << forest.error().text();
    EXPECT_EQ(forest.error().text().find("Stack"), std::string::npos) << forest.error().text();
    EXPECT_TRUE(forest.error().text().starts_with("XGBoost: ")) << forest.error().text();
  }
}

}  // namespace
}  // namespace joulecast
