// SPDX-License-Identifier: Apache-2.0
// Each law against numbers worked out by hand from docs/how-predictions-are-made.md.
#include "predict/law.h"

#include <gtest/gtest.h>

#include <limits>

namespace joulecast {
namespace {

Device a30() {
  return make_device(**Catalogue::shipped().find("a30"), {}).value();
}

// Round figures: one SM of 1 TFLOP/s at 1 GHz, 100 GB/s, 1 MB of L2.
Device toy() {
  Device d;
  d.sm = 1;
  d.clock = 1e9;
  d.bandwidth = 1e11;
  d.l2 = 1e6;
  d.limit = 100;
  d.idle = 10;
  d.fp32 = 1e12;
  return d;
}

void expect_close(double found, double wanted, double relative = 1e-4) {
  EXPECT_NEAR(found, wanted, relative * std::abs(wanted));
}

Physics physics(const Work& work, const Device& device, Situation situation = {}) {
  std::array<float, kMaxFeatures> unused{};
  return physics_of(work, device, situation, unused);
}

TEST(Law, JoinedIsTheLargerTimeRoundedWhereTheyMeet) {
  expect_close(joined(3, 4, 2), 5);
  expect_close(joined(4, 3, 2), 5);
  expect_close(joined2(3, 4), 5);
  expect_close(joined(1, 1, 1), 2);
  EXPECT_EQ(joined(7, 0, 2), 7);
  EXPECT_EQ(joined(0, 0, 2), 0);
  EXPECT_EQ(joined(1, 1e-9, 6), 1);
}

TEST(Law, QuantisationIsTheFillingOfTheLastWave) {
  EXPECT_EQ(quantisation(2.0), 1.0);
  expect_close(quantisation(1.5), 0.75);
  expect_close(quantisation(0.25), 0.25);
}

TEST(Law, PowerOfTwoInIsLimitedAndNeverZero) {
  EXPECT_EQ(power_of_two_in(96, 64), 32);
  EXPECT_EQ(power_of_two_in(128, 64), 64);
  EXPECT_EQ(power_of_two_in(7, 64), 1);
  EXPECT_EQ(power_of_two_in(0, 64), 1);
}

TEST(Law, MemoryTimeRunsFromTheCacheToTheMemory) {
  const Device d = toy();
  // A set far beyond the L2: all at 90 % of 100 GB/s.
  expect_close(memory_time(9e9, 1e12, d, 0.9), 0.1);
  // Here 64 B x 0.1 a cycle are 6.4 GB/s: less than the memory, which the L2 never is. On an A30 they are not.
  expect_close(memory_time(9e9, 1.0, d, 0.9), 0.1);
  const Device real = a30();
  expect_close(memory_time(1e9, 1.0, real, 0.5), 1e9 / (56 * 1.44e9 * 6.4));
  // A set of 0.6 L2 hits half of the time.
  const double slow = 1e9 / (933e9 * 0.5);
  const double fast = 1e9 / (56 * 1.44e9 * 6.4);
  expect_close(memory_time(1e9, 0.6 * real.l2, real, 0.5), (slow + fast) / 2);
  // Twice that set one time in nine.
  expect_close(memory_time(1e9, 1.2 * real.l2, real, 0.5), (8 * slow + fast) / 9);
}

// 32 x 32 x 32 on one SM: every tile up to 64 x 64 needs one step of 400 cycles and 1000 cycles around it; 128 x 64
// needs 524288 flops at 0.96 / (1 + 3.8 (128 + 64) / 8192) of the peak, 595 ns. The first of equals wins: 64 x 64.
TEST(Law, TileProductOfOneSmallTile) {
  const TileChoice choice = tile_product(1, 32, 32, 32, Arithmetic::kFp32, toy());
  expect_close(choice.time, 1.4e-6);
  EXPECT_EQ(choice.area, 64 * 64);
  EXPECT_EQ(choice.split, 1);
  EXPECT_EQ(choice.waves, 1);
}

// 256 x 128 x 4096 on one SM: one tile of 256 x 128, 2 * 256 * 128 * 4096 flops at 0.96 TFLOP/s less 3.8 (256 + 128) /
// 32768 for its edges, and 1000 cycles; 128 steps of 400 cycles hide behind it.
TEST(Law, TileProductOfOneLargeTile) {
  const TileChoice choice = tile_product(1, 256, 128, 4096, Arithmetic::kFp32, toy());
  expect_close(choice.time, 293.07e-6);
  EXPECT_EQ(choice.area, 256 * 128);
}

// A product too deep for its one tile is split where SMs are to spare, not where its tiles fill them.
TEST(Law, TileProductSplitsDeepProducts) {
  EXPECT_GT(tile_product(1, 64, 64, 65536, Arithmetic::kFp32, a30()).split, 1);
  EXPECT_EQ(tile_product(1, 128 * 56, 128 * 56, 1024, Arithmetic::kFp32, a30()).split, 1);
}

// ResNet's 3x3 convolution of 64 channels at 56 x 56, batch 32, on an A30 in FP32: 100352 places in tiles of 256 x 64
// are 392, 7 waves of 56 SMs, each 2 * 256 * 64 / 0.95 * 576 flops at 10.3e12 / 56 * 0.87 * 2.05 (Winograd): 424.0 us.
// In, out and weight are 51.5 MB, 49.7 us at 933 GB/s / 0.9; joined with exponent 4/3 they are 442.1 us; 20.4 us on
// top.
TEST(Law, ConvolutionOfResNetByHand) {
  const ConvWork work{.batch = 32,
                      .in_channels = 64,
                      .out_channels = 64,
                      .in_height = 56,
                      .in_width = 56,
                      .out_height = 56,
                      .out_width = 56,
                      .kernel_height = 3,
                      .kernel_width = 3,
                      .padding = 1};
  const Physics p = physics(work, a30());
  expect_close(p.compute, 423.96e-6);
  expect_close(p.bytes, 51527680);
  expect_close(p.gpu, 462.48e-6);
  expect_close(p.host, 26.5e-6);
  expect_close(p.bound, 462.48e-6);
}

// A 1x1 convolution of 64 to 256 channels at 56 x 56 in TF32, batch 32, on an A30: 100352 places in tiles of 256 x 128
// are 784, 14 waves of 56 SMs, each 2 * 256 * 128 / 1.05 * 64 flops at 82e12 / 56 * 0.50: 76.4 us. In, out and weight
// are 128.5 MB, 124.0 us at 933 GB/s / 0.9; the root of the sum of squares is 145.6 us; a tenth of a copy of in and
// out is 13.8 us; 22.8 us on top.
ConvWork tf32_one_by_one() {
  return {.batch = 32,
          .in_channels = 64,
          .out_channels = 256,
          .in_height = 56,
          .in_width = 56,
          .out_height = 56,
          .out_width = 56,
          .arithmetic = Arithmetic::kTf32};
}

TEST(Law, TensorConvolutionByHand) {
  const Physics p = physics(tf32_one_by_one(), a30());
  expect_close(p.compute, 76.384e-6);
  expect_close(p.gpu, 182.18e-6);
}

// 55 x 55 places are no multiple of four: 14 waves of 127.3 us at 0.6 of the rate, 119.6 us of bytes, 0.65 copies of in
// and 0.95 of out are 118.2 us.
TEST(Law, TensorConvolutionOnOddPlacesIsCopied) {
  ConvWork work = tf32_one_by_one();
  work.in_height = work.in_width = work.out_height = work.out_width = 55;
  expect_close(physics(work, a30()).compute, 127.307e-6);
  expect_close(physics(work, a30()).gpu, 315.66e-6);
}

// The output is 102.8 MB, 110.1 us: read and written by the bias, and once more for the gradient of the bias.
TEST(Law, BiasIsAPassOverTheOutput) {
  const Device d = a30();
  ConvWork work = tf32_one_by_one();
  const double without = physics(work, d).gpu;
  const double training = physics(work, d, {.state = State::kTraining}).gpu;
  work.bias = 1;
  expect_close(physics(work, d).gpu - without, 2.2 * 110.14e-6);
  expect_close(physics(work, d, {.state = State::kTraining}).gpu - training, 3.2 * 110.14e-6);
}

TEST(Law, FewChannelsFillNoTensorTile) {
  ConvWork work = tf32_one_by_one();
  work.out_channels = 16;
  expect_close(physics(work, a30()).compute, 51.150e-6);
  expect_close(physics(work, a30()).gpu, 86.043e-6);
}

TEST(Law, PointwiseMovesItsBytesOnce) {
  const Device d = toy();
  PointwiseWork relu{.kind = PointwiseKind::kRelu, .elements = 900'000'000, .forward_bytes = 7'200'000'000};
  relu.backward_bytes = 10'800'000'000;
  EXPECT_EQ(physics(relu, d).bytes, 7.2e9);
  expect_close(physics(relu, d).bound, 0.08);  // at 90 GB/s
  // Training: forward, backward and 12 bytes an element for the benchmark's sums of gradients.
  const Physics training = physics(relu, d, {.state = State::kTraining});
  EXPECT_EQ(training.bytes, 7.2e9 + 10.8e9 + 10.8e9);
  EXPECT_EQ(training.accumulation_bytes, 10.8e9);
  // A StochasticDepth that does not drop is no kernel.
  PointwiseWork depth = relu;
  depth.kind = PointwiseKind::kStochasticDepth;
  EXPECT_EQ(physics(depth, d).bytes, 0);
  expect_close(physics(depth, d).bound, 5.3e-6);
}

TEST(Law, HostFloorsAreOfCallStateAndMachine) {
  const Device d = a30();
  ConvWork conv;
  const auto floor = [&](const Work& work, State state, Host host) {
    return host_floor(work, d, {.state = state, .host = host}) * 1e6;
  };
  expect_close(floor(conv, State::kEval, Host::kModern), 26.5);
  expect_close(floor(conv, State::kTraining, Host::kModern), 254);
  expect_close(floor(conv, State::kEval, Host::kOlder), 75);
  conv.bias = 1;
  expect_close(floor(conv, State::kEval, Host::kModern), 26.5 + 16);
  conv = {.in_channels = 8, .out_channels = 8, .groups = 8};
  expect_close(floor(conv, State::kEval, Host::kModern), 21.5);
  expect_close(floor(GemmWork{}, State::kTraining, Host::kModern), 294);
  expect_close(floor(ReductionWork{.kind = ReductionKind::kBatchNorm}, State::kTrainForward, Host::kModern), 57);
  // Captured kernels have no host: 4600 cycles of the GPU.
  expect_close(floor(GemmWork{}, State::kEval, Host::kCaptured), 4600 / 1440.0);
}

TEST(Law, Fp64HasNoFastConvolutions) {
  Device d = a30();
  d.fp64 = d.fp32;
  ConvWork work{.batch = 32, .in_channels = 64, .out_channels = 64, .in_height = 56, .in_width = 56, .out_height = 56};
  work.out_width = 56;
  work.kernel_height = work.kernel_width = 3;
  const double fast = physics(work, d).compute;
  work.arithmetic = Arithmetic::kFp64;
  expect_close(physics(work, d).compute, 2.05 * fast);
}

// Sizes nobody will ever run, on every GPU of the catalogue: time stays finite and positive, features finite.
TEST(Law, ExtremeWorkStaysFinite) {
  const std::int64_t large = std::int64_t{1} << 31;
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{7}, large}) {
    const Work works[] = {
        ConvWork{.batch = n, .in_channels = 64, .out_channels = n, .out_height = n, .kernel_height = n},
        ConvWork{.batch = n, .in_channels = n, .out_channels = n, .groups = n, .kernel_height = 3, .stride = 2},
        GemmWork{.batch = n, .rows = n, .columns = 1, .depth = n},
        PointwiseWork{.kind = PointwiseKind::kGelu, .elements = n, .forward_bytes = 8 * n, .backward_bytes = 12 * n},
        PointwiseWork{},
        ReductionWork{.in_elements = n, .out_elements = 1, .rows = 1, .columns = n},
        ReductionWork{.kind = ReductionKind::kLayerNorm, .in_elements = n, .out_elements = n, .rows = n},
        ReductionWork{},
        AttentionWork{.batch = n, .heads = 1, .queries = n, .arithmetic = Arithmetic::kFp32},
        AttentionWork{.batch = 1, .heads = 64, .queries = 1, .past = n, .arithmetic = Arithmetic::kFp32}};
    for (const Gpu& gpu : Catalogue::shipped().all()) {
      const auto device = make_device(gpu, {});
      if (!device) continue;
      for (const Work& work : works) {
        for (const State state : {State::kEval, State::kTraining}) {
          std::array<float, kMaxFeatures> features{};
          features.fill(std::numeric_limits<float>::quiet_NaN());  // each must be written
          const Physics p = physics_of(work, *device, {.state = state}, features);
          ASSERT_TRUE(std::isfinite(p.bound) && p.bound > 0)
              << gpu.id << " " << name(group_of(work)) << " " << n << ": " << p.bound << " " << p.gpu;
          ASSERT_TRUE(std::isfinite(p.compute) && std::isfinite(p.memory) && p.gpu >= 0) << gpu.id;
          const std::size_t count = feature_names(group_of(work)).size();
          for (const float value : std::span(features).first(count)) {
            ASSERT_TRUE(std::isfinite(value)) << gpu.id << name(group_of(work));
          }
          ASSERT_TRUE(std::isnan(features[count])) << gpu.id << name(group_of(work));
        }
      }
    }
  }
}

TEST(Law, DoublingTheBatchNeverMakesABigOperationFaster) {
  const Device d = a30();
  for (const State state : {State::kEval, State::kTraining}) {
    double conv_before = 0, gemm_before = 0;
    for (std::int64_t batch = 8; batch <= 4096; batch *= 2) {
      ConvWork conv{.batch = batch, .in_channels = 128, .out_channels = 256, .in_height = 28, .in_width = 28};
      conv.out_height = conv.out_width = 28;
      conv.kernel_height = conv.kernel_width = 3;
      const double conv_now = physics(conv, d, {.state = state}).bound;
      const double gemm_now =
          physics(GemmWork{.rows = batch, .columns = 1000, .depth = 2048}, d, {.state = state}).bound;
      EXPECT_GE(conv_now, conv_before) << batch;
      EXPECT_GE(gemm_now, gemm_before * 0.999) << batch;
      conv_before = conv_now;
      gemm_before = gemm_now;
    }
  }
}

TEST(Law, ClockAndLimitMoveTheDevice) {
  const Gpu& gpu = **Catalogue::shipped().find("a30");
  const Device half = make_device(gpu, {.sm_clock = Hertz{720e6}, .power_limit = Watts{100}}).value();
  expect_close(half.fp32, 10.3e12 / 2);
  EXPECT_EQ(half.limit, 100);
  EXPECT_EQ(half.bandwidth, a30().bandwidth);
  EXPECT_LE(half.held_at(Arithmetic::kFp32), 1.0);
}

}  // namespace
}  // namespace joulecast
