// SPDX-License-Identifier: Apache-2.0
// What `joulecast train` makes of made-up tables, and of its options.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

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

// A folder of the running test's own: tests run side by side.
std::string folder() {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::string path = fmt::format("{}train_test_{}_{}/", testing::TempDir(), ::getpid(), name);
  std::filesystem::create_directories(path);
  return path;
}

std::string file(const std::string& name, const std::string& text) {
  std::string path = folder() + name;
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
  options.out = folder() + "train_test.jcpack";
  options.quick = true;
  std::filesystem::remove(options.out);
  return options;
}

struct Trained {
  Json report;
  std::string said;
};

class Train : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder()); }
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

TEST_F(Train, CountsWhatItUsedByTable) {
  const Trained t = trained(quick({file("train_bf16.csv", products())}));
  EXPECT_EQ(t.report["fitted_on"]["tables"]["aic_gemm"]["used"], 48);
  EXPECT_EQ(t.report["quick"], true);
}

// The same in a quick fit and in a full one.
TEST_F(Train, GroupsWithoutRowsAreNamedAndPredictTheirBound) {
  TrainOptions options = quick({file("train_bf16.csv", products())});
  for (const bool is_quick : {true, false}) {
    options.quick = is_quick;
    const Trained t = trained(options);
    EXPECT_EQ(t.report["groups_without_rows"],
              Json::parse(R"(["conv", "pointwise", "reduction", "gemm-simt", "prefill", "decode", "gemm-fp4"])"));
    EXPECT_NE(t.said.find("conv: no rows; predicted by its bound alone, at the power of a GPU that waits\n"),
              std::string::npos)
        << t.said;
    EXPECT_NE(t.said.find("gemm-tensor: no row has power; predicted as waiting\n"), std::string::npos) << t.said;
  }
}

TEST_F(Train, ARowOfAnOperationOrGpuLeftOutIsNotUsed) {
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

TEST_F(Train, FactorsOfACalibrationReplaceItsOwn) {
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

const Json& source(const Trained& t, const std::string& layout) {
  static const Json kNone = Json::object();
  for (const Json& source : t.report["fitted_on"]["sources"]) {
    if (source["layout"] == layout) return source;
  }
  return kNone;
}

// By the pack's law, of an operation of a measured GPU that keeps all of it busy.
double power_of_busy(const std::string& pack_path, std::string_view group) {
  const Pack pack = Pack::open(pack_path).value();
  const TableView laws = pack.table(pack_names::kPowerLaws).value();
  double sum = 0.0;
  for (const char* part : {"compute", "memory", "gpu"}) {
    const auto found = laws.find(pack_names::power_law(group, part));
    EXPECT_TRUE(found) << part;
    sum += found.value_or(0.0);
  }
  return sum;
}

// At the default clock: the model has no other.
TEST_F(Train, OperationsOfOnesOwnAreLearnt) {
  const std::string rows =
      "name,gpu,mode,precision,runtime,operator,operands,time_s,power_w,power_scope,sm_clock_hz\n"
      "mine,a30,inference,fp32,pytorch-eager,linear,\"f32[32, 128]; w f32[256, 128]\",2e-5,80,gpu,\n"
      "mine,a30,inference,fp32,pytorch-eager,linear,\"f32[64, 128]; w f32[256, 128]\",3e-5,300,machine,\n"
      "mine,a30,inference,fp32,pytorch-eager,linear,\"f32[32, 128]; w f32[256, 128]\",3e-5,60,gpu,9e8\n"
      "resnet50,a30,inference,fp32,pytorch-eager,,,3e-2,150,gpu,\n";
  const TrainOptions options = quick({file("own.csv", rows)});
  const Trained t = trained(options);
  EXPECT_EQ(source(t, "measurements")["used"], 2);
  EXPECT_EQ(source(t, "measurements")["refused"], 2);
  EXPECT_EQ(source(t, "measurements")["files"], Json::parse(R"(["own.csv"])"));
  EXPECT_EQ(t.report["groups"]["gemm-simt"]["rows"], 2);
  EXPECT_EQ(t.report["groups"]["gemm-simt"]["rows_with_power"], 1) << "the plug of a machine is no GPU's power";
  EXPECT_NE(t.said.find("at a locked clock"), std::string::npos) << t.said;
  EXPECT_GT(power_of_busy(options.out, "gemm-simt"), 0.0);
  EXPECT_EQ(power_of_busy(options.out, "conv"), 0.0) << "without a law";
}

// With the only GPU left out no power is there to learn from: nothing is said, and not that all of it is wrong.
TEST_F(Train, PowerThatNobodyCouldLearnIsNotJudged) {
  std::string rows = "name,gpu,mode,precision,runtime,operator,operands,attributes,time_s,power_w,power_scope\n";
  for (int i = 1; i <= 40; ++i)
    rows += fmt::format("mine,a30,inference,fp32,pytorch-eager,activation,\"f32[{}, 4096]\",kind = relu,{}e-6,{},gpu\n",
                        100 * i, 10 + 4 * i, 100 + i);
  TrainOptions options = quick({file("own.csv", rows)});
  options.quick = false;
  const Trained t = trained(options);
  const Json& unseen = t.report["held_out_gpus"]["measurements/a30/inference"];
  EXPECT_EQ(unseen["time"]["n"], 40) << t.said;
  EXPECT_EQ(unseen["power"]["n"], 0);
  EXPECT_TRUE(unseen["power"]["mape"].is_null());
  EXPECT_EQ(t.report["held_out_operations"]["measurements/a30/inference"]["power"]["n"], 40);
}

// A slice is not the GPU, and the model has one memory clock too.
TEST_F(Train, SlicesAndMemoryClocksAreNotLearnt) {
  const std::string rows =
      "name,gpu,mode,precision,runtime,operator,operands,time_s,memory_clock_hz,mig_profile\n"
      "mine,a30,inference,fp32,pytorch-eager,linear,\"f32[32, 128]; w f32[256, 128]\",2e-5,,\n"
      "mine,a30,inference,fp32,pytorch-eager,linear,\"f32[64, 128]; w f32[256, 128]\",3e-5,877e6,\n"
      "mine,a30,inference,fp32,pytorch-eager,linear,\"f32[96, 128]; w f32[256, 128]\",9e-5,,1g.6gb\n";
  const Trained t = trained(quick({file("slices.csv", rows)}));
  EXPECT_EQ(source(t, "measurements")["used"], 1);
  EXPECT_EQ(source(t, "measurements")["refused"], 2);
  EXPECT_NE(t.said.find("on a slice of the GPU"), std::string::npos) << t.said;
}

// They look like the operations of the table beside them.
TEST_F(Train, IterationCountsAreNoOperationsToLearnFrom) {
  const std::string rows =
      "gpu,op_repr,input_shape,iterations,total_time_s,source_file,source_line\n"
      "a30,ReLU(),32x64,1000,0.01,x,1\n";
  const Trained t = trained(quick({file("iterations.csv", rows), file("train_bf16.csv", products())}));
  EXPECT_EQ(source(t, "heidelberg_iterations")["used"], 0);
  EXPECT_EQ(source(t, "heidelberg_iterations")["refused"], 1);
  EXPECT_FALSE(t.report["fitted_on"]["tables"].contains("heidelberg_iterations"));
}

// NeuSight's: learnt from where the convolution is most of the time, and no network of convolutions was measured there.
TEST_F(Train, LongConvolutionsOfABareLoopAreLearnt) {
  std::string text =
      "gpu,op,dtype,batch,in_channels,out_channels,kernel,in_hw,stride,padding,latency_s,main_kernel,torch\n";
  for (int batch = 8; batch < 32; ++batch) {
    text += fmt::format("Tesla T4,conv,fp32,{},256,256,3,28,1,1,{:.6g},k,p2.1.0\n", batch, 3e-4 * batch);
  }
  text += "Tesla T4,conv,fp32,1,3,5,3,8,1,1,2e-4,k,p2.1.0\n";
  const TrainOptions options = quick({file("neusight_conv.csv", text)});
  const Trained t = trained(options);
  EXPECT_EQ(t.report["fitted_on"]["tables"]["neusight_conv"]["used"], 24);
  EXPECT_NE(t.said.find("too short: the loop's other work is most of its time"), std::string::npos) << t.said;
  const Pack pack = Pack::open(options.out).value();
  const TableView gpus = pack.table(pack_names::kGpus).value();
  EXPECT_TRUE(gpus.find("arithmetic-loops/conv/fp32/t4"));
  EXPECT_FALSE(gpus.find("arithmetic/conv/fp32/t4")) << "models of modules do not answer";
  EXPECT_TRUE(pack.forest("time-loops/conv"));
  EXPECT_FALSE(gpus.find("measured/t4"));
}

TEST_F(Train, WhatIsBeyondAStratumsLimitIsCounted) {
  TrainOptions options = quick({file("train_bf16.csv", products())});
  options.stratum_rows = 10;
  const Trained t = trained(options);
  EXPECT_EQ(source(t, "aic_gemm")["used"], 20) << "ten on each GPU";
  EXPECT_EQ(source(t, "aic_gemm")["not_needed"], 28);
}

std::string limits() {
  std::string text =
      "gpu,dataset,network,batch_size,optimizer,power_limit_w,time_per_epoch_s,average_power_w,energy_per_epoch_j\n";
  for (const int limit : {100, 150, 200, 250}) {
    text += fmt::format("V100,set,net,32,adam,{},{},{},1000\n", limit, 3000 / limit, limit - 5);
    text += fmt::format("P100,set,net,32,adam,{},{},{},1000\n", limit, 4000 / limit, limit - 5);
  }
  return text;
}

TEST_F(Train, SweepsAreFittedBesideOperationsAndAlone) {
  const std::string sweeps = file("limits.csv", limits());
  for (const std::vector<std::string>& tables :
       {std::vector<std::string>{sweeps}, {file("train_bf16.csv", products()), sweeps}}) {
    TrainOptions options = quick(tables);
    const Trained t = trained(options);
    EXPECT_EQ(t.report["settings"]["sweeps"], 2);
    EXPECT_EQ(source(t, "zeus_power_limit_sweep")["used"], 8);
    EXPECT_TRUE(Pack::open(options.out).value().number(pack_names::kSettings, "gpu/v100-pcie-16gb/knee"));
  }
  TrainOptions options = quick({sweeps});
  options.without_gpu = "v100-pcie-16gb";
  const Trained t = trained(options);
  EXPECT_EQ(t.report["settings"]["gpus"], Json::parse(R"(["p100-pcie-16gb"])"));
  EXPECT_EQ(source(t, "zeus_power_limit_sweep")["left_out"], 4);
  EXPECT_EQ(trained(quick({file("train_bf16.csv", products())})).report["settings"], nullptr);
}

TEST_F(Train, GarbageIsCountedAndNamedAndNotLearnt) {
  const std::string garbage = "64,64,64,1e300,\n64,64,64,nan,\n64,64,64,-1,\n16777216,16777216,16777216,1e-9,\n";
  const Trained t = trained(quick({file("garbage_bf16.csv", products() + garbage)}));
  EXPECT_EQ(t.report["fitted_on"]["tables"]["aic_gemm"]["used"], 49) << "a large product is no garbage";
  EXPECT_EQ(t.report["fitted_on"]["tables"]["aic_gemm"]["refused"], 3);
  EXPECT_NE(t.said.find("3 rows not used\n"), std::string::npos) << t.said;
  EXPECT_NE(t.said.find("line 26: column 'h100_sxm_s': '1e300' is not between 1e-09 and 1e+06 s"), std::string::npos)
      << t.said;
}

TEST_F(Train, APackHasTheTreesOfItsEstimator) {
  TrainOptions options = quick({file("train_bf16.csv", products())});
  for (const auto& [method, trees] :
       {std::pair{Method::kOurs, 256U}, {Method::kPhysics, 0U}, {Method::kExtraTrees, 64U}}) {
    options.method = method;
    const Trained t = trained(options);
    EXPECT_EQ(t.report["method"], name(method));
    const Pack pack = Pack::open(options.out).value();
    EXPECT_EQ(pack.forest("time/gemm-tensor")->tree_count(), trees) << name(method);
  }
}

TEST_F(Train, TablesWithoutAUsableRowAreAnError) {
  EXPECT_EQ(error_of(quick({file("empty_bf16.csv", "m,n,k,a100_sxm_s\n")})), "no row of the tables can be fitted on");
}

TEST_F(Train, ATableIsNotOverwritten) {
  TrainOptions options = quick({file("train_bf16.csv", products())});
  options.out = folder() + "./train_bf16.csv";
  EXPECT_TRUE(error_of(options).ends_with("is read, and would be overwritten"));
  options = quick({file("train_bf16.csv", products())});
  options.without = options.out = file("without.txt", "x\n");
  EXPECT_TRUE(error_of(options).ends_with("is read, and would be overwritten"));
}

TEST_F(Train, APackThatCannotBeWrittenIsKnownBeforeTheTablesAreRead) {
  TrainOptions options = quick({"/nowhere.csv"});
  options.out = folder() + "no/such/folder/new.jcpack";
  EXPECT_TRUE(error_of(options).ends_with("/no/such/folder/new.jcpack: No such file or directory"))
      << error_of(options);
}

}  // namespace
}  // namespace joulecast
