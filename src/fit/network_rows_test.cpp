// SPDX-License-Identifier: Apache-2.0
#include "fit/network_rows.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "dataset/table.h"
#include "predict/network_parts.h"

namespace joulecast {
namespace {

constexpr const char* kGraph = R"(graph "n" {
  input %x : f32[batch, 1048576]
  %y = activation(%x) {kind = relu}
  output %y
})";

// A million parameters.
constexpr const char* kAttention = R"(graph "a" {
  input %x : f32[batch, 8, 128, 64]
  parameter %w : f32[1000, 1000]
  parameter %u : f32[64, 1000]
  %y = attention(%x, %x, %x)
  %z = matmul(%y, %u)
  %o = matmul(%z, %w)
  output %o
})";

class NetworkRowsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    for (const char* name : {"one", "two"}) std::ofstream(folder_ + "/" + name + ".jcg") << kGraph;
    std::ofstream(folder_ + "/attends.jcg") << kAttention;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // What became of each row. Lines are "name,gpu,mode,batch,time_s,cautions", and `more` columns.
  std::vector<std::string> add(NetworkRows& rows, const std::string& lines, const std::string& more = "") const {
    std::vector<std::string> out;
    TableSink sink;
    sink.network = [&](const MeasuredNetwork& row) {
      const auto taken = rows.add(row);
      out.push_back(taken ? "" : taken.error().text());
    };
    std::string text = "kind,precision,runtime,name,gpu,mode,batch,time_s,cautions" + more + "\n";
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) text += "network,fp32,pytorch-eager," + line + "\n";
    const auto table = parse_table(text, "rows.csv", sink);
    EXPECT_TRUE(table) << table.error().text();
    return out;
  }
  NetworkRows rows(const std::string& folder) const {
    return {folder, Catalogue::shipped(), estimator_, read_compose(pack_).value()};
  }

  std::string folder_ = testing::TempDir() + "network_rows_" + std::to_string(::getpid());
  Pack pack_ = Pack::open(JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack").value();
  Estimator estimator_ = Estimator::from(pack_).value();
};

TEST_F(NetworkRowsTest, SayHowFarTheGpuIsOff) {
  NetworkRows found = rows(folder_);
  EXPECT_EQ(add(found, "one,l4,inference,64,0.01,\none,l4,inference,64,0.02,\n"), std::vector<std::string>(2));
  const auto deviations = found.deviations();
  ASSERT_EQ(deviations.size(), 1U);
  const std::vector<Deviation>& l4 = deviations.at("l4");
  ASSERT_EQ(l4.size(), 2U);
  EXPECT_NEAR(l4[1].off - l4[0].off, std::log(2.0), 1e-9);
  EXPECT_NEAR(l4[0].terms[0], 1, 0.05);  // all of it is the GPU's
}

// Two networks, one of them in three batches, in two ways.
TEST_F(NetworkRowsTest, WaysAndNetworksCountAlike) {
  NetworkRows found = rows(folder_);
  add(found,
      "one,l4,inference,64,0.01,\none,l4,inference,128,0.01,\none,l4,inference,256,0.01,\ntwo,l4,inference,64,0.01,\n"
      "one,l4,training,64,0.01,\n");
  const std::vector<Deviation> l4 = found.deviations().at("l4");
  ASSERT_EQ(l4.size(), 5U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(l4[i].weight, 1.0 / 6, 1e-12);
  EXPECT_NEAR(l4[3].weight, 0.5, 1e-12);
  EXPECT_NEAR(l4[4].weight, 1, 1e-12);
  EXPECT_EQ(l4[0].subject, l4[4].subject);
  EXPECT_NE(l4[0].subject, l4[3].subject);
}

TEST_F(NetworkRowsTest, SayWhyTheyAreNotUsed) {
  NetworkRows found = rows(folder_);
  const auto why =
      add(found, "three,l4,inference,64,0.01,\none,l4,inference,64,0.01,throttled\none,l4,inference,64,10,\n");
  ASSERT_EQ(why.size(), 3U);
  EXPECT_TRUE(why[2].ends_with("times what is predicted: is it of a step, in seconds?")) << why[2];
  EXPECT_EQ(why[0], "no graph of 'three' in the folder");
  EXPECT_EQ(why[1], "throttled: the chip was too hot and held its clocks down");
  EXPECT_EQ(add(found, "one,l4,inference,64,0.01,,877e6\n", ",memory_clock_hz").at(0), "at a locked memory clock");
  const std::string attends = "attends,l4,inference,64,0.01,,";
  EXPECT_EQ(
      add(found, attends + "params_million=1.05\n" + attends + "params_million=1.2\n", ",details"),
      (std::vector<std::string>{
          "", "another network of that name: 1.1 million parameters in the graph of 'attends', 1.2 in the table"}));
  NetworkRows nowhere = rows("");
  EXPECT_EQ(add(nowhere, "one,l4,inference,64,0.01,\n").at(0), "a network: --graphs DIR says where their graphs are");
}

// They say nothing of networks, and there are thousands of them.
TEST_F(NetworkRowsTest, SingleLayersTeachNothing) {
  NetworkRows found = rows(folder_);
  std::string why;
  TableSink sink;
  sink.network = [&](const MeasuredNetwork& row) {
    const auto taken = found.add(row);
    why = taken ? "taken" : taken.error().text();
  };
  ASSERT_TRUE(
      parse_table("gpu,batchsize,dim_input,dim_output,precision_bits,optimizer,activation,time_median_s\n"
                  "NVIDIA Tesla P100,8,30,40,32,None,relu,0.0004\n",
                  "cde_dense.csv", sink));
  EXPECT_EQ(why, "a single layer in TensorFlow 1");
}

}  // namespace
}  // namespace joulecast
