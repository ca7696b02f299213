// SPDX-License-Identifier: Apache-2.0
// The thesis' protocol on made-up rows: every operation is there five times, so folds of rows know what they are asked.
#include "fit/thesis/protocol.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace joulecast {
namespace {

using Json = nlohmann::json;

// Times that no feature explains, so only the twin row helps; power follows the channels.
std::string table() {
  std::string text =
      "gpu,mode,op_repr,op_type,input_shape,time_s,time_std_s,energy_j,energy_std_j,power_w,power_std_w,iterations,"
      "blocks,module_state,primary,anomaly,generation,source_file,source_line\n";
  for (int i = 0; i < 40; ++i) {
    const int channels = 16 * (1 + i);
    const double time = 0.1 * (1.0 + (i * 7919) % 31);
    const double power = 40.0 + channels / 16.0;
    for (int repeat = 0; repeat < 5; ++repeat) {
      text += fmt::format(
          "a30,training,\"Conv2d({}, 64, kernel_size=(1, 1), stride=(1, 1), bias=False)\",Conv2d,"
          "32x{}x28x28,{},,{},,{},,100,10,training,1,,2025-02-12-train,,\n",
          channels, channels, time, time * power, power);
    }
  }
  return text;
}

const ThesisResult& result() {
  static const ThesisResult made = [] {
    const std::string path = testing::TempDir() + "heidelberg_made_up_" + std::to_string(::getpid()) + ".csv";
    std::ofstream(path) << table();
    ThesisOptions options;
    options.tables = {path};
    options.methods = {Method::kRandomForest, Method::kExtraTrees, Method::kBoosting, Method::kPhysics, Method::kOurs};
    auto found = run_thesis_protocol(options, [](const std::string&) {});
    EXPECT_TRUE(found) << found.error().text();
    return found ? std::move(*found) : ThesisResult{};
  }();
  return made;
}

TEST(ThesisProtocol, CountsRowsAndOperationsOfTheTablesThereAre) {
  ASSERT_EQ(result().tables.size(), 1U);
  EXPECT_EQ(result().tables[0].published->number, "5.1");
  EXPECT_EQ(result().tables[0].rows, 200U);
  EXPECT_EQ(result().tables[0].operations, 40U);
  EXPECT_EQ(result().tables[0].judged, 200U);
}

TEST(ThesisProtocol, FoldsOfRowsKnowTheTwinAndFoldsOfOperationsDoNot) {
  const ThesisTable& table = result().tables.at(0);
  for (const Method method : {Method::kRandomForest, Method::kExtraTrees, Method::kBoosting}) {
    const ThesisScores& s = table.scores.at(method);
    EXPECT_GT(s.rows->first.mean, 0.6) << name(method);
    EXPECT_GT(s.rows->first.test, 0.6) << name(method);
    EXPECT_LT(*s.operations.time.r2, 0.2) << name(method);
    EXPECT_GT(*s.operations.power.r2, 0.9) << name(method) << ": power is no riddle";
    EXPECT_LT(*s.operations.power.mape, 0.05) << name(method);
    EXPECT_EQ(s.operations.time.count, 200U);
  }
}

TEST(ThesisProtocol, OursAndPhysicsAreJudgedByOperationsOnly) {
  const ThesisTable& table = result().tables.at(0);
  for (const Method method : {Method::kOurs, Method::kPhysics}) {
    EXPECT_FALSE(table.scores.at(method).rows) << name(method);
    EXPECT_EQ(table.scores.at(method).operations.time.count, 200U);
  }
  EXPECT_LT(*table.scores.at(Method::kPhysics).operations.time.bias, 0.0) << "a bound is below what is measured";
}

TEST(ThesisProtocol, TextFits80ColumnsAndHoldsTheThesisFigures) {
  const std::string text = thesis_text(result());
  EXPECT_NE(text.find("Table 5.1: A30, training: 200 rows, 40 operations"), std::string::npos) << text;
  EXPECT_NE(text.find("0.876 ± 0.073"), std::string::npos);
  EXPECT_NE(text.find("0.985 ± 0.003"), std::string::npos);
  for (const PublishedTable& table : kPublishedTables) EXPECT_LE(table.remark.size(), 78U) << table.number;
  std::size_t width = 0;
  for (const char c : text) {
    if (c == '\n') width = 0;
    // Letters, not bytes.
    if (c != '\n' && (static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;
    ASSERT_LE(width, 80U) << text;
  }
}

TEST(ThesisProtocol, JsonHoldsEveryEstimator) {
  const Json json = Json::parse(thesis_json(result()));
  EXPECT_EQ(json["schema"], "joulecast.thesis-tables/1");
  const Json& estimators = json["tables"][0]["estimators"];
  EXPECT_EQ(estimators.size(), 5U);
  EXPECT_EQ(estimators["random-forest"]["in_the_thesis"]["time"]["r2_mean"], 0.876);
  EXPECT_EQ(estimators["boosting"]["in_the_thesis"]["power"]["r2_test_set"], 0.9868);
  EXPECT_FALSE(estimators["extra-trees"].contains("in_the_thesis"));
  EXPECT_FALSE(estimators["ours"].contains("folds_of_rows"));
  EXPECT_EQ(estimators["ours"]["folds_of_operations"]["time"]["n"], 200);
}

TEST(ThesisProtocol, RowsOfOtherGpusAreNone) {
  const std::string path = testing::TempDir() + "heidelberg_other_bf16.csv";
  std::ofstream(path) << "m,n,k,a100_sxm_s\n64,64,64,1e-5\n";
  ThesisOptions options;
  options.tables = {path};
  const auto found = run_thesis_protocol(options, [](const std::string&) {});
  ASSERT_FALSE(found);
  EXPECT_EQ(
      found.error().text(),
      "no row is one of the thesis': time and power of an operation on an A30 or RTX 2080 Ti: line 2: no time or no "
      "power");
}

}  // namespace
}  // namespace joulecast
