// SPDX-License-Identifier: Apache-2.0
// How the row of a table becomes the workload that was measured.
#include "predict/network_graphs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "predict/lower.h"

namespace joulecast {
namespace {

// A layer and a norm over rows of `side` places, of which "side" itself is any number.
std::string network(const std::string& side, std::string_view norm = "16") {
  return fmt::format(R"(graph "n" {{
    input %x : f32[batch, 3, {0}, {0}]
    parameter %k : f32[8, 3, 3, 3]
    parameter %g : f32[{1}]
    %c = conv(%x, %k) {{stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}}
    %n = layer_norm(%c, %g)
    output %n
  }})",
                     side, norm);
}

class GraphsOf : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& file, std::string_view text) const { std::ofstream(folder_ + "/" + file) << text; }

  // By a folder that is read anew.
  [[nodiscard]] Result<Workload> workload(const MeasuredNetwork& row) const {
    return NetworkGraphs(folder_).workload(row);
  }

  const std::string folder_ =
      testing::TempDir() + "graphs_of_" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

MeasuredNetwork images(std::int64_t batch, std::int64_t size) {
  MeasuredNetwork row;
  row.model = "net";
  row.batch = batch;
  row.image_size = size;
  row.at.runtime = Runtime::kPytorchEager;
  return row;
}

ReductionWork norm_of(const Workload& load) {
  for (const LoweredOperation& operation : load.operations) {
    if (const auto* norm = std::get_if<ReductionWork>(&operation.work)) return *norm;
  }
  return {};
}

TEST_F(GraphsOf, BatchAndSizeAreTheRows) {
  write("net.jcg", network("side"));
  const auto load = workload(images(4, 16));
  ASSERT_TRUE(load) << load.error().text();
  EXPECT_EQ(norm_of(*load).rows, 4 * 8 * 16);
}

TEST_F(GraphsOf, NormsUnderAutocastRunAsInTheRow) {
  write("net.jcg", network("side"));
  MeasuredNetwork row = images(4, 16);
  row.at.precision = Precision::kAmp;
  const auto plain = workload(row);
  row.norms_in_halves = true;
  const auto fast = workload(row);
  ASSERT_TRUE(plain && fast);
  EXPECT_EQ(norm_of(*plain).element_bytes, 4);
  EXPECT_EQ(norm_of(*fast).element_bytes, 2);
}

TEST_F(GraphsOf, AGraphOfOneSizeServesNoOther) {
  write("net.jcg", network("16"));
  EXPECT_TRUE(workload(images(4, 16)));
  const auto other = workload(images(4, 8));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::kUnsupported);
  write("net_8.jcg", network("8", "8"));
  const auto own = workload(images(4, 8));
  ASSERT_TRUE(own) << own.error().text();
  EXPECT_EQ(norm_of(*own).rows, 4 * 8 * 8);
}

TEST_F(GraphsOf, AGraphOfOneBatchOrLengthServesNoOther) {
  write("net.jcg", R"(graph "n" { input %x : f32[4, 128, 32] %y = unary(%x) output %y })");
  MeasuredNetwork row;
  row.model = "net";
  row.batch = 4;
  row.sequence_length = 128;
  row.at.runtime = Runtime::kPytorchEager;
  EXPECT_TRUE(workload(row));
  row.sequence_length = 64;
  EXPECT_EQ(workload(row).error().text(), "the graph of 'net' is fixed to another sequence length than 64");
  row.sequence_length = 32;  // on another axis, as of sound
  EXPECT_TRUE(workload(row));
  row.sequence_length = 128;
  row.batch = 8;
  EXPECT_EQ(workload(row).error().text(), "the graph of 'net' is fixed to a batch of 4, not 8");
}

TEST_F(GraphsOf, NamesOfTablesLeadNowhereElse) {
  write("net.jcg", network("16"));
  std::filesystem::create_directories(folder_ + "/inner");
  MeasuredNetwork row = images(4, 16);
  row.model = "../net";
  const auto outside = NetworkGraphs(folder_ + "/inner").workload(row);
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().code(), ErrorCode::kNotFound);
}

// A word that is none of ours is no plain step.
TEST_F(GraphsOf, OptimizersAreKnownOrRefused) {
  write("net.jcg", network("side"));
  MeasuredNetwork row = images(4, 16);
  row.at.mode = Mode::kTraining;
  for (const char* known : {"", "sgd", "rmsprop"}) {
    row.optimizer = known;
    EXPECT_TRUE(workload(row)) << known;
  }
  row.optimizer = "RMSProp";
  const auto refused = workload(row);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), "optimizer 'RMSProp'");
}

}  // namespace
}  // namespace joulecast
