// SPDX-License-Identifier: Apache-2.0
// The shipped pack on small tables.
#include "evaluate/evaluate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

namespace joulecast {
namespace {

const std::string kPack = JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack";
constexpr const char* kPowerHeader = "gpu,framework,version,kernel,dtype,m,n,k,latency_s,power_w,power_limit_w\n";

std::string table_file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

struct Evaluated {
  Evaluation evaluation;
  std::vector<JudgedRow> rows;
};

Evaluated evaluate(const std::string& path, const std::string& graphs = {}, bool operations = false) {
  Evaluated out;
  const auto keep = [&](const JudgedRow& row) { out.rows.push_back(row); };
  const Catalogue catalogue = Catalogue::shipped();
  auto evaluator = Evaluator::open(kPack, catalogue, {.graphs = graphs});
  EXPECT_TRUE(evaluator) << evaluator.error().text();
  if (!evaluator) return out;
  auto done = evaluator->judge(path, {.row = keep, .operations = operations});
  EXPECT_TRUE(done) << done.error().text();
  if (done) out.evaluation = std::move(*done);
  return out;
}

// Compiled networks and those channels-last are groups of their own, and are predicted as what they are.
TEST(EvaluateTable, KeepsRuntimesAndLayoutsApart) {
  const std::string graphs = testing::TempDir() + "evaluate_variants";
  std::filesystem::create_directories(graphs);
  std::ofstream(graphs + "/net.jcg") << R"(graph "n" {
    input %x : f32[batch, 64, 56, 56]
    parameter %w : f32[64, 64, 3, 3]
    %a = conv(%x, %w) {padding_begin = [1, 1], padding_end = [1, 1]}
    %y = activation(%a) {kind = relu}
    output %y
  })";
  const std::string table = table_file("evaluate_variants.csv",
                                       "gpu,mode,dtype,layout,torch,cuda,compiled,model,img_size,batch,step_latency_s\n"
                                       "NVIDIA GeForce RTX 4090,infer,amp,nchw,2.4,121,0,net,56,256.0,0.001\n"
                                       "NVIDIA GeForce RTX 4090,infer,amp,nchw,2.4,121,1,net,56,256.0,0.001\n"
                                       "NVIDIA GeForce RTX 4090,infer,amp,nhwc,2.4,121,0,net,56,256.0,0.001\n");
  const Evaluated found = evaluate(table, graphs);
  ASSERT_EQ(found.rows.size(), 3U);
  const std::array<double, 3> times{found.rows[0].time->found, found.rows[1].time->found, found.rows[2].time->found};
  EXPECT_LT(times[2], times[0]);  // no copies
  EXPECT_LT(times[1], times[0]);
  ASSERT_EQ(found.evaluation.groups.size(), 3U);
  EXPECT_EQ(found.evaluation.groups[0].variant, "");
  EXPECT_EQ(found.evaluation.groups[1].variant, "channels-last");
  EXPECT_EQ(found.evaluation.groups[2].variant, "compiled");

  EXPECT_TRUE(found.rows[0].operations.empty()) << "nobody asked";
  for (const JudgedRow& row : evaluate(table, graphs, true).rows) {
    Seconds busy;
    for (const OperationEstimate& operation : row.operations) busy += operation.time;
    EXPECT_NEAR(busy.value(), row.gpu_busy, 1e-9 * row.gpu_busy) << row.variant;
  }
}

// Of a network so small that its host sets the pace; the bounds keep their distance.
TEST(EvaluateTable, SumsOfKernelsAreHeldAgainstTheBusyGpu) {
  const std::string graphs = testing::TempDir() + "evaluate_kernels";
  std::filesystem::create_directories(graphs);
  std::ofstream(graphs + "/net.jcg") << R"(graph "n" {
    input %x : f32[batch, 64]
    %a = activation(%x) {kind = relu}
    %y = softmax(%a) {axis = 1}
    output %y
  })";
  const std::string table = table_file("evaluate_kernels.csv",
                                       "kind,name,gpu,mode,precision,runtime,batch,state,time_s\n"
                                       "network,net,a30,inference,fp32,pytorch-eager,8,,0.001\n"
                                       "network,net,a30,inference,fp32,pytorch-eager,8,kernels-alone,0.001\n");
  const Evaluated found = evaluate(table, graphs);
  ASSERT_EQ(found.rows.size(), 2U);
  const JudgedQuantity &wall = *found.rows[0].time, &kernels = *found.rows[1].time;
  EXPECT_GT(wall.found, 1.5 * found.rows[0].gpu_busy);
  EXPECT_DOUBLE_EQ(kernels.found, found.rows[1].gpu_busy);
  EXPECT_NEAR(kernels.hi / kernels.found, wall.hi / wall.found, 1e-9);
}

// As `predict --sm-clock` and `--power-limit` foretell it; the limit of the data sheet is the default.
TEST(EvaluateTable, NetworksAreHeldAgainstTheSettingTheyRanUnder) {
  const std::string header = "kind,name,gpu,mode,precision,runtime,batch,sm_clock_hz,power_limit_w,time_s,power_w\n";
  const std::string row = "network,resnet50,a30,inference,tf32,pytorch-eager,32,";
  const Evaluated found =
      evaluate(table_file("evaluate_settings.csv", header + row + ",,0.02,160\n" + row + "600e6,,0.02,160\n" + row +
                                                       ",110,0.02,160\n" + row + ",165,0.02,160\n"),
               JOULECAST_SOURCE_DIR "/examples");
  ASSERT_EQ(found.rows.size(), 4U);
  const auto time = [&](std::size_t i) { return found.rows[i].time->found; };
  const auto power = [&](std::size_t i) { return found.rows[i].power->found; };
  EXPECT_GT(time(1), 1.5 * time(0));
  EXPECT_LT(power(1), 0.7 * power(0));
  EXPECT_GT(time(2), 1.1 * time(0));
  EXPECT_LT(power(2), 0.8 * power(0));
  EXPECT_EQ(time(3), time(0));
}

constexpr const char* kSweepHeader =
    "gpu,dataset,network,batch_size,optimizer,power_limit_w,time_per_epoch_s,average_power_w,energy_per_epoch_j\n";

std::string sweep_of(std::initializer_list<const char*> limits, const std::string& readings) {
  std::string text = kSweepHeader;
  for (const char* limit : limits) text += std::string("V100,d,net,8,adam,") + limit + "," + readings + ",1\n";
  return text;
}

// Half the board's power at every limit: none of them binds, and nothing is foretold to change. 100 W are below half
// of the default limit, and the default is what is known.
TEST(EvaluateTable, OfSweepsTheHighestSettingForetellsTheOthers) {
  const Evaluated idle = evaluate(table_file("evaluate_sweep.csv", sweep_of({"250", "100", "150", "200"}, "50,120")));
  ASSERT_EQ(idle.rows.size(), 2U);
  const JudgedRow& row = idle.rows[0];
  EXPECT_EQ(row.line, 4U);
  EXPECT_EQ(row.subject, "net, d batch 8, 150 W");
  EXPECT_EQ(row.gpu, "V100");
  EXPECT_EQ(row.mode, Mode::kTraining);
  EXPECT_EQ(row.variant, kSettingsVariant);
  EXPECT_EQ(row.support, "seen");
  EXPECT_NEAR(row.time->measured, 50.0, 1e-9);
  EXPECT_NEAR(row.time->found, 50.0, 2.0);
  EXPECT_NEAR(row.power->measured, 120.0, 1e-9);
  EXPECT_NEAR(idle.rows[1].power->found, 120.0, 6.0);
  EXPECT_NEAR(row.energy->found, row.time->found * row.power->found, 1e-6);
  EXPECT_NEAR(row.baseline, 50.0, 1e-9);
  ASSERT_EQ(idle.evaluation.groups.size(), 1U);
  EXPECT_EQ(idle.evaluation.groups[0].n, 2U);
  EXPECT_EQ(idle.evaluation.groups[0].set_aside, 2U);
  EXPECT_EQ(idle.evaluation.layout, "zeus_power_limit_sweep");
}

TEST(EvaluateTable, SweepsAtTheLimitAreForetoldSlowerBelowIt) {
  const Evaluated bound =
      evaluate(table_file("evaluate_sweep_bound.csv", sweep_of({"250", "125", "150", "200"}, "50,240")));
  ASSERT_EQ(bound.rows.size(), 3U);
  EXPECT_GT(bound.rows[0].time->found, 1.1 * bound.rows[2].time->found);
  EXPECT_LT(bound.rows[0].power->found, 0.7 * bound.rows[2].power->found);
}

// 120, 100 and 80 W are below half of 250 W, or of the highest.
TEST(EvaluateTable, NoRowOfASweepIsLost) {
  const Evaluated low =
      evaluate(table_file("evaluate_sweep_low.csv", sweep_of({"120", "100", "90", "80", "250"}, "50,70")));
  EXPECT_EQ(low.evaluation.judged(), 0U);
  EXPECT_EQ(low.evaluation.unread, 0U);
  ASSERT_EQ(low.evaluation.groups.size(), 1U);
  EXPECT_EQ(low.evaluation.groups[0].set_aside, 5U);
}

// As an export of a store has it; the shipped pack was fitted on aiconfigurator's products, not on vidur's.
TEST(EvaluateTable, RowsSayWhatThePackWasFittedOnWhereverTheyStand) {
  const auto fitted_on = [](const std::string& layout) {
    return evaluate(table_file("evaluate_exported.csv",
                               "name,gpu,mode,precision,runtime,operator,operands,time_s,layout\n"
                               "x,a100-sxm4-80gb,inference,bf16,cuda-graph,linear,\"bf16[64, 1024]; w bf16[1024, "
                               "1024]; _\",1e-5," +
                                   layout + "\n"))
        .evaluation.fitted_on;
  };
  EXPECT_TRUE(fitted_on("aic_gemm"));
  EXPECT_FALSE(fitted_on("vidur_llm_ops"));
}

TEST(EvaluateTable, RowsWithoutARuntimeAreToldWhatTheyLack) {
  const Evaluated e =
      evaluate(table_file("evaluate_no_runtime.csv",
                          "name,gpu,mode,precision,batch,time_s\nresnet50,a30,inference,tf32,32,0.02\n"),
               JOULECAST_SOURCE_DIR "/examples");
  ASSERT_EQ(e.evaluation.refused.rows(), 1U);
  EXPECT_NE(e.evaluation.refused.reasons()[0].reason.find("no runtime is stated"), std::string::npos);
}

TEST(EvaluateTable, RowsOfNetworksSayWhichWordNobodyKnows) {
  const Evaluated e = evaluate(table_file("evaluate_words.csv",
                                          "name,gpu,mode,precision,runtime,per,time_s\n"
                                          "resnet50,a30,train,tf32,pytorch-eager,,0.02\n"
                                          "resnet50,a30,training,float16,pytorch-eager,,0.02\n"
                                          "resnet50,a30,training,tf32,pytorch-eager,epoch,0.02\n"));
  std::vector<std::string> reasons;
  for (const Refusal& one : e.evaluation.refused.by_frequency()) reasons.push_back(one.reason);
  EXPECT_EQ(reasons, (std::vector<std::string>{"mode 'train' is neither inference nor training",
                                               "precision 'float16' is none of ours", "measured per epoch"}));
}

TEST(EvaluateTable, SettingsThatMakeNoSweepAreNamed) {
  const Evaluated e = evaluate(table_file("evaluate_few.csv", sweep_of({"250", "200"}, "50,120")));
  EXPECT_EQ(e.evaluation.judged(), 0U);
  EXPECT_EQ(e.evaluation.unread, 2U);
  ASSERT_EQ(e.evaluation.refused.rows(), 2U);
  EXPECT_EQ(e.evaluation.refused.reasons()[0].reason, "fewer than 4 settings");
}

TEST(EvaluateTable, SettingsThatNothingForetellsAreRefused) {
  const std::string header =
      "kind,name,gpu,mode,precision,runtime,operator,operands,batch,sm_clock_hz,"
      "memory_clock_hz,time_s,mig_profile\n";
  const std::string operation = "operation,x,a30,inference,fp32,pytorch-eager,activation,\"f32[1024, 1024]\",,";
  const std::string network = "network,resnet50,a30,inference,tf32,pytorch-eager,,,32,,";
  const Evaluated found =
      evaluate(table_file("evaluate_locked.csv", header + operation + "600e6,,1e-5,\n" + operation + ",877e6,1e-5,\n" +
                                                     operation + ",,1e-5,1g.6gb\n" + network + "877e6,0.02,\n" +
                                                     network + ",0.02,1g.6gb\n"),
               JOULECAST_SOURCE_DIR "/examples");
  EXPECT_EQ(found.rows.size(), 0U);
  const std::vector<Refusal> reasons = found.evaluation.refused.by_frequency();
  ASSERT_EQ(reasons.size(), 3U);
  EXPECT_NE(reasons[0].reason.find("locked memory clock"), std::string::npos);
  EXPECT_EQ(reasons[1].reason, "on a slice of the GPU");
  EXPECT_EQ(reasons[1].count, 2U);
  EXPECT_NE(reasons[2].reason.find("operation at a locked clock"), std::string::npos);
}

// 200 W is what an A30 with its limit of 165 W may have drawn in the mean, and 250 W what its machine may have.
TEST(EvaluateTable, RowsThatCannotBeAreRefused) {
  const std::string operation = "x,a30,inference,fp32,pytorch-eager,activation,";
  const Evaluated found = evaluate(table_file(
      "evaluate_impossible.csv",
      "name,gpu,mode,precision,runtime,operator,operands,time_s,power_w,power_scope,energy_j\n" + operation +
          "\"f32[0, 1024]\",1e-5,,,\n" + operation + "\"f32[1024, 1024]\",1e-5,250,gpu,\n" + operation +
          "\"f32[1024, 1024]\",1e-5,2,gpu,\n" + operation + "\"f32[1024, 1024]\",1e-5,200,gpu,\n" + operation +
          "\"f32[1024, 1024]\",1e-5,250,machine,\n" + operation + "\"f32[1024, 1024]\",0.004,,gpu,23\n"));
  EXPECT_EQ(found.rows.size(), 2U);
  const std::vector<Refusal> reasons = found.evaluation.refused.by_frequency();
  ASSERT_EQ(reasons.size(), 4U);
  EXPECT_EQ(reasons[0].reason, "of no elements");
  EXPECT_NE(reasons[1].reason.find("cannot have drawn 250 W"), std::string::npos);
  EXPECT_NE(reasons[2].reason.find("cannot have drawn 2 W"), std::string::npos);
  EXPECT_NE(reasons[3].reason.find("cannot have drawn 5.75e+03 W"), std::string::npos);
}

// A measurement that says what is predicted has no error; one of four fifths of it an error of 0.25.
TEST(EvaluateTable, HoldsPredictionsAgainstTheRows) {
  const auto table = [](double first, double second) {
    return table_file("evaluate_bf16.csv",
                      fmt::format("m,n,k,a100_sxm_s\n4096,4096,4096,{:.17g}\n64,1024,1024,{:.17g}\n", first, second));
  };
  const Evaluated before = evaluate(table(1e-3, 1e-5));
  ASSERT_EQ(before.rows.size(), 2U);
  const double first = before.rows[0].time->found;
  const double second = before.rows[1].time->found;
  EXPECT_GT(first, second);
  const Evaluated exact = evaluate(table(first, second));
  ASSERT_EQ(exact.evaluation.groups.size(), 1U);
  EXPECT_NEAR(*exact.evaluation.groups[0].time.figures.mape, 0.0, 1e-12);
  EXPECT_NEAR(*exact.evaluation.groups[0].time.figures.r2, 1.0, 1e-12);
  EXPECT_EQ(*exact.evaluation.groups[0].time.coverage, 1.0);
  const Evaluated above = evaluate(table(0.8 * first, 0.8 * second));
  EXPECT_NEAR(*above.evaluation.groups[0].time.figures.mape, 0.25, 1e-12);
  EXPECT_NEAR(*above.evaluation.groups[0].time.figures.bias, 0.25, 1e-12);
  EXPECT_NEAR(*above.evaluation.groups[0].time.figures.max, 0.25, 1e-12);
}

TEST(EvaluateTable, EnergyIsTimeTimesPowerOfTheRow) {
  const Evaluated e =
      evaluate(table_file("evaluate_power.csv", std::string(kPowerHeader) +
                                                    "h200_sxm,vllm,0.22.0,k,bfloat16,4096,4096,4096,0.002,500,700\n"));
  ASSERT_EQ(e.rows.size(), 1U);
  EXPECT_EQ(e.rows[0].line, 2U);
  EXPECT_EQ(e.rows[0].group, "gemm-tensor");
  EXPECT_DOUBLE_EQ(e.rows[0].time->measured, 0.002);
  EXPECT_DOUBLE_EQ(e.rows[0].power->measured, 500.0);
  EXPECT_DOUBLE_EQ(e.rows[0].energy->measured, 1.0);
  EXPECT_DOUBLE_EQ(e.rows[0].energy->found, e.rows[0].time->found * e.rows[0].power->found);
}

TEST(EvaluateTable, RowsSayWhatToBewareOf) {
  const Evaluated e = evaluate(table_file(
      "evaluate_short.csv", std::string(kPowerHeader) + "h200_sxm,vllm,0.22.0,k,bfloat16,64,32,16,0.001,500,700\n"
                                                        "h200_sxm,vllm,0.22.0,k,bfloat16,64,32,16,0.00001,500,700\n"));
  ASSERT_EQ(e.rows.size(), 2U);
  EXPECT_EQ(e.rows[0].cautions, "");
  EXPECT_EQ(e.rows[1].cautions, "power-window-short");
}

TEST(EvaluateTable, RowsThatCannotBeJudgedAreNamedWithTheirLine) {
  const Evaluated e = evaluate(table_file(
      "evaluate_refused.csv", std::string(kPowerHeader) + "h200_sxm,vllm,0.22.0,k,bfloat16,64,32,16,0.001,500,700\n"
                                                          "h200_sxm,vllm,0.22.0,k,bfloat16,64,32,16,1e300,500,700\n"
                                                          "h200_sxm,vllm,0.22.0,k,bfloat16,64,32,16,-1,500,700\n"
                                                          "no-such-gpu,vllm,0.22.0,k,bfloat16,64,32,16,0.001,500,700\n"
                                                          "h200_sxm,vllm,0.22.0,k,bfloat16,64,32,16,nan,500,700\n"));
  EXPECT_EQ(e.rows.size(), 1U);
  EXPECT_EQ(e.evaluation.unread, 3U);
  EXPECT_EQ(e.evaluation.refused.rows(), 4U);
  std::vector<std::size_t> lines;
  for (const Refusal& refusal : e.evaluation.refused.by_frequency()) lines.push_back(refusal.first_line);
  EXPECT_EQ(lines, (std::vector<std::size_t>{3, 4, 5, 6}));
  ASSERT_EQ(e.evaluation.groups.size(), 2U);
  EXPECT_EQ(e.evaluation.groups[1].gpu, "no-such-gpu");
  EXPECT_EQ(e.evaluation.groups[1].unmapped, 1U);
}

TEST(EvaluateTable, APowerLimitBelowIdleIsNoSetting) {
  const Evaluated e = evaluate(table_file(
      "evaluate_limit.csv", std::string(kPowerHeader) + "h200_sxm,vllm,0.22.0,k,bfloat16,64,32,16,0.001,500,1\n"));
  ASSERT_EQ(e.evaluation.refused.rows(), 1U);
  EXPECT_NE(e.evaluation.refused.reasons()[0].reason.find("power limit of 1 W"), std::string::npos);
}

TEST(EvaluateTable, TheWorstShapesGiveNoInfinity) {
  // 2^24 x 2^24 elements each: the largest tensors that the reader lets pass.
  const Evaluated e = evaluate(table_file(
      "evaluate_large.csv",
      std::string(kPowerHeader) + "h200_sxm,vllm,0.22.0,k,bfloat16,16777216,16777216,16777216,1e6,500,700\n"));
  ASSERT_EQ(e.rows.size(), 1U);
  EXPECT_TRUE(std::isfinite(*e.evaluation.groups[0].energy.figures.mape));
}

TEST(EvaluateTable, OperationsBesideNetworksNeedNone) {
  const Evaluated e = evaluate(table_file("evaluate_mixed.csv",
                                          "kind,name,gpu,mode,precision,runtime,operator,operands,batch,time_s\n"
                                          "operation,x,a30,inference,fp32,pytorch-eager,activation,\"f32[1024, "
                                          "1024]\",,1e-5\n"
                                          "network,resnet50,a30,inference,tf32,pytorch-eager,,,32,0.02\n"));
  EXPECT_EQ(e.rows.size(), 1U);
  ASSERT_EQ(e.evaluation.refused.rows(), 1U);
  EXPECT_EQ(e.evaluation.refused.reasons()[0].reason, "a network: --graphs DIR says where its graph is");
}

// What keeps the others from being judged is said too.
TEST(EvaluateTable, NetworksWithoutGraphsHideNoOtherReason) {
  const Evaluated e = evaluate(table_file("evaluate_hidden.csv",
                                          "kind,name,gpu,mode,precision,runtime,operator,operands,batch,time_s\n"
                                          "operation,x,my-board,inference,fp32,pytorch-eager,activation,\"f32[1024, "
                                          "1024]\",,1e-5\n"
                                          "network,resnet50,a30,inference,tf32,pytorch-eager,,,32,0.02\n"));
  EXPECT_EQ(e.rows.size(), 0U);
  ASSERT_EQ(e.evaluation.refused.rows(), 2U);
  EXPECT_NE(e.evaluation.refused.reasons()[0].reason.find("no GPU 'my-board'"), std::string::npos);
}

// At the plug, and with the host: the time alone is judged.
TEST(EvaluateTable, PowerOfMoreThanTheBoardIsNotJudged) {
  for (const auto& [scope, judged] : {std::pair{"gpu", true}, {"gpu+host", false}, {"machine", false}}) {
    const Evaluated e = evaluate(
        table_file("evaluate_scope.csv",
                   fmt::format("name,gpu,mode,precision,runtime,operator,operands,time_s,power_w,power_scope\n"
                               "x,a30,inference,fp32,pytorch-eager,activation,\"f32[1024, 1024]\",1e-4,120,{}\n",
                               scope)));
    ASSERT_EQ(e.rows.size(), 1U) << scope;
    EXPECT_TRUE(e.rows[0].time) << scope;
    EXPECT_EQ(e.rows[0].power.has_value(), judged) << scope;
    EXPECT_EQ(e.rows[0].energy.has_value(), judged) << scope;
  }
}

TEST(EvaluateTable, NetworksNeedGraphs) {
  const std::string path =
      table_file("evaluate_networks.csv",
                 "gpu,n_gpus,mode,dtype,model,batch,img_size,median_s,mean_s,p10_s,p90_s,n_iter,path\n"
                 "A100-SXM4-40GB,1,inference,fp32,resnet50,8,224,0.05,0.05,0.05,0.05,15,x\n"
                 "A100-SXM4-40GB,4,inference,fp32,resnet50,8,224,0.05,0.05,0.05,0.05,15,x\n"
                 "A100-SXM4-40GB,1,inference,fp32,../resnet50,8,224,0.05,0.05,0.05,0.05,15,x\n");
  const Catalogue catalogue = Catalogue::shipped();
  auto evaluator = Evaluator::open(kPack, catalogue, {});
  ASSERT_TRUE(evaluator);
  const auto without = evaluator->judge(path, {});
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().text().find("--graphs DIR"), std::string::npos);
  const Evaluated e = evaluate(path, JOULECAST_SOURCE_DIR "/examples");
  ASSERT_EQ(e.rows.size(), 1U);
  EXPECT_EQ(e.rows[0].subject, "resnet50 224");
  EXPECT_EQ(e.rows[0].batch, 8);
  EXPECT_EQ(e.evaluation.groups[0].set_aside, 1U) << "four GPUs";
  EXPECT_EQ(e.evaluation.groups[0].unmapped, 1U) << "no name leads out of the folder";
}

// Their rows say what ran.
TEST(EvaluateTable, SingleLayersNeedNoGraphs) {
  const Evaluated e = evaluate(table_file(
      "evaluate_layers.csv",
      "gpu,batchsize,matsize,channels_in,channels_out,kernelsize,strides,padding,use_bias,precision_bits,optimizer,"
      "activation,time_median_s\n"
      "NVIDIA Tesla P100,32,56,64,64,3,1,1,1,32,None,relu,0.003\n"
      "NVIDIA Tesla P100,32,56,64,64,3,1,1,1,32,SGD,relu,0.012\n"
      "NVIDIA Tesla P100,32,56,64,64,3,1,1,1,32,Adam,relu,0.014\n"));
  ASSERT_EQ(e.rows.size(), 3U);
  EXPECT_EQ(e.rows[0].subject, "conv 64 -> 64, 3x3 s1 same bias relu 56");
  const auto time = [&](std::size_t row) { return e.rows[row].time->found; };
  EXPECT_GT(time(1), 2.0 * time(0)) << "both gradients";
  EXPECT_GT(time(2), time(1)) << "an optimizer that moves more";
}

// Of two machines with this GPU one copies its images within the time: 8 of 602,112 bytes at 5 GB/s.
TEST(EvaluateTable, AStepHasTheCopyThatItsMachineHas) {
  const Evaluated e = evaluate(table_file("evaluate_copies.csv",
                                          "gpu,n_gpus,mode,dtype,model,batch,img_size,median_s,n_iter,path\n"
                                          "rtx-2080-ti,1,inference,fp32,resnet50,8,224,0.02,45,results/2080TI/a\n"
                                          "rtx-2080-ti,1,inference,fp32,resnet50,8,224,0.02,45,results/2080ti(2)/a\n"),
                               JOULECAST_SOURCE_DIR "/examples");
  ASSERT_EQ(e.rows.size(), 2U);
  EXPECT_EQ(e.rows[0].campaign, "2080TI");
  EXPECT_EQ(e.rows[1].campaign, "2080ti(2)");
  const auto beside = [](const JudgedRow& row) {
    return row.time->found - std::pow(std::pow(row.gpu_busy, 6) + std::pow(row.host_busy, 6), 1.0 / 6.0);
  };
  EXPECT_NEAR(beside(e.rows[0]), 0.0, 1e-6);
  EXPECT_NEAR(beside(e.rows[1]), 8 * 602112 / 5e9, 1e-6);
}

TEST(EvaluateTable, ANetworkInTrainingMayHaveAGraphOfItsOwn) {
  const std::string path = table_file(
      "evaluate_training.csv",
      "gpu,model,mode,option,batch_per_gpu,seq_len,dtype,n_layers,e2e_latency_s,forward_latency_s,backward_latency_s\n"
      "Tesla_T4,net,train,,8,64,fp32,2,0.1,0.03,0.07\nTesla_T4,net,inf,,8,64,fp32,2,0.03,0.03,0\n");
  const std::filesystem::path graphs = std::filesystem::path(testing::TempDir()) / "graphs_of_training";
  std::filesystem::remove_all(graphs);  // of an earlier run
  std::filesystem::create_directories(graphs);
  const auto layers = [&](const char* file, int width) {
    std::ofstream(graphs / file) << "graph \"net\" {\ninput %x : f32[batch, sequence, 256]\nparameter %w : f32["
                                 << width << ", 256]\n%y = linear(%x, %w)\noutput %y\n}\n";
  };
  layers("net.jcg", 64);
  const Evaluated same = evaluate(path, graphs);
  layers("net_training.jcg", 65536);
  const Evaluated own = evaluate(path, graphs);
  ASSERT_EQ(same.rows.size(), 2U);
  ASSERT_EQ(own.rows.size(), 2U);
  EXPECT_GT(own.rows[0].time->found, 10 * same.rows[0].time->found);
  EXPECT_EQ(own.rows[1].time->found, same.rows[1].time->found) << "inference keeps its own";
}

// A step of training that overwrites its gradients moves less than the benchmark that adds them up.
TEST(EvaluateTable, TrainingRowsWithoutAccumulation) {
  const std::string header =
      "gpu,model,mode,option,batch,seq_len,idx,node,kind,target,input_shapes,output_shape,dtype,latency_s,forward_s,"
      "backward_s,accum_s\n";
  const Evaluated e = evaluate(table_file(
      "evaluate_ops.csv",
      header + "Tesla_T4,net,train,,8,64,1,add_1,call_function,add,\"[[64,1048576],[64,1048576]]\",\"(64,1048576)\","
               "float32,6e-3,4e-3,1e-5,0\n"));
  ASSERT_EQ(e.rows.size(), 1U);
  // Three tensors of 256 MiB forward and three backward at 320 GB/s; adding up would be another three.
  EXPECT_LT(e.rows[0].time->found, 9.0 * 268435456 / (0.9 * 320e9));
}

// A table that fails, or that holds something else, leaves nothing behind for the next one.
TEST(EvaluateTable, TablesDoNotTouchEachOther) {
  const std::string good = table_file("evaluate_good_bf16.csv", "m,n,k,a100_sxm_s\n4096,4096,4096,1e-3\n");
  const std::string bad = table_file("evaluate_bad.csv", "colour,taste\nred,sour\n");
  const Catalogue catalogue = Catalogue::shipped();
  auto evaluator = Evaluator::open(kPack, catalogue, {});
  ASSERT_TRUE(evaluator);
  const auto first = evaluator->judge(good, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->judged(), 1U);
  EXPECT_FALSE(evaluator->judge(bad, {}));
  const auto again = evaluator->judge(good, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->judged(), 1U);
  EXPECT_EQ(again->unread, 0U);
  EXPECT_EQ(*again->groups[0].time.figures.mape, *first->groups[0].time.figures.mape);
}

}  // namespace
}  // namespace joulecast
