// SPDX-License-Identifier: Apache-2.0
// Rows are made up, in the published layouts.
#include "dataset/table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "dataset/layout.h"

namespace joulecast {
namespace {

constexpr std::string_view kHeidelberg =
    "gpu,mode,op_type,op_repr,input_shape,time_s,time_std_s,energy_j,energy_std_j,power_w,power_std_w,module_state,"
    "primary,anomaly,generation\n";

Table parse(std::string text, std::string_view name = "table.csv") {
  auto table = parse_table(text, name);
  EXPECT_TRUE(table) << table.error().text();
  return table ? *table : Table();
}

// Shapes of an operation's inputs.
std::string inputs(const MeasuredOperation& row) {
  std::string told = label(row.graph->nodes[0].op);
  for (const ValueId id : row.graph->nodes[0].inputs) told += " " + text(row.graph->value(id).type.shape);
  return told;
}

TEST(Table, HeidelbergOperation) {
  const Table table = parse(
      std::string(kHeidelberg) +
      "a30,inference,Linear,\"Linear(in_features=8, out_features=4, bias=True)\",32x8,1e-5,1e-7,0.001,,100,5,"
      "eval+inference_mode,1,,2025-02-12-train\n"
      "a30-no-tensor-cores,inference,ReLU,ReLU(inplace=True),32x8,2e-5,,,,,,\"train-mode-module,autograd-on\",0,"
      "power-unsteady,2024-11-finalbench\n"
      "rtx2080ti,training,ReLU,ReLU(),32x8,3e-5,,,,,,\"train,forward+backward\",1,,2024-12-finalbench-extension\n");
  EXPECT_EQ(table.layout, "heidelberg_operations");
  ASSERT_EQ(table.operations.size(), 3U);
  const auto& linear = table.operations[0];
  EXPECT_EQ(inputs(linear), "linear 32x8 4x8 4");
  EXPECT_EQ(linear.at.gpu, "a30");
  EXPECT_EQ(linear.at.precision, Precision::kTf32);
  EXPECT_EQ(linear.readings.time, Seconds{1e-5});
  EXPECT_EQ(linear.readings.energy, Joules{0.001});
  EXPECT_FALSE(linear.readings.energy_std);
  EXPECT_EQ(linear.from.line, 2U);
  EXPECT_TRUE(linear.from.primary);
  EXPECT_FALSE(linear.train_state_module || linear.inplace || linear.gradients_accumulated || linear.at.low_power);
  const auto& relu = table.operations[1];
  EXPECT_EQ(relu.at.gpu, "a30");
  EXPECT_EQ(relu.at.precision, Precision::kFp32);
  EXPECT_TRUE(relu.inplace && relu.train_state_module);
  EXPECT_EQ(relu.from.anomaly, "power-unsteady");
  const auto& training = table.operations[2];
  EXPECT_EQ(training.at.mode, Mode::kTraining);
  EXPECT_TRUE(training.gradients_accumulated && training.at.low_power);
  EXPECT_EQ(training.group, relu.group);  // in place or not is the same operation
  EXPECT_EQ(training.graph, relu.graph);  // and shared
}

TEST(Table, HeidelbergNetwork) {
  const Table table = parse(
      "gpu,mode,model_name,class_name,input_shape,time_s,energy_j,power_w,primary,anomaly,generation\n"
      "rtx2080ti,training,resnet18,ResNet,32x3x224x200,0.1,20,200,1,,2025-02-12-full-model\n"
      "a30,inference,vgg11,VGG,32x3x224x224,0.1,15,150,0,time-unsteady;energy-over-different-window,2024-11-11\n");
  ASSERT_EQ(table.networks.size(), 2U);
  EXPECT_EQ(table.networks[1].from.anomaly, "time-unsteady;energy-over-other-window");  // its word, and ours
  EXPECT_EQ(table.networks[0].model, "resnet18");
  EXPECT_EQ(table.networks[0].batch, 32);
  EXPECT_EQ(table.networks[0].image_size, 200);
  EXPECT_EQ(table.networks[0].readings.power, Watts{200.0});
  EXPECT_EQ(table.networks[0].optimizer, "sgd");
}

// One line gives a row for every GPU that has a time.
TEST(Table, WideTables) {
  const std::string text = "m,n,k,a100_sxm_s,h100_sxm_s\n16,32,64,,2e-6\n8,32,64,3e-6,1e-6\n";
  const Table bf16 = parse(text, "aic_gemm_bf16.csv");
  ASSERT_EQ(bf16.operations.size(), 3U);
  EXPECT_EQ(bf16.operations[0].at.gpu, "h100_sxm");
  EXPECT_EQ(bf16.operations[0].at.precision, Precision::kBf16);
  EXPECT_EQ(bf16.operations[0].at.runtime, Runtime::kCudaGraph);
  EXPECT_EQ(inputs(bf16.operations[0]), "linear 16x64 32x64");
  EXPECT_EQ(bf16.operations[1].at.gpu, "a100_sxm");
  EXPECT_EQ(bf16.operations[1].from.line, 3U);
  const Table fp8 = parse(text, "aic_gemm_fp8.csv");
  EXPECT_EQ(fp8.operations[0].at.precision, Precision::kFp8);
  EXPECT_EQ(fp8.operations[0].group, bf16.operations[0].group);
  EXPECT_EQ(fp8.operations[0].graph->values[0].type.element, ElementType::kFloat8E4M3);
  EXPECT_FALSE(parse_table(text, "gemm.csv"));  // nothing says which
}

// Which GPUs a wide table has is up to the table.
TEST(Table, WideTablesOfAnyGpus) {
  const Table products = parse("m,n,k,l40s_s,gb200_s\n16,32,64,,2e-6\n", "bf16.csv");
  ASSERT_EQ(products.operations.size(), 1U);
  EXPECT_EQ(products.operations[0].at.gpu, "gb200");
  const Table attention = parse(
      "batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,window_size,step,l40s_s\n"
      "2,128,8,4,64,bfloat16,0,0,1e-5\n");
  ASSERT_EQ(attention.operations.size(), 1U);
  EXPECT_EQ(attention.operations[0].at.gpu, "l40s");
  const auto none = parse_table("m,n,k\n16,32,64\n", "bf16.csv");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().text().find("closest is aic_gemm, which also has: <gpu>_s;"), std::string::npos);
}

TEST(Table, AttentionPrefillAndDecode) {
  const std::string header =
      "batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,window_size,step,a100_sxm_s,b200_sxm_s\n";
  const Table prefill = parse(header + "2,128,8,4,64,bfloat16,0,0,1e-5,2e-5\n");
  ASSERT_EQ(prefill.operations.size(), 1U);  // without the B200
  EXPECT_EQ(prefill.notes.size(), 1U);
  EXPECT_EQ(inputs(prefill.operations[0]), "attention 2x8x128x64 2x4x128x64 2x4x128x64");
  EXPECT_TRUE(std::get<Attention>(prefill.operations[0].graph->nodes[0].op).causal);
  const Table decode = parse(header + "2,1,8,4,64,fp8,0,1023,1e-5,2e-5\n2,1,8,4,64,fp8,128,1023,1e-5,2e-5\n");
  ASSERT_EQ(decode.operations.size(), 4U);
  EXPECT_TRUE(decode.notes.empty());
  EXPECT_EQ(inputs(decode.operations[1]), "attention 2x8x1x64 2x4x1024x64 2x4x1024x64");
  EXPECT_FALSE(std::get<Attention>(decode.operations[1].graph->nodes[0].op).causal);
  EXPECT_EQ(decode.operations[0].graph->values[1].type.element, ElementType::kFloat8E4M3);
  EXPECT_EQ(std::get<Attention>(decode.operations[1].graph->nodes[0].op).window, 0);
  EXPECT_EQ(inputs(decode.operations[2]), inputs(decode.operations[1]));
  EXPECT_EQ(std::get<Attention>(decode.operations[2].graph->nodes[0].op).window, 128);
  EXPECT_NE(decode.operations[2].group, decode.operations[1].group);
}

TEST(Table, PowerOfMatrixProducts) {
  const Table table = parse(
      "gpu,framework,version,kernel,dtype,m,n,k,latency_s,power_w,power_limit_w\n"
      "h200_sxm,vllm,0.22.0,vllm_default,bfloat16,64,32,16,0.001,500,700\n"
      "h200_sxm,vllm,0.22.0,vllm_default,fp8_block,64,32,16,0.00001,200,700\n"
      "b200_sxm,vllm,0.22.0,vllm_default,nvfp4,64,32,16,0.001,500,1000\n"
      "h200_sxm,vllm,0.22.0,vllm_default,int8_wo,64,32,16,0.001,500,700\n");
  ASSERT_EQ(table.operations.size(), 3U);
  EXPECT_EQ(table.operations[0].readings.energy, Joules{0.5});
  EXPECT_EQ(table.operations[0].at.power_limit, Watts{700.0});
  EXPECT_EQ(table.operations[0].weight_copies, 5);
  EXPECT_EQ(table.operations[0].from.anomaly, "");
  EXPECT_EQ(table.operations[1].at.precision, Precision::kFp8);
  EXPECT_EQ(table.operations[1].weight_copies, 1);
  EXPECT_EQ(table.operations[1].from.anomaly, "power-window-short");
  EXPECT_EQ(table.operations[2].at.precision, Precision::kNvfp4);
  EXPECT_EQ(table.operations[2].weight_copies, 1);
  EXPECT_EQ(table.operations[2].graph->values[0].type.element, ElementType::kBFloat16);
  EXPECT_EQ(table.operations[2].graph->values[1].type.element, ElementType::kFloat4);
  ASSERT_EQ(table.unmapped.rows(), 1U);
  EXPECT_EQ(table.unmapped.reasons().at(0).first_line, 5U);
  EXPECT_EQ(table.unmapped.reasons().at(0).reason, "matrix products in int8_wo");
}

TEST(Table, PowerOfAttention) {
  const Table table = parse(
      "gpu,framework,version,phase,batch,seq,kv_step,heads,kv_heads,head_dim,window,attn_dtype,kv_dtype,latency_s,"
      "power_w\n"
      "h200_sxm,vllm,0.22.0,generation,4,1,999.0,8,2.0,64,128.0,bfloat16,fp8,0.001,400\n"
      "h200_sxm,vllm,0.22.0,context,4,256,256.0,8,2.0,64,0.0,bfloat16,bfloat16,0.001,400\n"
      "h200_sxm,vllm,0.22.0,context,4,256,0.0,8,2.0,64,128.0,bfloat16,bfloat16,0.001,400\n"
      "h200_sxm,vllm,0.22.0,encoder,4,256,,8,,64,,bfloat16,,0.001,400\n");
  ASSERT_EQ(table.operations.size(), 4U);
  const auto op = [&](std::size_t row) { return std::get<Attention>(table.operations[row].graph->nodes[0].op); };
  EXPECT_EQ(inputs(table.operations[0]), "attention 4x8x1x64 4x2x1000x64 4x2x1000x64");
  EXPECT_EQ(op(0).window, 128);
  EXPECT_EQ(inputs(table.operations[1]), "attention 4x8x256x64 4x2x512x64 4x2x512x64");
  EXPECT_EQ(op(1).window, 0);
  EXPECT_EQ(inputs(table.operations[2]), "attention 4x8x256x64 4x2x256x64 4x2x256x64");
  EXPECT_EQ(op(2).window, 128);
  EXPECT_EQ(inputs(table.operations[3]), "attention 4x8x256x64 4x8x256x64 4x8x256x64");
  EXPECT_FALSE(op(3).causal);
  EXPECT_EQ(table.unmapped.rows(), 0U);
}

// Convolutions of one size whose harness takes 0.2 us more at each row, as NeuSight's did.
TEST(Table, TheGrowingOverheadOfNeusightsConvolutionsIsTakenOff) {
  std::string text =
      "gpu,op,dtype,batch,in_channels,out_channels,kernel,in_hw,stride,padding,latency_s,main_kernel,n_kernels,torch\n";
  constexpr int kRows = 2000;
  for (int i = 0; i < kRows; ++i) {
    const int channels = 8 * (1 + i * 37 % 64);
    const double flops = 2.0 * 9 * 16 * 64 * channels * channels;
    const double seconds = 50e-6 + flops / 5e12 + 2e-7 * i;
    text += fmt::format("Tesla T4,conv,fp32,16,{0},{0},3,8,1,1,{1:.9f},k,1,p2.1.0\n", channels, seconds);
  }
  const Table table = parse(text);
  ASSERT_EQ(table.notes.size(), 1U);
  EXPECT_EQ(table.operations[0].from.anomaly, "");
  for (const MeasuredOperation& row : table.operations) {
    const auto channels = static_cast<double>(row.graph->value(row.graph->nodes[0].inputs[0]).type.shape[1]);
    const double expected = 50e-6 + 2.0 * 9 * 16 * 64 * channels * channels / 5e12;
    EXPECT_NEAR(row.readings.time->value(), expected, 25e-6) << row.from.line;
  }
  EXPECT_EQ(table.operations.back().from.anomaly, "rising-overhead");
  // Short ones at the end are lost in it.
  ASSERT_EQ(table.unmapped.reasons().size(), 1U);
  EXPECT_EQ(table.operations.size() + table.unmapped.rows(), static_cast<std::size_t>(kRows));
  EXPECT_NE(table.unmapped.reasons()[0].reason.find("more than half"), std::string::npos);
}

TEST(Table, Neusight) {
  const Table gemm = parse(
      "gpu,op,split,dtype,batch,m,n,k,latency_s,kernel,grid,block,torch\n"
      "Tesla P4,linear,train,fp32,1,16,8,4,1e-3,maxwell_sgemm_64x64_tn,1x1x1,256x1x1,p2.1.0\n"
      "Tesla T4,bmm,test,fp32,3,16,8,4,1e-3,k,1x1x1,256x1x1,p2.1.0\n"
      "Tesla T4,bmm,test,fp16,3,16,8,4,1e-3,k,1x1x1,256x1x1,p2.1.0\n");
  ASSERT_EQ(gemm.operations.size(), 2U);
  EXPECT_EQ(inputs(gemm.operations[0]), "linear 16x8 4x8 4");
  EXPECT_FALSE(gemm.operations[0].from.primary);
  EXPECT_EQ(gemm.operations[0].at.software, "pytorch 2.1.0");
  EXPECT_EQ(inputs(gemm.operations[1]), "matmul 3x16x8 3x8x4");
  EXPECT_EQ(gemm.operations[1].from.split, "test");
  EXPECT_EQ(gemm.unmapped.rows(), 1U);
  const Table conv = parse(
      "gpu,op,dtype,batch,in_channels,out_channels,kernel,in_hw,stride,padding,latency_s,main_kernel,n_kernels,torch\n"
      "Tesla T4,conv,fp32,2,3,5,3,8,1,1,1e-3,k,1,p2.1.0\n");
  ASSERT_EQ(conv.operations.size(), 1U);
  EXPECT_EQ(inputs(conv.operations[0]), "conv 2x3x8x8 5x3x3x3");
  const Table vec = parse(
      "gpu,op,split,dtype,rows,cols,latency_s,torch\n"
      "Tesla T4,ln,test,fp32,4,8,1e-5,p2.1.0\nTesla T4,mulu,test,fp32,4,8,1e-5,p2.1.0\n"
      "Tesla T4,div,test,fp32,4,8,1e-5,p2.1.0\nTesla T4,sortu,test,fp32,4,8,1e-5,p2.1.0\n");
  ASSERT_EQ(vec.operations.size(), 3U);
  EXPECT_EQ(inputs(vec.operations[0]), "layer_norm 4x8 8 8");
  EXPECT_EQ(inputs(vec.operations[1]), "mul 4x8 scalar");
  EXPECT_EQ(inputs(vec.operations[2]), "div 4x8 4x8");
}

TEST(Table, Networks) {
  const Table timm = parse(
      "gpu,mode,dtype,layout,torch,cuda,compiled,model,img_size,batch,step_latency_s,params_million\n"
      "NVIDIA GeForce RTX 3090,infer,amp,nhwc,2.1,118,0,resnet50,224,256.0,0.2,25.56\n"
      "NVIDIA GeForce RTX 3090,train,bf16,nchw,2.1,118,1,resnet50,224,64,0.2,\n");
  ASSERT_EQ(timm.networks.size(), 2U);
  EXPECT_EQ(timm.networks[0].batch, 256);
  EXPECT_TRUE(timm.networks[0].channels_last);
  EXPECT_EQ(timm.networks[0].details, "params_million=25.56");
  EXPECT_EQ(timm.networks[1].details, "");
  EXPECT_EQ(timm.networks[0].at.precision, Precision::kAmp);
  EXPECT_EQ(timm.networks[0].at.runtime, Runtime::kPytorchEager);
  EXPECT_EQ(timm.networks[1].at.runtime, Runtime::kPytorchCompiled);
  EXPECT_EQ(timm.networks[1].at.software, "pytorch 2.1, compiled");
  EXPECT_FALSE(timm.networks[0].norms_in_halves || timm.networks[1].norms_in_halves);
  const Table norms = parse(
      "gpu,mode,dtype,layout,torch,cuda,compiled,model,img_size,batch,step_latency_s,params_million\n"
      "NVIDIA GeForce RTX 3090,infer,amp,nchw,1.13,117,0,convnext_tiny,224,256.0,0.2,28.59\n"
      "NVIDIA GeForce RTX 3090,train,amp,nchw,1.12,113,0,convnext_tiny,224,256.0,0.2,28.59\n"
      "NVIDIA GeForce RTX 3090,infer,amp,nchw,1.13,117,0,swin_tiny_patch4_window7_224,224,256.0,0.2,28.29\n"
      "NVIDIA GeForce RTX 4090,infer,amp,nchw,2.4,124,0,vit_base_patch16_224,224,256.0,0.2,86.57\n"
      "NVIDIA GeForce RTX 4090,infer,amp,nchw,2.9,130,0,vit_base_patch16_224,224,256.0,0.2,86.57\n");
  std::vector<bool> in_halves;
  for (const MeasuredNetwork& row : norms.networks) in_halves.push_back(row.norms_in_halves);
  EXPECT_EQ(in_halves, (std::vector<bool>{true, false, false, false, true}));
  const Table torchvision = parse(
      "gpu,n_gpus,mode,dtype,model,batch,img_size,median_s,mean_s,p10_s,p90_s,n_iter,path\n"
      "A100-SXM4-40GB,2,train,fp32,vgg11,24,224,0.05,0.05,0.05,0.05,15,results/dgx-a100/a b.csv\n");
  ASSERT_EQ(torchvision.networks.size(), 1U);
  EXPECT_EQ(torchvision.networks[0].gpu_count, 2);
  EXPECT_EQ(torchvision.networks[0].at.campaign, "dgx-a100");
  EXPECT_EQ(torchvision.networks[0].at.precision, Precision::kTf32All);
  const Table profet = parse(
      "gpu,aws_instance,experiment,model,img_size,batch,optimizer,step_latency_s,epoch_latency_s\n"
      "NVIDIA T4,g4dn.xlarge,exp01,VGG11,32,64,SGD,0.005,4.5\n");
  ASSERT_EQ(profet.networks.size(), 1U);
  EXPECT_EQ(profet.networks[0].at.software, "tensorflow 2.5");
  EXPECT_EQ(profet.networks[0].at.runtime, Runtime::kTensorflow);
  EXPECT_EQ(profet.networks[0].at.precision, Precision::kFp32);
}

// One layer with all that ran around it.
TEST(Table, LayersAreNetworks) {
  const Table conv = parse(
      "gpu,batchsize,matsize,channels_in,channels_out,kernelsize,strides,padding,use_bias,precision_bits,optimizer,"
      "activation,time_median_s,time_std_s\n"
      "NVIDIA Tesla K40,2,9,3,4,2,2,1,0,32,Adam,None,0.003,0.0001\n"
      "NVIDIA Tesla K40,2,9,3,4,2,2,1,0,32,None,relu,0.003,0.0001\n");
  ASSERT_EQ(conv.networks.size(), 2U);
  EXPECT_EQ(conv.networks[0].at.mode, Mode::kTraining);
  EXPECT_EQ(conv.networks[0].optimizer, "adam");
  EXPECT_EQ(conv.networks[0].model, "conv 3 -> 4, 2x2 s2 same");
  EXPECT_EQ(conv.networks[0].image_size, 9);
  EXPECT_EQ(conv.networks[0].channels, 3);
  EXPECT_EQ(conv.networks[0].details,
            "channels_out=4; kernelsize=2; strides=2; padding=1; use_bias=0; activation=None");
  EXPECT_EQ(conv.networks[1].model, "conv 3 -> 4, 2x2 s2 same relu");
  EXPECT_EQ(conv.networks[1].at.mode, Mode::kInference);
  EXPECT_EQ(conv.networks[1].at.runtime, Runtime::kTensorflow);
  const Table dense = parse(
      "gpu,batchsize,dim_input,dim_output,precision_bits,optimizer,activation,time_median_s,time_std_s\n"
      "NVIDIA Tesla K40,2,9,3,32,None,None,0.003,0.0001\n");
  ASSERT_EQ(dense.networks.size(), 1U);
  EXPECT_EQ(dense.networks[0].model, "linear 9 -> 3");
  EXPECT_EQ(dense.networks[0].details, "dim_input=9; dim_output=3; activation=None");
  const Table broken = parse(
      "gpu,batchsize,dim_input,dim_output,precision_bits,optimizer,activation,time_median_s,time_std_s\n"
      "NVIDIA Tesla K40,2,9,3,8,None,None,0.003,0.0001\n"
      "NVIDIA Tesla K40,2,9,3,32,Ftrl,None,0.003,0.0001\n");
  ASSERT_EQ(broken.unmapped.rows(), 2U);
  EXPECT_EQ(broken.unmapped.reasons().at(0).reason, "8 bits");
  EXPECT_EQ(broken.unmapped.reasons().at(1).reason, "optimizer 'Ftrl'");
}

TEST(Table, OtherOperations) {
  const Table deepbench = parse(
      "gpu,workload,precision,section,op,params,application,pass,time_s,tflops,file\n"
      "NVIDIA V100,train,Float,x,Dense Matrix Multiplication,M=16;N=8;K=4;A Transpose=T;B Transpose=N,,Time,1e-5,1,x\n"
      "NVIDIA V100,train,Float,x,Dense Matrix Multiplication,M=16;N=8,,Time,1e-5,1,x\n"
      "NVIDIA V100,train,Float,x,Convolution,M=7;N=7;K=4;A Transpose=16;B Transpose=8,,Time,0.003,1,x\n"
      "NVIDIA V100,train,Float,x,Recurrent Layers - LSTM,Input=512;N=1,,Timesteps,0.025,,x\n");
  ASSERT_EQ(deepbench.operations.size(), 1U);
  EXPECT_EQ(inputs(deepbench.operations[0]), "matmul 4x16 4x8");
  ASSERT_EQ(deepbench.unmapped.rows(), 3U);
  EXPECT_EQ(deepbench.unmapped.reasons().at(1).reason,
            "a convolution with the width of its filter where its time should be");
  EXPECT_EQ(deepbench.unmapped.reasons().at(2).reason, "a number of time steps where the time should be");
  const std::string vidur_header =
      "gpu,model,tensor_parallel,n_head,n_kv_head,n_embd,n_ffn,gated_mlp,num_tokens,op,latency_s\n";
  const auto vidur = [&](std::string_view op) {
    const Table table = parse(vidur_header + "A100,m,2,8,2,64,96,True,5," + std::string(op) + ",1e-4\n");
    return table.operations.empty() ? table.unmapped.reasons().at(0).reason : inputs(table.operations[0]);
  };
  EXPECT_EQ(vidur("attn_pre_proj"), "linear 5x64 48x64");  // 4 heads and 1 + 1 of keys and values, 8 wide
  EXPECT_EQ(vidur("attn_post_proj"), "linear 5x32 64x32");
  EXPECT_EQ(vidur("mlp_up_proj"), "linear 5x64 96x64");
  EXPECT_EQ(vidur("mlp_act"), "glu 5x96");
  EXPECT_EQ(vidur("mlp_down_proj"), "linear 5x48 64x48");
  EXPECT_EQ(vidur("input_layernorm"), "rms_norm 5x64 64");
  EXPECT_EQ(vidur("add"), "add 5x64 5x64");
  EXPECT_EQ(vidur("emb"), "op 'emb'");
}

constexpr std::string_view kDeepbench =
    "gpu,workload,precision,section,op,params,application,pass,time_s,tflops,file\n";

std::string deepbench_row(std::string_view layer, std::string_view pass, std::string_view time) {
  return fmt::format("NVIDIA V100,train,Float,x,{},,{},{},1,x\n", layer, pass, time);
}

// Four lines are a layer: its steps, a thousandth of them, its forward pass, and both parts of the backward one.
TEST(Table, RecurrentLayersOfDeepBenchAreAForwardPassAndAStep) {
  constexpr std::string_view kLstm = "Recurrent Layers - LSTM,Hidden Units=512;N=16";
  constexpr std::string_view kGru = "Recurrent Layers - GRU,Hidden units=8;N=2";
  const Table table = parse(
      std::string(kDeepbench) + deepbench_row(kLstm, "Timesteps", "0.025") +
      deepbench_row(kLstm, "Time Forward (msec)", "0.001") +
      deepbench_row(kLstm, "Time Backward wrt Inputs (msec)", "0.0009") +
      deepbench_row(kLstm, "Time Backward wrt Weights (msec)", "0.0001") + deepbench_row(kGru, "Timesteps", "0.003") +
      deepbench_row(kGru, "Time Forward (msec)", "0.001") + deepbench_row(kGru, "Time Backward (msec)", "0.002"));
  ASSERT_EQ(table.operations.size(), 3U);
  EXPECT_EQ(inputs(table.operations[0]), "lstm 25x16x512 1x2048x512 1x2048x512");
  EXPECT_EQ(inputs(table.operations[2]), "gru 3x2x8 1x24x8 1x24x8");
  const std::vector<std::pair<Mode, double>> wanted{
      {Mode::kInference, 1e-3}, {Mode::kTraining, 2e-3}, {Mode::kInference, 1e-3}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(table.operations[i].at.mode, wanted[i].first) << i;
    EXPECT_NEAR(table.operations[i].readings.time->value(), wanted[i].second, 1e-12) << i;
    EXPECT_TRUE(table.operations[i].inputs_skipped) << i;
  }
  EXPECT_EQ(table.unmapped.rows(), 4U) << "two numbers of steps, a gradient alone, and one that is not all of them";
}

TEST(Table, RecurrentLayersOfDeepBenchNeedEveryLineInItsOrder) {
  constexpr std::string_view kLstm = "Recurrent Layers - LSTM,Hidden Units=512;N=16";
  constexpr std::string_view kOther = "Recurrent Layers - LSTM,Hidden Units=256;N=16";
  const std::string steps = deepbench_row(kLstm, "Timesteps", "0.025");
  const std::string forward = deepbench_row(kLstm, "Time Forward (msec)", "0.001");
  const std::string inputs = deepbench_row(kLstm, "Time Backward wrt inputs (msec)", "0.002");
  const std::string weights = deepbench_row(kLstm, "Time Backward wrt weights (msec)", "0.003");
  const auto reason = [](const std::string& rows) {
    const Table table = parse(std::string(kDeepbench) + rows);
    EXPECT_TRUE(std::none_of(table.operations.begin(), table.operations.end(), [](const MeasuredOperation& row) {
      return row.at.mode == Mode::kTraining;
    })) << rows;
    return table.unmapped.reasons().empty() ? std::string() : table.unmapped.reasons().back().reason;
  };
  constexpr std::string_view kNoSteps = "recurrent layers without their number of time steps";
  constexpr std::string_view kNotBehind = "a gradient of weights without what comes before it";
  EXPECT_EQ(reason(forward), kNoSteps);
  EXPECT_EQ(reason(steps + deepbench_row(kOther, "Time Forward (msec)", "0.001")), kNoSteps);
  EXPECT_EQ(reason(steps + inputs + weights), kNotBehind);
  EXPECT_EQ(reason(steps + forward + weights), kNotBehind);
  EXPECT_EQ(reason(steps + forward + deepbench_row(kLstm, "Time Backward wrt inputs (msec)", "") + weights),
            kNotBehind);
  EXPECT_EQ(reason(steps + forward + weights + inputs),
            "a gradient alone, which the row of the weights' gradient has a part of");
  EXPECT_EQ(reason(steps + forward + deepbench_row(kLstm, "Time Backward (msec)", "0.001")),
            "pass 'Time Backward (msec)' of a recurrent layer");
  EXPECT_EQ(reason(deepbench_row(kLstm, "Timesteps", "1e-5")), "0 time steps");
  EXPECT_EQ(reason(deepbench_row("Recurrent Layers - LSTM,N=16", "Timesteps", "0.025")), "no hidden units in 'N=16'");
  EXPECT_EQ(reason(deepbench_row("Recurrent Layers - Other,Hidden Units=8;N=16", "Timesteps", "0.025")),
            "op 'Recurrent Layers - Other'");
}

TEST(Table, ABadLineIsNamedAndTheRestKept) {
  const Table table = parse(
      "m,n,k,a100_sxm_s\n16,32,64,1e-6\n16,x,64,1e-6\n16,32\n16,32,64,-1\n0,32,64,1e-6\n\"1,2\n8,8,8,1e-6\n", "bf16");
  ASSERT_EQ(table.operations.size(), 2U);
  EXPECT_EQ(table.operations[1].from.line, 8U);
  ASSERT_EQ(table.unmapped.rows(), 5U);
  EXPECT_EQ(table.unmapped.reasons().at(0).first_line, 3U);
  EXPECT_EQ(table.unmapped.reasons().at(0).reason, "column 'n': 'x' is not an integer");
  EXPECT_EQ(table.unmapped.reasons().at(1).reason, "2 fields for 4 columns");
  EXPECT_EQ(table.unmapped.reasons().at(2).reason, "column 'a100_sxm_s': '-1' is not between 1e-09 and 1e+06 s");
  EXPECT_EQ(table.unmapped.reasons().at(3).reason, "column 'm': '0' is not a possible extent");
  EXPECT_EQ(table.unmapped.reasons().at(4).first_line, 7U);
  EXPECT_EQ(table.unmapped.reasons().at(4).reason, "a quote is left open");
}

TEST(Table, AnUnknownHeaderIsToldWhatIsMissing) {
  const auto table = parse_table("gpu,op,split,dtype,rows,latency_s\n", "x");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code(), ErrorCode::kUnsupported);
  EXPECT_NE(table.error().text().find("closest is neusight_vec, which also has: cols, torch;"), std::string::npos);
  EXPECT_FALSE(parse_table("", "x"));
  EXPECT_FALSE(parse_table("a,a\n", "x"));
  const auto why = [](std::string_view text) { return parse_table(text, "x").error().text(); };
  EXPECT_EQ(why("Name, gpu,mode,precision\n"),
            "the header fits measurements but for capitals or spaces: column ' gpu' is written 'gpu'");
  EXPECT_NE(why("Name,gpu,Mode,name,precision\n").find("closest is measurements"), std::string::npos);
  EXPECT_NE(why("name,gpu,mode,precision,time_ms\n").find("did you mean 'time_s'?"), std::string::npos);
  EXPECT_EQ(why("name,gpu,mode,precision,qqqqqqqqqqqq\n"), "column 'qqqqqqqqqqqq' is none of this layout");
  EXPECT_EQ(read_table("/nowhere.csv").error().code(), ErrorCode::kNotFound);
}

TEST(Table, ImpossibleReadingsAreRefusedWithTheirLine) {
  const std::string header =
      "gpu,framework,version,kernel,dtype,m,n,k,latency_s,power_w,power_limit_w\n"
      "h200_sxm,vllm,0.22.0,k,bfloat16,64,32,16,";
  const auto reason = [&](const std::string& cells) {
    const Table table = parse(header + cells + "\n");
    EXPECT_TRUE(table.operations.empty());
    return table.unmapped.rows() == 1 ? refusal_text(table.unmapped.reasons()[0]) : "not refused";
  };
  EXPECT_EQ(reason("1e300,500,700"), "line 2: column 'latency_s': '1e300' is not between 1e-09 and 1e+06 s");
  EXPECT_EQ(reason("1e-300,500,700"), "line 2: column 'latency_s': '1e-300' is not between 1e-09 and 1e+06 s");
  EXPECT_EQ(reason("0,500,700"), "line 2: column 'latency_s': '0' is not between 1e-09 and 1e+06 s");
  EXPECT_EQ(reason("nan,500,700"), "line 2: column 'latency_s': 'nan' is not a number");
  EXPECT_EQ(reason("1e999,500,700"), "line 2: column 'latency_s': '1e999' is not a number");
  EXPECT_EQ(reason("1e-3,-5,700"), "line 2: column 'power_w': '-5' is not between 0.1 and 100000 W");
  EXPECT_EQ(reason("1e-3,500,inf"), "line 2: column 'power_limit_w': 'inf' is not a number");
  EXPECT_EQ(reason(std::string(50, '9') + ",500,700"),
            "line 2: column 'latency_s': '" + std::string(40, '9') + "...' is not between 1e-09 and 1e+06 s");
}

TEST(Table, ATableLargerThanAnyIsRefused) {
  const std::string path = testing::TempDir() + "/sparse.csv";
  std::ofstream(path) << "m,n,k,a100_sxm_s\n";
  std::filesystem::resize_file(path, 20'000'000'000);  // its holes take no space
  const auto table = read_table(path);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().text(), path + ": has 20000000000 bytes; a table has at most 268435456");
}

TEST(Table, MoreRowsThanAnyAreRefused) {
  // A column of times for each of 1000 GPUs: short lines hold many rows.
  std::string text = "m,n,k,a100_sxm_s";
  std::string line = "1,1,1,1";
  for (int i = 0; i < 1000; ++i) {
    text += ",g" + std::to_string(i) + "_s";
    line += ",1";
  }
  text += '\n';
  for (int i = 0; i < 2000; ++i) text += line + '\n';
  std::size_t rows = 0;
  const TableSink sink{[&](const MeasuredOperation&) { ++rows; }, {}};
  const auto table = parse_table(text, "bf16", sink);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().text(), "line 2000: more than 2000000 rows");
  EXPECT_LE(rows, kMaxTableRows + 1001);
}

// What the layout's own reader says, where another reader keeps the row.
TEST(Table, RowsThatAreKeptSayWhyTheyAreNoOperation) {
  std::vector<std::string> reasons;
  TableSink sink;
  sink.other = [&](const MeasuredOther& row) { reasons.push_back(row.reason); };
  const auto table = parse_table(
      "framework,version,gpu,dtype,m,n,k,kernel,latency_s,power_w,power_limit_w\n"
      "trtllm,1.0,b200_sxm,int8_wo,64,64,64,x,1e-5,500,1000\n",
      "table", sink);
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(reasons, std::vector<std::string>{"matrix products in int8_wo"});
}

TEST(Table, AFileFullOfBrokenLinesIsGivenUp) {
  std::string text = "m,n,k,a100_sxm_s\n";
  for (int i = 0; i < 10'002; ++i) text += "1,2\n";
  EXPECT_FALSE(parse_table(text, "bf16"));
}

TEST(Table, EmptyTablesHaveNoRows) {
  EXPECT_TRUE(parse("m,n,k,a100_sxm_s\n", "bf16").operations.empty());
}

TEST(Shape, AsTablesWriteIt) {
  EXPECT_EQ(parse_shape("32x3x224x224").value(), (Shape{32, 3, 224, 224}));
  EXPECT_EQ(parse_shape("7").value(), Shape{7});
  for (const char* text : {"", "x", "3x", "3xx4", "0x3", "-1", "1x1x1x1x1x1x1x1x1", "999999999999x999999999999"}) {
    EXPECT_FALSE(parse_shape(text)) << text;
  }
}

}  // namespace
}  // namespace joulecast
