// SPDX-License-Identifier: Apache-2.0
#include "predict/measured_work.h"

#include <gtest/gtest.h>

#include <string>

#include "dataset/table.h"

namespace joulecast {
namespace {

// NeuSight's training half is a sweep of thousands of rows; its machines have hosts of their own speed.
TEST(MeasuredWork, KnowsTheMachinesOfNeuSight) {
  const auto situation = [](const std::string& gpu, const std::string& split, const std::string& op = "bmm") {
    const auto table = parse_table("gpu,op,split,dtype,batch,m,n,k,latency_s,kernel,grid,block,torch\n" + gpu + "," +
                                       op + "," + split + ",fp32," + (op == "bmm" ? "8" : "1") +
                                       ",64,64,64,1e-3,volta_sgemm_64x64_nn,1x1x8,64x1x1,p2.1.0\n",
                                   "neusight_gemm.csv");
    EXPECT_TRUE(table);
    return measured_work(table->operations.at(0)).value().situation;
  };
  EXPECT_EQ(situation("Tesla T4", "train").host, Host::kBare);
  EXPECT_TRUE(situation("Tesla T4", "train").swept);
  EXPECT_FALSE(situation("Tesla T4", "test").swept);
  EXPECT_EQ(situation("Tesla T4", "test").host_scale, 1.0);
  EXPECT_EQ(situation("Tesla V100-PCIE-32GB", "test").host_scale, 1.5);
  EXPECT_EQ(situation("Tesla V100-PCIE-32GB", "test", "linear").host_scale, 1.24);
}

// vidur's A100 have 80 GB, and its gated activations and norms are vLLM's kernels.
TEST(MeasuredWork, KnowsTheKernelsOfVidur) {
  const auto table = parse_table(
      "gpu,model,tensor_parallel,n_head,n_kv_head,n_embd,n_ffn,gated_mlp,num_tokens,op,latency_s\n"
      "A100,m,1,32,32,4096,11008,True,64,mlp_act,1e-4\n"
      "H100,m,1,32,32,4096,11008,True,64,add,1e-4\n"
      "A40,m,1,32,32,4096,11008,False,64,mlp_act,1e-4\n"
      "A40,m,1,32,32,4096,11008,False,64,input_layernorm,1e-4\n",
      "vidur_llm_ops.csv");
  ASSERT_TRUE(table) << table.error().text();
  const auto work = [&](std::size_t row) {
    return std::get<PointwiseWork>(measured_work(table->operations.at(row)).value().work);
  };
  EXPECT_EQ(table->operations.at(0).at.gpu, "a100-pcie-80gb");
  EXPECT_EQ(table->operations.at(0).at.gpu_label, "A100");
  EXPECT_EQ(table->operations.at(1).at.gpu, "H100");
  EXPECT_EQ(work(0).gated_rows, 64);
  EXPECT_EQ(work(0).elements, 64 * 11008);
  EXPECT_EQ(work(1).gated_rows, 0);
  EXPECT_EQ(work(2).gated_rows, 0) << "GELU is PyTorch's";
  EXPECT_TRUE(std::get<ReductionWork>(measured_work(table->operations.at(3)).value().work).by_engine);
}

// As networks that PyTorch captured are.
TEST(MeasuredWork, CapturedRowsSayWhoseKernelsTheyRan) {
  const auto engine = [](const std::string& software) {
    const auto table = parse_table(
        "name,gpu,mode,precision,runtime,software,operator,operands,attributes,time_s\n"
        "a,h100,inference,bf16,cuda-graph," +
            software + ",linear,\"bf16[64, 64]; w bf16[64, 64]\",,1e-5\n",
        "mine.csv");
    EXPECT_TRUE(table && table->operations.size() == 1U);
    return measured_work(table->operations.at(0)).value().situation.engine;
  };
  EXPECT_EQ(engine("pytorch 2.9"), Engine::kPytorch);
  EXPECT_EQ(engine("vllm 0.11"), Engine::kVllm);
  EXPECT_EQ(engine("trtllm 1.0"), Engine::kTensorRtLlm);
  EXPECT_EQ(engine("sglang 0.5.10"), Engine::kSglang);
}

// Grouped queries with heads of 512, or with narrower values: PyTorch falls back to products there, engines do not.
TEST(MeasuredWork, EnginesTakeAllAttentionWhole) {
  const auto is_whole = [](const std::string& software, const std::string& value) {
    const auto table = parse_table(
        "name,gpu,mode,precision,runtime,software,operator,operands,attributes,time_s\n"
        "a,h100,inference,bf16,cuda-graph," +
            software + ",attention,\"bf16[2, 8, 64, 512]; bf16[2, 2, 64, 512]; bf16[2, 2, 64, " + value +
            "]\",causal = true,1e-5\n",
        "mine.csv");
    EXPECT_TRUE(table && table->operations.size() == 1U);
    return measured_work(table->operations.at(0)).has_value();
  };
  for (const char* value : {"512", "128"}) {
    EXPECT_TRUE(is_whole("sglang 0.5.10", value));
    EXPECT_FALSE(is_whole("pytorch 2.9", value));
  }
}

// Two machines of one table have the same GPU, of which one copies its images within the time, at a rate of its own;
// other GPUs of it are on a machine like the others. Nothing is known of other tables.
TEST(MeasuredWork, TellsTheMachinesOfNetworksApart) {
  const auto host = [](const std::string& gpu_id, const std::string& path, const std::string& mode) {
    const auto table = parse_table("gpu,n_gpus,mode,dtype,model,batch,img_size,median_s,n_iter,path\n" + gpu_id +
                                       ",1," + mode + ",fp32,vgg11,12,224,0.05,45," + path + "\n",
                                   "torchvision_gpu_benchmark.csv");
    EXPECT_TRUE(table);
    return measured_host(table->networks.at(0), **Catalogue::shipped().find(gpu_id));
  };
  const MeasuredHost first = host("rtx-2080-ti", "results/2080TI/a.csv", "train");
  const MeasuredHost second = host("rtx-2080-ti", "results/2080ti(2)/a.csv", "train");
  EXPECT_FALSE(first.input_copy);
  EXPECT_EQ(second.input_copy, BytesPerSecond{5e9});
  EXPECT_NE(first.machine.scale, second.machine.scale);
  EXPECT_NE(second.machine.scale, host("rtx-2080-ti", "results/2080ti(2)/a.csv", "inference").machine.scale);
  EXPECT_EQ(host("h100-sxm", "x", "train").machine.scale, 1.8);
  EXPECT_EQ(host("h100-sxm", "x", "inference").machine.scale, 1.3);
  EXPECT_EQ(host("h100-sxm", "x", "inference").input_copy, BytesPerSecond{3.5e9});
  MeasuredNetwork layer;
  layer.from.table = "cde_dense";
  EXPECT_EQ(measured_host(layer, **Catalogue::shipped().find("tesla-m60")).machine.scale, 0.11);
  EXPECT_EQ(measured_host(layer, **Catalogue::shipped().find("l4")).machine.scale, 0.16);
  const MeasuredHost elsewhere = measured_host(MeasuredNetwork{}, **Catalogue::shipped().find("rtx-2080-ti"));
  EXPECT_EQ(elsewhere.machine.scale, 1.0);
  EXPECT_FALSE(elsewhere.input_copy);
}

// DeepBench's layers do not multiply their inputs: of a layer its steps are left.
TEST(MeasuredWork, OfALayerWithoutItsInputsAreItsSteps) {
  const auto table = parse_table(
      "gpu,workload,precision,section,op,params,application,pass,time_s,tflops,file\n"
      "NVIDIA V100,train,Float,x,Recurrent Layers - LSTM,Hidden Units=64;N=16,,Timesteps,0.025,,x\n"
      "NVIDIA V100,train,Float,x,Recurrent Layers - LSTM,Hidden Units=64;N=16,,Time Forward (msec),0.001,,x\n",
      "deepbench_ops.csv");
  ASSERT_TRUE(table) << table.error().text();
  MeasuredOperation row = table->operations.at(0);
  const GemmWork work = std::get<GemmWork>(measured_work(row).value().work);
  EXPECT_EQ(work, (GemmWork{.rows = 16, .columns = 256, .depth = 64, .steps = 25}));
  row.inputs_skipped = false;
  EXPECT_FALSE(measured_work(row)) << "two kernels";
  Graph both = *row.graph;
  std::get<Rnn>(both.nodes[0].op).directions = 2;
  for (const std::size_t weight : {1, 2}) both.values[index(both.nodes[0].inputs[weight])].type.shape[0] = 2;
  row.graph = std::make_shared<const Graph>(both);
  row.inputs_skipped = true;
  const auto refused = measured_work(row);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("a layer in both directions"), std::string::npos);
}

// Of a single operation nobody sees what is behind its operands: those of the result's size have a gradient, a mask
// not.
TEST(MeasuredWork, TrainsWhatIsNoMask) {
  const auto table = parse_table(
      "gpu,model,mode,option,batch,seq_len,idx,node,kind,target,input_shapes,output_shape,dtype,latency_s,forward_s,"
      "backward_s,accum_s\n"
      "Tesla T4,m,train,,2,8,1,mul,call_function,mul,\"[[2,8,4],[2,8,4]]\",\"(2,8,4)\",float32,3e-5,2e-5,1e-5,0.0\n"
      "Tesla T4,m,train,,2,8,2,mul_1,call_function,mul,\"[[2,8,4],[1,8,4]]\",\"(2,8,4)\",float32,3e-5,2e-5,1e-5,0.0\n",
      "neusight_e2e_ops.csv");
  ASSERT_TRUE(table) << table.error().text();
  const auto backward = [&](std::size_t row) {
    return std::get<PointwiseWork>(measured_work(table->operations.at(row)).value().work).backward_bytes;
  };
  EXPECT_EQ(backward(0), 2 * 3 * 256);
  EXPECT_EQ(backward(1), 256 + 128 + 256);
}

// Modules in training state drop while nothing is trained.
TEST(MeasuredWork, DropsInTrainingState) {
  const auto table = parse_table(
      "gpu,mode,op_type,op_repr,input_shape,time_s,time_std_s,energy_j,energy_std_j,power_w,power_std_w,module_state,"
      "primary,anomaly,generation\n"
      "a30,inference,StochasticDepth,\"StochasticDepth(p=0.5, mode=row)\",4x8,1e-5,,,,,,\"train-mode-module,"
      "autograd-on\",1,,2024-11-newbench\n"
      "a30,inference,StochasticDepth,\"StochasticDepth(p=0.5, mode=row)\",4x8,1e-5,,,,,,eval+inference_mode,1,,"
      "2025-02-12-train\n"
      "a30,training,StochasticDepth,\"StochasticDepth(p=0.5, mode=row)\",4x8,1e-5,,,,,,\"train,forward+backward\",1,,"
      "2025-02-12-train\n",
      "operations.csv");
  ASSERT_TRUE(table) << table.error().text();
  ASSERT_EQ(table->operations.size(), 3U);
  const auto bytes = [&](std::size_t row) {
    const auto work = std::get<PointwiseWork>(measured_work(table->operations.at(row)).value().work);
    return std::pair(work.forward_bytes, work.backward_bytes);
  };
  EXPECT_EQ(bytes(0).first, 2 * 4 * 8 * 4);
  EXPECT_EQ(bytes(1).first, 0);
  EXPECT_EQ(bytes(2), (std::pair<std::int64_t, std::int64_t>(2 * 4 * 8 * 4, 4 * 8 * 4 * 2 + 4 * 4)));
}

}  // namespace
}  // namespace joulecast
