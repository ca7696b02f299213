// SPDX-License-Identifier: Apache-2.0
#include "evaluate/judges.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "dataset/table.h"
#include "predict/pack/writer.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

constexpr const char* kGroup = "gemm-tensor";

// Of products in tensor cores, measured on Hopper alone.
std::string pack(const std::map<std::string, double>& intervals) {
  PackWriter writer;
  const std::vector<std::string_view> power = row_names(Group::kGemmTensor);
  const std::vector<std::string_view> time(power.begin(), power.end() - std::ssize(kPowerFeatures));
  EXPECT_TRUE(writer.add_forest(std::string("time/") + kGroup, {.features = {time.begin(), time.end()}, .trees = {}}));
  EXPECT_TRUE(
      writer.add_forest(std::string("power/") + kGroup, {.features = {power.begin(), power.end()}, .trees = {}}));
  EXPECT_TRUE(writer.add_table(std::string(pack_names::kTrust), {{kGroup, 1.0}}));
  EXPECT_TRUE(writer.add_table(
      std::string(pack_names::kGpus),
      {{pack_names::generation(kGroup, 9.0), 1.0}, {"architecture/Ampere", 1.0}, {"architecture/Hopper", 1.0}}));
  EXPECT_TRUE(writer.add_table(std::string(pack_names::kIntervals), intervals));
  const std::string path = testing::TempDir() + "judges_test" + std::to_string(::getpid()) + ".jcpack";
  EXPECT_TRUE(writer.write(path));
  return path;
}

Estimate judged_by(const OperationJudge& judge, const std::string& gpu, const std::string& precision,
                   const std::string& type) {
  Estimate out;
  TableSink sink;
  sink.operation = [&](const MeasuredOperation& row) { out = judge.predict(row).value(); };
  const std::string operands = type + "[512, 1024]; w " + type + "[512, 1024]; _";
  const std::string text = "name,gpu,mode,precision,runtime,operator,operands,time_s\nx," + gpu + ",inference," +
                           precision + ",pytorch-eager,linear,\"" + operands + "\",1e-5\n";
  EXPECT_TRUE(parse_table(text, "rows.csv", sink));
  return out;
}

// The first row of a published table.
Estimate judged_in(const OperationJudge& judge, const std::string& name, const std::string& text) {
  const auto table = parse_table(text, name);
  EXPECT_TRUE(table) << table.error().text();
  return judge.predict(table->operations.at(0)).value();
}

Estimate judged(const std::string& gpu, const std::map<std::string, double>& intervals) {
  const std::string path = pack(intervals);
  const OperationJudge judge = OperationJudge::open(path, {}, Catalogue::shipped()).value();
  std::filesystem::remove(path);
  return judged_by(judge, gpu, "bf16", "bf16");
}

TEST(OperationJudge, BoundsOfARelativeOfMeasuredGpusAreTheirOwn) {
  const std::map<std::string, double> intervals{{"operation/gemm-tensor/relative/time", 0.1},
                                                {"operation/gemm-tensor/unseen-gpu/time", 0.5}};
  const Estimate h200 = judged("h200-sxm-141gb", intervals);
  EXPECT_EQ(h200.support, "relative");
  EXPECT_NEAR(h200.time.hi / h200.time.value, std::exp(0.1), 1e-9);
  const Estimate a100 = judged("a100-sxm4-80gb", intervals);
  EXPECT_EQ(a100.support, "unseen-gpu");
  EXPECT_NEAR(a100.time.hi / a100.time.value, std::exp(0.5), 1e-9);
}

// Twice as wide as those of networks on a GPU of a known architecture.
TEST(OperationJudge, BoundsWidenOnAnArchitectureThatNobodyMeasured) {
  const std::map<std::string, double> intervals{
      {"operation/gemm-tensor/unseen-gpu/time", 0.25}, {"network/time/edge", 0.3}, {"network/time/outside", 0.6}};
  const Estimate ada = judged("rtx-4090", intervals);
  EXPECT_EQ(ada.support, "outside");
  EXPECT_NEAR(ada.time.hi / ada.time.value, std::exp(0.5), 1e-9);
}

// Whatever is known of the GPU: its bounds' logarithm is multiplied by what the group gets in other benchmarks.
TEST(OperationJudge, AnotherBenchmarkWidensTheBoundsThatAGpuHas) {
  const std::string path = pack({{"operation/gemm-tensor/relative/time", 0.1},
                                 {"operation/gemm-tensor/unseen-gpu/time", 0.5},
                                 {"operation/gemm-tensor/elsewhere/time", 1.5}});
  const OperationJudge judge = OperationJudge::open(path, {}, Catalogue::shipped()).value();
  std::filesystem::remove(path);
  const Estimate own = judged_by(judge, "h200-sxm-141gb", "bf16", "bf16");
  const Estimate other =
      judged_in(judge, "vidur_llm_ops.csv",
                "gpu,model,tensor_parallel,n_head,n_kv_head,n_embd,n_ffn,gated_mlp,num_tokens,op,latency_s\n"
                "H100,Qwen-72B,1,64,64,8192,24576,True,4096,mlp_up_proj,0.007\n");
  EXPECT_EQ(own.support, "relative");
  EXPECT_EQ(other.support, "relative");
  EXPECT_NEAR(own.time.hi / own.time.value, std::exp(0.1), 1e-9);
  EXPECT_NEAR(other.time.hi / other.time.value, std::exp(0.15), 1e-9);
  EXPECT_NEAR(other.time.value / other.time.lo, std::exp(0.15), 1e-9);
  EXPECT_NEAR(other.time.spread, 0.1, 1e-9);
}

TEST(OperationJudge, APackThatDoesNotTellRelativesApartHasOneFactor) {
  const Estimate h200 = judged("h200-sxm-141gb", {{"operation/gemm-tensor/unseen-gpu/time", 0.5}});
  EXPECT_EQ(h200.support, "unseen-gpu");
  EXPECT_NEAR(h200.time.hi / h200.time.value, std::exp(0.5), 1e-9);
}

TEST(OperationJudge, HalvesInFp32AreNotWhatWasMeasuredInFp32) {
  const std::string shipped = JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack";
  const OperationJudge judge = OperationJudge::open(shipped, {}, Catalogue::shipped()).value();
  EXPECT_EQ(judged_by(judge, "p100-pcie-16gb", "fp32", "f32").support, "seen");
  EXPECT_EQ(judged_by(judge, "p100-pcie-16gb", "fp16", "f16").support, "unseen-gpu");
}

// The shipped pack was fitted on NeuSight's products on a P100, and not on DeepBench's, which have what a GPU that was
// left out has, and more.
TEST(OperationJudge, AnotherBenchmarkOfAMeasuredGpuIsNoBetterKnownThanAGpuLeftOut) {
  const std::string shipped = JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack";
  const OperationJudge judge = OperationJudge::open(shipped, {}, Catalogue::shipped()).value();
  const Estimate seen =
      judged_in(judge, "neusight_gemm.csv",
                "gpu,op,split,dtype,batch,m,n,k,latency_s,kernel,grid,block,torch\n"
                "Tesla P100-PCIE-16GB,linear,test,fp32,1,512,1024,512,1e-3,sgemm,1x1x8,64x1x1,p2.1.0\n");
  const Estimate elsewhere = judged_in(judge, "deepbench_ops.csv",
                                       "gpu,workload,precision,section,op,params,application,pass,time_s,tflops,file\n"
                                       "NVIDIA Tesla P100,train,Float,Results FP32,Dense Matrix Multiplication,"
                                       "M=512;N=512;K=1024;A Transpose=N;B Transpose=N,,Time (msec),0.001,1,x\n");
  const Estimate left_out = judged_by(judge, "v100-sxm2-16gb", "fp32", "f32");
  const auto width = [](const Estimate& e) { return std::log(e.time.hi / e.time.value); };
  EXPECT_EQ(seen.support, "seen");
  EXPECT_EQ(elsewhere.support, "elsewhere");
  EXPECT_EQ(left_out.support, "unseen-gpu");
  EXPECT_NEAR(elsewhere.time.spread, width(left_out), 1e-9);
  EXPECT_GT(width(elsewhere), 1.5 * width(left_out));
  EXPECT_GT(width(left_out), width(seen));
}

// Nothing is learnt of recurrent layers, though products in FP32 were measured on the GPU.
TEST(OperationJudge, RecurrentLayersAreNotKnownFromProducts) {
  const std::string shipped = JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack";
  const OperationJudge judge = OperationJudge::open(shipped, {}, Catalogue::shipped()).value();
  const Estimate product = judged_by(judge, "a30", "fp32", "f32");
  const auto layer_on = [&](const std::string& gpu) {
    const std::string operands = "\"f32[25, 16, 64]; w f32[1, 256, 64]; w f32[1, 256, 64]\"";
    return judged_in(judge, "own.csv",
                     "name,gpu,mode,precision,runtime,operator,operands,attributes,state,time_s\nx," + gpu +
                         ",inference,fp32,cuda-graph,rnn," + operands + ",hidden = 64,inputs-skipped,1e-3\n");
  };
  const Estimate layer = layer_on("a30"), older = layer_on("gtx-1080-ti"), corrected = layer_on("rtx-3090");
  EXPECT_EQ(product.support, "seen");
  EXPECT_EQ(layer.support, "unseen-gpu");
  EXPECT_EQ(layer.group, "recurrent");
  EXPECT_EQ(layer.time.value, layer.baseline) << "the law alone";
  EXPECT_EQ(corrected.time.value, corrected.baseline) << "networks of the GPU say nothing of it";
  EXPECT_EQ(older.support, "outside") << "where kernels of a size differ threefold";
  EXPECT_GT(older.time.hi / older.time.value, 1.2 * layer.time.hi / layer.time.value);
}

}  // namespace
}  // namespace joulecast
