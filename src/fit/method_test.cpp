// SPDX-License-Identifier: Apache-2.0
#include "fit/method.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "predict/estimator.h"

namespace joulecast {
namespace {

// Rows of the power model's own features, of which the law reads two.
TrainingSet busy_rows(double a, double b) {
  TrainingSet set;
  set.width = kPowerFeatures.size();
  for (int i = 0; i <= 20; ++i) {
    for (int j = 0; j <= 20; ++j) {
      std::array<float, kPowerFeatures.size()> row{};
      row[0] = static_cast<float>(i) / 20.0F;
      row[1] = static_cast<float>(j) / 20.0F;
      set.features.insert(set.features.end(), row.begin(), row.end());
      set.targets.push_back(static_cast<float>(std::min(1.0, a * i / 20.0 + b * j / 20.0)));
      set.weights.push_back(1.0F);
    }
  }
  return set;
}

TEST(Method, NamesAreReadBack) {
  for (std::size_t i = 0; i < kMethods; ++i) {
    const auto method = static_cast<Method>(i);
    EXPECT_EQ(parse_method(name(method)), method);
  }
  EXPECT_EQ(parse_method("forest"), std::nullopt);
}

TEST(Method, ThePowerLawFindsItsTwoFiguresAndMeetsTheCap) {
  ASSERT_EQ(kPowerFeatures[0], "busy_compute");
  ASSERT_EQ(kPowerFeatures[1], "busy_memory");
  for (const auto& [a, b] : {std::pair{0.9, 0.4}, {0.0, 0.7}, {1.6, 1.3}}) {
    const TrainingSet set = busy_rows(a, b);
    const auto found = evaluate_forest(fit_power_law(set, kPowerFeatures), set);
    ASSERT_TRUE(found) << found.error().text();
    for (std::size_t i = 0; i < set.rows(); ++i)
      EXPECT_NEAR(std::min(1.0F, (*found)[i]), set.targets[i], (a + b) / 256.0 + 0.003) << i;
  }
}

TEST(Method, PhysicsHasNoTreesOfTime) {
  const TrainingSet set = busy_rows(1.0, 1.0);
  EXPECT_TRUE(learn_time(Method::kPhysics, set, kPowerFeatures, {})->trees.empty());
}

TEST(Method, EveryOtherLearnsItsRowsAndFitsAPack) {
  const TrainingSet set = busy_rows(0.6, 0.4);
  for (const Method method : {Method::kOurs, Method::kBoosting, Method::kRandomForest, Method::kExtraTrees}) {
    const auto forest = learn_power(method, set, kPowerFeatures, {});
    ASSERT_TRUE(forest) << forest.error().text();
    const auto found = evaluate_forest(*forest, set);
    ASSERT_TRUE(found) << found.error().text();
    double worst = 0.0;
    for (std::size_t i = 0; i < set.rows(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>((*found)[i] - set.targets[i])));
    EXPECT_LT(worst, 0.1) << name(method);
  }
  EXPECT_EQ(learn_power(Method::kOurs, set, kPowerFeatures, {}).value(),
            learn_power(Method::kBoosting, set, kPowerFeatures, {}).value());
  EXPECT_NE(learn_power(Method::kRandomForest, set, kPowerFeatures, {}).value(),
            learn_power(Method::kExtraTrees, set, kPowerFeatures, {}).value());
}

}  // namespace
}  // namespace joulecast
