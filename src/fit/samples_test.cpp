// SPDX-License-Identifier: Apache-2.0
#include "fit/samples.h"

#include <gtest/gtest.h>

#include "dataset/table.h"

namespace joulecast {
namespace {

Sample sample(const std::string& mode, const std::string& time_s) {
  std::optional<Sample> out;
  TableSink sink;
  sink.operation = [&](const MeasuredOperation& row) { out = sample_of(row, Catalogue::shipped()).value(); };
  const std::string text = "name,gpu,mode,precision,runtime,operator,operands,time_s\nx,a30," + mode +
                           ",fp32,pytorch-eager,linear,\"f32[32, 1024]; w f32[512, 1024]; _\"," + time_s + "\n";
  EXPECT_TRUE(parse_table(text, "rows.csv", sink));
  return out.value();
}

// The laws are of training that adds to its gradients: of the input (32 x 1024) and of the weight (512 x 1024) both are
// read and one is written, four bytes each. evaluate and predict take that off again.
TEST(Samples, OnesOwnTrainingIsMadeComparable) {
  const Sample training = sample("training", "0.001");
  const double accumulated = 3.0 * 4 * (32 * 1024 + 512 * 1024) / (0.9 * training.device.bandwidth);
  EXPECT_NEAR(training.time, 0.001 + accumulated, 1e-9);
  EXPECT_DOUBLE_EQ(sample("inference", "0.001").time, 0.001);
}

TEST(Samples, AtMostThreeQuartersAreOfTheAccumulation) {
  EXPECT_DOUBLE_EQ(sample("training", "1e-6").time, 4e-6);
}

}  // namespace
}  // namespace joulecast
