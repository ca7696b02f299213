// SPDX-License-Identifier: Apache-2.0
#include "predict/measured_work.h"

#include <gtest/gtest.h>

#include <string>

#include "dataset/table.h"

namespace joulecast {
namespace {

// NeuSight's training half is a sweep of thousands of rows; its machines have hosts of their own speed.
TEST(MeasuredWork, KnowsTheMachinesOfNeuSight) {
  const auto situation = [](const std::string& gpu, const std::string& split) {
    const auto table =
        parse_table("gpu,op,split,dtype,batch,m,n,k,latency_s,kernel,grid,block,torch\n" + gpu + ",bmm," + split +
                        ",fp32,8,64,64,64,1e-3,volta_sgemm_64x64_nn,1x1x8,64x1x1,p2.1.0\n",
                    "neusight_gemm.csv");
    EXPECT_TRUE(table);
    return measured_work(table->operations.at(0)).value().situation;
  };
  EXPECT_EQ(situation("Tesla T4", "train").host, Host::kBare);
  EXPECT_TRUE(situation("Tesla T4", "train").swept);
  EXPECT_FALSE(situation("Tesla T4", "test").swept);
  EXPECT_EQ(situation("Tesla T4", "test").host_scale, 1.0);
  EXPECT_EQ(situation("Tesla V100-PCIE-32GB", "test").host_scale, 1.24);
}

}  // namespace
}  // namespace joulecast
