// SPDX-License-Identifier: Apache-2.0
// What TensorFlow makes of graphs in text form, against numbers worked out by hand.
#include "predict/tensorflow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "predict/law.h"

namespace joulecast {
namespace {

std::vector<LoweredOperation> lowered(std::string_view text, Mode mode, Precision precision = Precision::kFp32) {
  const auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto load = prepare(*graph, {}, {.mode = mode, .precision = precision, .runtime = Runtime::kTensorflow});
  EXPECT_TRUE(load) << load.error().text();
  return load ? load->operations : std::vector<LoweredOperation>{};
}

template <typename W>
std::vector<W> works(const std::vector<LoweredOperation>& operations) {
  std::vector<W> out;
  for (const LoweredOperation& operation : operations) {
    if (const auto* work = std::get_if<W>(&operation.work)) out.push_back(*work);
  }
  return out;
}

constexpr std::string_view kFusable = R"(graph "n" {
  input %x : f32[2, 3, 8, 8]
  parameter %w : f32[16, 3, 1, 1]
  parameter %b : f32[16]
  %c = conv(%x, %w, %b) {stride = [1, 1]}
  %r = activation(%c) {kind = relu}
  output %r
})";
constexpr std::int64_t kOutput = 2L * 16 * 8 * 8 * 4;  // bytes of [2, 16, 8, 8]

// Backward: the output and its gradient are read, a gradient is written and, for the bias, read once more.
TEST(Tensorflow, AConvolutionItsBiasAndItsReluAreOneKernel) {
  const auto operations = lowered(kFusable, Mode::kTraining);
  const auto convs = works<ConvWork>(operations);
  const auto relus = works<PointwiseWork>(operations);
  ASSERT_EQ(convs.size(), 1U);
  ASSERT_EQ(relus.size(), 1U);
  EXPECT_EQ(convs[0].bias, 0);
  EXPECT_TRUE(convs[0].autotuned);
  EXPECT_EQ(relus[0].forward_bytes, 0);
  EXPECT_EQ(relus[0].backward_bytes, 4 * kOutput);
  EXPECT_EQ(lowered(kFusable, Mode::kInference).size(), 1U);
}

TEST(Tensorflow, AReluThatIsNotAloneKeepsItsKernel) {
  const auto operations = lowered(R"(graph "n" {
    input %x : f32[2, 3, 8, 8]
    parameter %w : f32[16, 3, 1, 1]
    parameter %b : f32[16]
    %c = conv(%x, %w, %b) {stride = [1, 1]}
    %r = activation(%c) {kind = relu}
    %s = binary(%c, %r) {kind = add}
    output %s
  })",
                                  Mode::kTraining);
  EXPECT_EQ(works<ConvWork>(operations).at(0).bias, 1);
  EXPECT_EQ(works<PointwiseWork>(operations).at(0).forward_bytes, 2 * kOutput);
}

TEST(Tensorflow, AConvolutionWithoutBiasIsNotFused) {
  const auto operations = lowered(R"(graph "n" {
    input %x : f32[2, 3, 8, 8]
    parameter %w : f32[16, 3, 1, 1]
    %c = conv(%x, %w) {stride = [1, 1]}
    %r = activation(%c) {kind = relu}
    output %r
  })",
                                  Mode::kInference);
  EXPECT_EQ(works<PointwiseWork>(operations).at(0).forward_bytes, 2 * kOutput);
}

// 2048 numbers in and 512 out.
TEST(Tensorflow, PoolingMovesMoreBackward) {
  for (const char* kind : {"max", "average"}) {
    const auto operations = lowered(fmt::format(R"(graph "n" {{
      input %x : f32[2, 16, 8, 8]
      parameter %w : f32[16, 16, 1, 1]
      %h = conv(%x, %w)
      %p = pool(%h) {{kind = {}, kernel = [2, 2], stride = [2, 2]}}
      output %p
    }})",
                                                kind),
                                    Mode::kTraining);
    const auto pools = works<PointwiseWork>(operations);
    ASSERT_EQ(pools.size(), 1U);
    EXPECT_EQ(pools[0].forward_bytes, (2048 + 512) * 4);
    EXPECT_EQ(pools[0].backward_bytes, (2048 + 512) * 4 * 33 / 10);
  }
}

TEST(Tensorflow, EqualNodesAreMerged) {
  const auto load = prepare(parse_graph(R"(graph "n" {
    input %x : f32[2, 16, 8, 8]
    %a = activation(%x) {kind = relu}
    %b = activation(%x) {kind = relu}
    %c = binary(%a, %b) {kind = add}
    output %c
  })")
                                .value(),
                            {}, {.precision = {}, .runtime = Runtime::kTensorflow});
  ASSERT_TRUE(load);
  EXPECT_EQ(load->operations.size(), 2U);
  for (const LoweredOperation& one : load->operations) EXPECT_EQ(one.count, 1);
}

TEST(Tensorflow, TheWorkloadSaysHowImagesLie) {
  const auto layout = [](Precision precision) {
    return prepare(parse_graph(kFusable).value(), {}, {.precision = precision, .runtime = Runtime::kTensorflow})
        ->options.layout;
  };
  EXPECT_EQ(layout(Precision::kTf32All), Layout::kChannelsFirst);
  EXPECT_EQ(layout(Precision::kBf16), Layout::kChannelsLast);
}

TEST(Tensorflow, HalvesLieChannelsLast) {
  const auto last = [](Precision precision) {
    return works<ConvWork>(lowered(kFusable, Mode::kTraining, precision)).at(0).channels_last;
  };
  EXPECT_FALSE(last(Precision::kFp32));
  EXPECT_TRUE(last(Precision::kFp16));
  EXPECT_TRUE(last(Precision::kAmp));
}

TEST(Tensorflow, ProductsUseTf32Unasked) {
  EXPECT_EQ(default_precision(Runtime::kTensorflow), Precision::kTf32All);
  EXPECT_EQ(default_precision(Runtime::kPytorchEager), Precision::kTf32);
}

// 1.4 ms of loop on the reference machine; 4.3 GB a second.
TEST(Tensorflow, AStepLoopsAndCopiesItsBatch) {
  Workload load;
  EXPECT_DOUBLE_EQ(tensorflow_beside(load, {}), 1.4e-3);
  load.input = Bytes{4.3e9};
  EXPECT_DOUBLE_EQ(tensorflow_beside(load, {.scale = 2.0}), 1.0 + 2.8e-3);
}

TEST(Tensorflow, TheInputIsTheBatch) {
  const auto load = prepare(parse_graph(kFusable).value(), {}, {.precision = {}, .runtime = Runtime::kTensorflow});
  EXPECT_EQ(load->input, Bytes{2.0 * 3 * 8 * 8 * 4});
}

TEST(Tensorflow, CallsWithBiasHaveMoreNodes) {
  const ConvWork plain;
  const ConvWork biased{.bias = 1};
  EXPECT_DOUBLE_EQ(network_call(Runtime::kTensorflow, plain, State::kTraining).value(), 90e-6);
  EXPECT_DOUBLE_EQ(network_call(Runtime::kTensorflow, biased, State::kTraining).value(), 130e-6);
  EXPECT_FALSE(network_call(Runtime::kPytorchEager, plain, State::kTraining).has_value());
}

}  // namespace
}  // namespace joulecast
