// SPDX-License-Identifier: Apache-2.0
// Against XGBoost itself: forests trained here, evaluated by it and by us.
#include "predict/trees/xgboost.h"

#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace joulecast {
namespace {

constexpr std::size_t kRows = 2000;
constexpr std::size_t kFeatures = 11;

struct Data {
  std::vector<float> x, y;
};

// A function with thresholds and products; every ninth feature is missing where `missing` is set.
Data data(std::uint32_t seed, bool missing) {
  std::mt19937 random(seed);
  Data data;
  for (std::size_t row = 0; row < kRows; ++row) {
    float y = 0.0F;
    for (std::size_t i = 0; i < kFeatures; ++i) {
      const auto value = static_cast<float>(random() % 100'000) / 1000.0F - 50.0F;
      y += (i % 2 == 0 ? value * 0.1F : (value > 3.0F ? 2.0F : -1.0F)) * (i % 3 == 0 ? 5.0F : 0.5F);
      data.x.push_back(missing && random() % 9 == 0 ? std::numeric_limits<float>::quiet_NaN() : value);
    }
    data.y.push_back(y + data.x[data.x.size() - 3] * 0.01F);
    if (std::isnan(data.y.back())) data.y.back() = 1.0F;
  }
  return data;
}

using Parameters = std::vector<std::pair<const char*, const char*>>;

// Trains for `rounds`; keeps the saved model and XGBoost's own predictions.
class Trained {
 public:
  Trained(const Data& data, const Parameters& parameters, int rounds) {
    DMatrixHandle matrix = nullptr;
    check(XGDMatrixCreateFromMat(data.x.data(), kRows, kFeatures, std::nanf(""), &matrix));
    check(XGDMatrixSetFloatInfo(matrix, "label", data.y.data(), kRows));
    BoosterHandle booster = nullptr;
    check(XGBoosterCreate(&matrix, 1, &booster));
    for (const auto& [key, value] : parameters) check(XGBoosterSetParam(booster, key, value));
    for (int round = 0; round < rounds; ++round) check(XGBoosterUpdateOneIter(booster, round, matrix));
    bst_ulong size = 0;
    const char* bytes = nullptr;
    check(XGBoosterSaveModelToBuffer(booster, R"({"format": "json"})", &size, &bytes));
    json_.assign(bytes, size);
    const float* out = nullptr;
    check(XGBoosterPredict(booster, matrix, 1 /* margin */, 0, 0, &size, &out));
    predictions_.assign(out, out + size);
    XGBoosterFree(booster);
    XGDMatrixFree(matrix);
  }

  [[nodiscard]] const std::string& json() const { return json_; }
  [[nodiscard]] const std::vector<float>& predictions() const { return predictions_; }

 private:
  static void check(int status) { ASSERT_EQ(status, 0) << XGBGetLastError(); }

  std::string json_;
  std::vector<float> predictions_;
};

void expect_same(const Data& data, const Trained& trained) {
  const auto forest = forest_from_xgboost(trained.json());
  ASSERT_TRUE(forest) << forest.error().text();
  const auto image = lay_out(*forest);
  const auto view = ForestView::over(image->bytes());
  std::vector<float> ours(kRows);
  view->predict(data.x, kRows, ours);
  std::size_t different = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    ASSERT_NEAR(ours[i], trained.predictions()[i], 1e-6 * std::abs(trained.predictions()[i])) << "row " << i;
    different += std::bit_cast<std::uint32_t>(ours[i]) != std::bit_cast<std::uint32_t>(trained.predictions()[i]);
  }
  EXPECT_EQ(different, 0U) << "rows differ in their last bits";
}

TEST(XgboostForest, SameAsXgboost) {
  const Data all = data(1, false);
  expect_same(all, Trained(all, {{"max_depth", "6"}, {"eta", "0.1"}, {"nthread", "1"}}, 120));
}

TEST(XgboostForest, SameAsXgboostWithMissingFeatures) {
  const Data some = data(2, true);
  expect_same(some, Trained(some, {{"max_depth", "8"}, {"tree_method", "hist"}, {"nthread", "1"}}, 40));
}

TEST(XgboostForest, SameAsXgboostWhenPrunedAndSubsampled) {
  const Data some = data(3, true);
  expect_same(some, Trained(some,
                            {{"max_depth", "4"},
                             {"gamma", "30"},
                             {"subsample", "0.6"},
                             {"num_parallel_tree", "3"},
                             {"tree_method", "exact"},
                             {"base_score", "-2.5"},
                             {"nthread", "1"}},
                            20));
}

TEST(XgboostForest, SameAsXgboostForAbsoluteErrors) {
  const Data some = data(4, true);
  expect_same(some, Trained(some, {{"objective", "reg:absoluteerror"}, {"max_depth", "5"}, {"nthread", "1"}}, 20));
}

TEST(XgboostForest, RefusesWhatIsNotASumOfLeaves) {
  Data all = data(5, false);
  for (float& y : all.y) y = std::abs(y) + 1.0F;  // a gamma distribution wants positive ones
  const auto code = [&](Parameters parameters) {
    parameters.emplace_back("nthread", "1");
    const auto forest = forest_from_xgboost(Trained(all, parameters, 2).json());
    return forest ? std::optional<ErrorCode>() : forest.error().code();
  };
  EXPECT_EQ(code({{"booster", "dart"}}), ErrorCode::kUnsupported);
  EXPECT_EQ(code({{"booster", "gblinear"}}), ErrorCode::kUnsupported);
  EXPECT_EQ(code({{"objective", "reg:gamma"}, {"base_score", "0.5"}}), ErrorCode::kUnsupported);
  EXPECT_EQ(code({{"max_depth", "14"}}), std::optional(ErrorCode::kUnsupported));
}

TEST(XgboostForest, RefusesOtherJson) {
  const std::array<const char*, 6> texts = {"", "{", "[]", "{}", R"({"learner": 3})", R"({"learner": {}})"};
  for (const char* text : texts) EXPECT_FALSE(forest_from_xgboost(text)) << text;
}

// One place of a good model spoiled at a time.
TEST(XgboostForest, RefusesDamagedModels) {
  const std::string good =
      R"({"learner": {"objective": {"name": "reg:squarederror"}, "learner_model_param":
         {"base_score": "5E-1", "num_class": "0", "num_feature": "2", "num_target": "1"},
         "gradient_booster": {"name": "gbtree", "model": {"trees": [{"left_children": [1, -1, -1],
         "right_children": [2, -1, -1], "split_indices": [1, 0, 0], "split_conditions": [0.5, 1.5, 2.5],
         "default_left": [true, false, false], "categories": []}]}}}})";
  const auto forest = forest_from_xgboost(good);
  ASSERT_TRUE(forest) << forest.error().text();
  EXPECT_EQ(predict(*forest, std::array{0.0F, 0.25F}), 2.0F);
  const std::array<std::pair<const char*, const char*>, 9> changes = {
      {{"[1, -1, -1]", "[1, -1]"},
       {"[1, -1, -1]", "[0, -1, -1]"},
       {"[2, -1, -1]", "[1, -1, -1]"},
       {"[2, -1, -1]", "[3, -1, -1]"},
       {"[1, 0, 0]", "[2, 0, 0]"},
       {"[1, 0, 0]", "[\"1\", 0, 0]"},
       {"\"5E-1\"", "\"half\""},
       {"\"categories\": []", "\"categories\": [1]"},
       {"\"num_class\": \"0\"", "\"num_class\": \"3\""}}};
  for (const auto& [from, to] : changes) {
    std::string bad = good;
    bad.replace(bad.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(forest_from_xgboost(bad)) << to;
  }
}

}  // namespace
}  // namespace joulecast
