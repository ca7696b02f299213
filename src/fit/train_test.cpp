// SPDX-License-Identifier: Apache-2.0
// What `joulecast train` makes of made-up tables, and of its options.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fit/train.h"
#include "predict/pack/pack.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

using Json = nlohmann::json;

std::string file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

// 24 matrix products on two GPUs, at half the peak of an H100; no power.
std::string products() {
  std::string text = "m,n,k,h100_sxm_s,a100_sxm_s\n";
  for (int i = 1; i <= 24; ++i) {
    const double m = 64.0 * i;
    const double seconds = 2.0 * m * 4096.0 * 4096.0 / 500e12 + 4e-6;
    text += fmt::format("{},4096,4096,{:.6g},{:.6g}\n", m, seconds, 3.0 * seconds);
  }
  return text;
}

TrainOptions quick(std::vector<std::string> tables) {
  TrainOptions options;
  options.tables = std::move(tables);
  options.out = testing::TempDir() + "train_test.jcpack";
  options.quick = true;
  std::filesystem::remove(options.out);
  return options;
}

struct Trained {
  Json report;
  std::string said;
};

Trained trained(const TrainOptions& options) {
  Trained out;
  const auto done = train(options, [&](const std::string& line) { out.said += line + "\n"; });
  EXPECT_TRUE(done) << done.error().text();
  if (!done) return out;
  const Pack pack = Pack::open(options.out).value();
  out.report = Json::parse(pack.json(pack_names::kReport).value());
  return out;
}

std::string error_of(const TrainOptions& options) {
  const auto done = train(options, [](const std::string&) {});
  return done ? "no error" : done.error().text();
}

TEST(Train, CountsWhatItUsedByTable) {
  const Trained t = trained(quick({file("train_bf16.csv", products())}));
  EXPECT_EQ(t.report["fitted_on"]["tables"]["aic_gemm"]["used"], 48);
  EXPECT_EQ(t.report["quick"], true);
}

// The same in a quick fit and in a full one.
TEST(Train, GroupsWithoutRowsAreNamedAndPredictTheirBound) {
  TrainOptions options = quick({file("train_bf16.csv", products())});
  for (const bool is_quick : {true, false}) {
    options.quick = is_quick;
    const Trained t = trained(options);
    EXPECT_EQ(t.report["groups_without_rows"],
              Json::parse(R"(["conv", "pointwise", "reduction", "gemm-simt", "prefill", "decode"])"));
    EXPECT_NE(t.said.find("conv: no rows; predicted by its bound alone, at idle power\n"), std::string::npos) << t.said;
    EXPECT_NE(t.said.find("gemm-tensor: no row has power; predicted as idle\n"), std::string::npos) << t.said;
  }
}

TEST(Train, ARowOfAnOperationOrGpuLeftOutIsNotUsed) {
  TrainOptions options = quick({file("train_bf16.csv", products())});
  options.without = file("without.txt", "linear 64x4096 by 4096x4096\nlinear 128x4096 by 4096x4096\n");
  EXPECT_EQ(trained(options).report["fitted_on"]["tables"]["aic_gemm"]["used"], 44);
  options.without_gpu = "a100_sxm";
  EXPECT_EQ(trained(options).report["fitted_on"]["tables"]["aic_gemm"]["used"], 22);
  options.without_gpu = "t4";
  EXPECT_NE(trained(options).said.find("4 rows left out\n"), std::string::npos)
      << "two products on two GPUs, none a T4";
  options.without_gpu = "h1000";
  EXPECT_NE(error_of(options).find("h1000"), std::string::npos);
  options = quick(options.tables);
  options.without = "/nowhere.txt";
  EXPECT_EQ(error_of(options), "/nowhere.txt: No such file or directory");
}

TEST(Train, FactorsOfACalibrationReplaceItsOwn) {
  TrainOptions options = quick({file("train_bf16.csv", products())});
  options.calibration =
      file("calibration.json", R"({"schema": "joulecast.calibration/1", "intervals": {"network/time/inside": 0.25}})");
  trained(options);
  const Pack pack = Pack::open(options.out).value();
  const TableView intervals = pack.table(pack_names::kIntervals).value();
  EXPECT_EQ(intervals.find("network/time/inside"), 0.25);
  EXPECT_EQ(intervals.find("network/time/outside"), std::log(3.0));
  for (const char* text : {"", "[]", R"({"schema": "joulecast.calibration/2", "intervals": {}})", R"({"schema": 1})",
                           R"({"schema": "joulecast.calibration/1", "intervals": [0.5]})"}) {
    options.calibration = file("other.json", text);
    options.tables = {"/nowhere.csv"};  // not asked for yet
    EXPECT_TRUE(error_of(options).ends_with("other.json: no joulecast.calibration/1")) << text;
  }
}

TEST(Train, GarbageIsCountedAndNamedAndNotLearnt) {
  const std::string garbage = "64,64,64,1e300,\n64,64,64,nan,\n64,64,64,-1,\n16777216,16777216,16777216,1e-9,\n";
  const Trained t = trained(quick({file("garbage_bf16.csv", products() + garbage)}));
  EXPECT_EQ(t.report["fitted_on"]["tables"]["aic_gemm"]["used"], 49) << "a large product is no garbage";
  EXPECT_EQ(t.report["fitted_on"]["tables"]["aic_gemm"]["refused"], 3);
  EXPECT_NE(t.said.find("3 rows not used\n"), std::string::npos) << t.said;
  EXPECT_NE(t.said.find("line 26: column 'h100_sxm_s': '1e300' is not between 1e-09 and 1e+06 s"), std::string::npos)
      << t.said;
}

TEST(Train, TablesWithoutAUsableRowAreAnError) {
  EXPECT_EQ(error_of(quick({file("empty_bf16.csv", "m,n,k,a100_sxm_s\n")})), "no row of the tables can be fitted on");
}

TEST(Train, ATableIsNotOverwritten) {
  TrainOptions options = quick({file("train_bf16.csv", products())});
  options.out = testing::TempDir() + "./train_bf16.csv";
  EXPECT_TRUE(error_of(options).ends_with("the pack would overwrite the table"));
}

TEST(Train, APackThatCannotBeWrittenIsKnownBeforeTheTablesAreRead) {
  TrainOptions options = quick({"/nowhere.csv"});
  options.out = testing::TempDir() + "no/such/folder/new.jcpack";
  EXPECT_TRUE(error_of(options).ends_with("/no/such/folder/new.jcpack: No such file or directory"))
      << error_of(options);
}

}  // namespace
}  // namespace joulecast
