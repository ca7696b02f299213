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
