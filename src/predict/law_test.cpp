// SPDX-License-Identifier: Apache-2.0
// Each law against numbers worked out by hand from docs/how-predictions-are-made.md.
#include "predict/law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "predict/close_to.h"
#include "predict/conv_simt.h"
#include "predict/conv_winograd.h"

namespace joulecast {
namespace {

Device device_of(std::string_view gpu) {
  return make_device(**Catalogue::shipped().find(gpu), {}).value();
}
Device a30() {
  return device_of("a30");
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

// 32 x 32 x 32 on one SM: 65536 flops at 1.14 / (1 + 8.15 (32 + 32) / 1024) of the peak, 86.77 ns, which hide one step
// of 46.7 cycles; 222 cycles, and 0.08 for each of 1024 outputs. A tile of 32 x 64 would have twice of both.
TEST(Law, TileProductOfOneSmallTile) {
  const TileChoice choice = tile_product(1, 32, 32, 32, Arithmetic::kFp32, toy());
  expect_close(choice.time, 390.691e-9);
  EXPECT_EQ(choice.area, 32 * 32);
  EXPECT_EQ(choice.split, 1);
  EXPECT_EQ(choice.waves, 1);
}

// 256 x 128 x 4096 on one SM: two tiles of 128 x 128, each 2 * 128 * 128 * 4096 flops at 1.14 of 1 TFLOP/s less 8.15
// (128 + 128) / 16384 for its edges, and 0.08 * 16384 cycles for what it writes; 222 cycles in all. 128 steps of 46.7
// cycles hide behind them.
TEST(Law, TileProductOfTwoLargeTiles) {
  const TileChoice choice = tile_product(1, 256, 128, 4096, Arithmetic::kFp32, toy());
  expect_close(choice.time, 268.298e-6);
  EXPECT_EQ(choice.area, 128 * 128);
}

// The windows of a Swin transformer: 49 x 49 of depth 32. An A30 takes a tile of 128 x 128 for each of them.
TEST(Law, BatchedProductsTakeTheTileOfTheirGeneration) {
  const auto time = [](std::string_view gpu, double rows, double columns) {
    return tile_product(6144, rows, columns, 32, Arithmetic::kFp32, device_of(gpu)).time;
  };
  EXPECT_EQ(time("a30", 49, 49), time("a30", 128, 128));
  EXPECT_EQ(time("p100-pcie-16gb", 49, 49), time("p100-pcie-16gb", 64, 128));
  EXPECT_LT(time("p100-pcie-16gb", 49, 49), time("p100-pcie-16gb", 128, 49));
  EXPECT_EQ(time("t4", 49, 49), time("t4", 64, 64));
  EXPECT_LT(time("t4", 49, 49), time("t4", 64, 128));
  EXPECT_EQ(time("v100-pcie-32gb", 128, 20), time("v100-pcie-32gb", 128, 32));
  EXPECT_LT(tile_product(1, 49, 49, 32, Arithmetic::kFp32, device_of("a30")).area, 64 * 64) << "alone it has a choice";
}

// 4096 products of 49 x 49 and depth 64 take a tile of 128 x 128 each, which are 74 waves on 56 SMs, at the clock that
// the limit leaves.
TEST(Law, BatchedProductsWriteBetweenWaves) {
  const Device d = device_of("a30");
  const double rate = d.fp32 * d.held_at(Arithmetic::kFp32) / 56 * 1.47 / (1 + 23 * 256.0 / 16384);
  const double waves = 74;
  const double wanted = waves * 2 * 16384 * 64 / rate + (240 + waves * 0.163 * 16384) / d.clock;
  expect_close(tile_product(4096, 49, 49, 64, Arithmetic::kFp32, d).time, wanted);
}

TEST(Law, DeepLayersOfPascalReadRowsFarApart) {
  const auto grows = [](std::string_view gpu, std::int64_t depth) {
    const auto gpu_time = [&](std::int64_t k) {
      return physics(GemmWork{.rows = 4096, .columns = 4096, .depth = k}, device_of(gpu)).gpu;
    };
    return gpu_time(depth) / gpu_time(8192) * 8192.0 / static_cast<double>(depth);
  };
  EXPECT_NEAR(grows("v100-pcie-32gb", 32768), 1.0, 0.02);
  EXPECT_NEAR(grows("p100-pcie-16gb", 32768), 1.0 + 0.8 * std::log(4.0), 0.04);
  EXPECT_NEAR(grows("tesla-p4", 32768), 1.5, 0.03);
}

// More than convolutions do, before Ampere.
TEST(Law, ProductsHoldLessOfTheClockOnOlderChips) {
  const Device t4 = device_of("t4");
  const Device ampere = device_of("a30");
  const auto held = [](const Device& d) { return d.held_at(Arithmetic::kFp32); };
  expect_close(sustained_peak(Arithmetic::kFp32, t4), t4.fp32 * std::pow(held(t4), 1.34));
  expect_close(sustained_peak(Arithmetic::kFp32, ampere), ampere.fp32 * held(ampere));
}

// 100 SMs of 1 TFLOP/s at 1 GHz, 256 tiles of 128 x 256 or 512 of 128 x 128: three waves of the larger ones, each 2 *
// 128 * 256 * 4096 flops at 0.88 / (1 + 2.5 * 384 / 32768) of the rate, 313.97 us, and 1.22 us between them where
// matrix instructions are synchronous, 0.21 us where they are not; 0.134 us in all.
TEST(Law, TensorProductsWaitBetweenWavesUnlessTheyAreAsynchronous) {
  Device d = toy();
  d.sm = 100;
  d.bf16 = 1e14;
  d.capability = 8.0;
  const double products = 3 * 2.0 * 128 * 256 * 4096 / (1e12 * 0.88 / (1 + 2.5 * 384 / 32768));
  expect_close(tile_product(1, 7680, 1280, 4096, Arithmetic::kBf16, d).time, products + (3 * 1220 + 134) * 1e-9, 1e-9);
  d.capability = 9.0;
  expect_close(tile_product(1, 7680, 1280, 4096, Arithmetic::kBf16, d).time, products + (3 * 210 + 134) * 1e-9, 1e-9);
  d.capability = 12.0;
  expect_close(tile_product(1, 7680, 1280, 4096, Arithmetic::kBf16, d).time, products + (3 * 1220 + 134) * 1e-9, 1e-9);
}

// A product too deep for its one tile is split where SMs are to spare, not where its tiles fill them.
TEST(Law, TileProductSplitsDeepProducts) {
  EXPECT_GT(tile_product(1, 64, 64, 65536, Arithmetic::kFp32, a30()).split, 1);
  EXPECT_EQ(tile_product(1, 128 * 56, 128 * 56, 1024, Arithmetic::kFp32, a30()).split, 1);
}

// Without tensor cores an A30 keeps 10.3e12 * 0.90134 flops a second under its limit, of which forward passes feel the
// power 0.8: 1.69262e11 an SM.
ConvWork fp32_three_by_three(std::int64_t channels, std::int64_t size) {
  return {.batch = 32,
          .in_channels = channels,
          .out_channels = channels,
          .in_height = size,
          .in_width = size,
          .out_height = size,
          .out_width = size,
          .kernel_height = 3,
          .kernel_width = 3,
          .padding = 1};
}

// ResNet's 3x3 convolution of 64 channels at 56 x 56. Fused Winograd: 28 x 28 squares of 2 x 2 are 7 x 4 blocks an
// image for each 32 channels, 1792, 32 waves of 56 SMs, each 2 * 16 * 32 * 32 * (64 + 18) flops at 1.02 of the rate:
// 498.0 us. In, out and weight are 51.5 MB, 69.9 us at 79 % of 933 GB/s; joined with exponent 4/3 they are 525.7 us;
// 0.2 us for the filters, 20.4 us on top. The implicit product would take 854 us, squares of 4 x 4 617 us.
TEST(Law, ConvolutionOfResNetByHand) {
  const Physics p = physics(fp32_three_by_three(64, 56), a30());
  expect_close(p.compute, 498.029e-6);
  expect_close(p.bytes, 51527680);
  expect_close(p.gpu, (525.915 + 20.4) * 1e-6);
  expect_close(p.host, 26.5e-6);
  expect_close(p.bound, (525.915 + 20.4) * 1e-6);
}

// 256 channels at 14 x 14 are better off with squares of 4 x 4, 16 an image. 36 products of 512 x 256 x 256 in tiles of
// 128 x 128 are 288, 6 waves, at 1.47 * 1.17 / (1 + 23 * 256 / 16384) of the rate, and 0.163 cycles between for each
// output: 246.3 us; their 47.2 MB 60.2 us. Input and output are transformed in 32.5 us each, the filters in 24.0, and
// three kernels start 6.7 us after another: 356.8 us in all.
TEST(Law, DeepConvolutionTakesLargerWinogradSquares) {
  const Physics p = physics(fp32_three_by_three(256, 14), a30());
  expect_close(p.compute, 246.321e-6);
  expect_close(p.gpu, (356.845 + 20.4) * 1e-6);
}

// The batch is filled up to 16 images, whatever the size of one: 33 of 12 x 12 take the products of 48.
TEST(Law, WinogradFillsItsBatch) {
  const auto products = [](std::int64_t batch) {
    ConvWork work = fp32_three_by_three(512, 12);
    work.batch = batch;
    return physics(work, a30()).compute;
  };
  EXPECT_EQ(products(33), products(48));
  EXPECT_LT(products(32), products(33));
}

// As their kernels are named: one tile on an A30, which 33 to 128 channels share, smaller ones elsewhere.
TEST(Law, WinogradTakesTheTilesOfItsGeneration) {
  const auto products = [](std::string_view gpu, double channels) {
    const Device d = device_of(gpu);
    return winograd_time({32, 16, 16, 256, channels, 0, 0, 4}, d.fp32, {1.0, 1.0}, d).products;
  };
  EXPECT_EQ(products("a30", 33), products("a30", 128));
  EXPECT_EQ(products("v100-pcie-32gb", 33), products("v100-pcie-32gb", 64));
  EXPECT_LT(products("v100-pcie-32gb", 64), products("v100-pcie-32gb", 128));
  EXPECT_LT(products("tesla-p4", 64), products("tesla-p4", 128));
}

// A block of fused Winograd has 8 squares side by side, images of 8 x 8 have four: two of them share one before Volta.
TEST(Law, FusedWinogradPairsSmallImagesBeforeVolta) {
  const auto of_two = [](std::string_view gpu) {
    Device d = device_of(gpu);
    d.sm = 1;
    d.bandwidth = 1e18;  // nothing but the products takes time
    ConvWork work = fp32_three_by_three(512, 8);
    work.batch = 2;
    ConvWork one = work;
    one.batch = 1;
    return simt_passes(work, d, false, true).forward.fused / simt_passes(one, d, false, true).forward.fused;
  };
  EXPECT_LT(of_two("tesla-p4"), 1.05);
  EXPECT_GT(of_two("v100-pcie-32gb"), 1.9);
}

// Its convolutions reach less of the peak, as its products do.
TEST(Law, TheP100ReachesLessOfItsPeak) {
  Device d = device_of("p100-pcie-16gb");
  const double found = physics(fp32_three_by_three(256, 56), d).compute;
  d.capability = 6.1;
  expect_close(found, physics(fp32_three_by_three(256, 56), d).compute / 0.875, 0.01);
}

// The data gradient is the forward pass the other way round. The weight gradient splits the sum over 512 squares in 8:
// 576 tiles of 256 x 128, 11 waves of depth 64, at 1.05 * 1.05 * 0.365 of the rate, 691.6 us; with bytes and transforms
// 778.8 us. 3.3 times in and weight, 8.8 MB, are added up.
TEST(Law, GradientsOfConvolutionByHand) {
  const Physics p = physics(fp32_three_by_three(256, 14), a30(), {.state = State::kTraining});
  expect_close(p.compute, (246.321 * 2 + 691.583) * 1e-6);
  const double sums = 3.3 * 4 * (32 * 196 * 256 + 9 * 256 * 256) / 933e9;
  expect_close(p.gpu, (356.845 * 2 + 778.797 + 3 * 20.4) * 1e-6 + sums);
}

// Tried out, the same squares run at 1.7 of the rate, 178.381 us, and cost 157.816 us of transforms: with 64.018 us of
// bytes 347.336 us. The weight gradient runs at 0.65 of that rate: 239.863 us, 406.076 us in all. Nothing is added up.
TEST(Law, AutotunedConvolutionByHand) {
  ConvWork work = fp32_three_by_three(256, 14);
  work.autotuned = true;
  const Physics forward = physics(work, a30());
  expect_close(forward.compute, 178.381e-6);
  expect_close(forward.gpu, (347.336 + 20.4) * 1e-6);
  const Physics training = physics(work, a30(), {.state = State::kTraining});
  expect_close(training.compute, (178.381 * 2 + 239.863) * 1e-6);
  expect_close(training.gpu, (347.336 * 2 + 406.076 + 3 * 20.4) * 1e-6);
  EXPECT_EQ(training.accumulation_bytes, 0.0);
}

// 64 channels of 64 x 64, 4.2 MB in and out, 20.97 us: moved 1.8 times forward, 4.5 times for the data gradient; the
// filters' gradient takes 0.28 cycles for each of 2.36 million sums, or 0.05 where an image fits into a block.
TEST(Law, DepthwiseConvolutionOfTensorflowByHand) {
  ConvWork work{.in_channels = 64,
                .out_channels = 64,
                .groups = 64,
                .in_height = 64,
                .in_width = 64,
                .out_height = 64,
                .out_width = 64,
                .kernel_height = 3,
                .kernel_width = 3,
                .padding = 1};
  work.autotuned = true;
  expect_close(physics(work, toy()).gpu, (1.8 * 20.97152 + 3) * 1e-6);
  expect_close(physics(work, toy(), {.state = State::kTraining}).gpu, (6.3 * 20.97152 + 660.603 + 3) * 1e-6);
  work.batch = 4;
  work.in_height = work.in_width = work.out_height = work.out_width = 32;
  expect_close(physics(work, toy(), {.state = State::kTraining}).gpu, (6.3 * 20.97152 + 117.965 + 3) * 1e-6);
}

Device toy_kepler() {
  Device d = toy();
  d.kepler = true;
  return d;
}

// 16 rows take a tile of 128: 2 * 128 * 128 * 1024 flops at 0.56 / (1 + 3.8 * 256 / 16384) of the peak are 63.476 us,
// and 1000 cycles.
TEST(Law, KeplerMultipliesInTilesOfOneSize) {
  const TileChoice small = tile_product(1, 16, 128, 1024, Arithmetic::kFp32, toy_kepler());
  expect_close(small.time, 64.476e-6);
  EXPECT_EQ(small.split, 1);
  EXPECT_EQ(tile_product(1, 128, 128, 1024, Arithmetic::kFp32, toy_kepler()).time, small.time);
}

// 64 to 64 channels at 8 x 8 with 3x3: a tile of depth 590 at 1.05 of the peak is 18.4125 us, 18.4136 us with its
// bytes; the 36864 weights are moved 48.5 times, 71.516 us, whatever the batch.
TEST(Law, KeplerTransformsFiltersInsteadOfWinograd) {
  ConvWork work = fp32_three_by_three(64, 8);
  work.batch = 1;
  expect_close(physics(work, toy_kepler()).gpu, (18.4136 + 71.516 + 20.4) * 1e-6);
  work.batch = 2;  // the same tile
  expect_close(physics(work, toy_kepler()).gpu, (18.4146 + 71.516 + 20.4) * 1e-6);
}

TEST(Law, KeplerStreamsPartOfItsBandwidth) {
  expect_close(device_of("tesla-k80").bandwidth, 0.62 * 240e9);
  EXPECT_FALSE(device_of("tesla-m60").kepler);
}

// With a stride, or gaps in the kernel, only the implicit product is left: 25088 places by 128 channels in tiles of 128
// x 64 are 392, 7 waves of depth 576 + 13.8 at 0.95 * 0.985: 427.1 us.
TEST(Law, StrideAndGapsForbidWinograd) {
  ConvWork strided = fp32_three_by_three(64, 56);
  strided.out_channels = 128;
  strided.out_height = strided.out_width = 28;
  strided.stride = 2;
  expect_close(physics(strided, a30()).compute, 427.075e-6);
  ConvWork gaps = fp32_three_by_three(64, 56);
  gaps.padding = 2;
  expect_close(physics(gaps, a30()).compute, 854.149e-6);
}

// TF32 or not, a layer on an image runs the same kernels, and nothing is copied.
TEST(Law, LayersOnAnImageNeedNoTensorCores) {
  ConvWork work = fp32_three_by_three(64, 56);
  work.in_channels = 3;
  const double plain = physics(work, a30()).gpu;
  work.arithmetic = Arithmetic::kTf32;
  EXPECT_EQ(physics(work, a30()).gpu, plain);
  work.arithmetic = Arithmetic::kFp16;
  EXPECT_NE(physics(work, a30()).gpu, plain);
}

// Winograd in the tables of bare loops: 498.0 us at 0.98 instead of 1.02 of the rate. What a call costs is added, not
// hidden.
TEST(Law, BareLoopsHaveSlowerWinograd) {
  const Physics p = physics(fp32_three_by_three(64, 56), a30(), {.host = Host::kBare, .host_scale = 1.8});
  expect_close(p.compute, 498.029e-6 * 1.02 / 0.98);
  expect_close(p.host, 36.9e-6);
  EXPECT_EQ(p.bound, p.gpu + p.host);
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

// 55 x 55 places are no multiple of four: 14 waves of 127.3 us at 0.6 of the rate, 119.6 us of bytes, 0.28 copies of in
// and 0.47 of out are 57.4 us.
TEST(Law, TensorConvolutionOnOddPlacesIsCopied) {
  ConvWork work = tf32_one_by_one();
  work.in_height = work.in_width = work.out_height = work.out_width = 55;
  expect_close(physics(work, a30()).compute, 127.307e-6);
  expect_close(physics(work, a30()).gpu, 254.83e-6);
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

// 1000 images of 256 channels, each enlarged by the same few threads: 0.3 us a time.
TEST(Law, WhatIsMadeInTurnTakesItsTurns) {
  PointwiseWork resize{.kind = PointwiseKind::kCopy, .elements = 1000, .forward_bytes = 8000, .in_turn = 256'000};
  expect_close(physics(resize, toy()).gpu, 0.0768);
  resize.forward_bytes = 90'000'000'000;
  expect_close(physics(resize, toy()).gpu, 1);
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

// The implicit product: 1568 tiles of 128 x 64, 28 waves of 2 * 128 * 64 / 0.95 * (576 + 14) flops at 0.87 of 10.3e12
// / 56.
TEST(Law, Fp64HasNoFastConvolutions) {
  Device d = a30();
  d.fp64 = d.fp32;
  ConvWork work = fp32_three_by_three(64, 56);
  work.arithmetic = Arithmetic::kFp64;
  expect_close(physics(work, d).compute, 889.940e-6);
}

ReductionWork pool(std::int64_t channels, std::int64_t side, std::int64_t pooled) {
  const std::int64_t planes = 32 * channels;
  return {.kind = ReductionKind::kAdaptivePool,
          .in_elements = planes * side * side,
          .out_elements = planes * pooled * pooled,
          .channels = channels,
          .spatial = side * side,
          .rows = planes * pooled * pooled,
          .columns = side * side / (pooled * pooled)};
}

// 2048 channels at 7 x 7: 12.85 MB in and 0.26 MB out, of which the half of the L2 that they fill makes 0.7, are
// 10.93 us at 90 % of 933 GB/s; 65536 averages of 40 cycles on 56 SMs at 1.44 GHz 32.51 us.
TEST(Law, AnAverageCostsItsRowBesideWhatItReads) {
  expect_close(physics(pool(2048, 7, 1), a30()).gpu, (10.927 + 32.508) * 1e-6);
  // Four times the L2: nothing of it stays. The gradient is written once, without averages.
  const Physics large = physics(pool(2048, 20, 1), a30(), {.state = State::kTraining});
  const double bytes = 4.0 * 65536 * 401;
  expect_close(large.gpu, (2 * bytes + 12.0 * 65536 * 400) / (0.9 * 933e9) + 32.508e-6);
}

// AlexNet's: 8192 blocks of six warps, each 90 cycles, 54.86 us; what it moves hides behind. Twice that with the
// gradient, whose kernel is built alike.
TEST(Law, PoolingToManyPlacesIsBoundByItsDivisions) {
  const Physics p = physics(pool(256, 6, 6), a30());
  expect_close(p.compute, 54.857e-6);
  expect_close(p.gpu, 54.857e-6);
  expect_close(physics(pool(256, 6, 6), a30(), {.state = State::kTraining}).compute, 2 * 54.857e-6);
}

ReductionWork batch_norm(std::int64_t channels, std::int64_t spatial) {
  const std::int64_t elements = 32 * channels * spatial;
  return {.kind = ReductionKind::kBatchNorm,
          .in_elements = elements,
          .out_elements = elements,
          .channels = channels,
          .spatial = spatial,
          .rows = channels,
          .columns = elements / channels};
}

// 7 x 7 places are few for a block: 65536 of 80 cycles are 65.02 us, two passes at 73 % of 933 GB/s 37.72 us; the
// fourth root of the sum of their fourth powers is 66.78 us.
TEST(Law, BatchNormOfSmallImagesIsBoundByItsBlocks) {
  expect_close(physics(batch_norm(2048, 49), a30()).gpu, 66.7843e-6);
  // Of one place the channels lie side by side, which another kernel walks.
  expect_close(physics(batch_norm(2048 * 49, 1), a30()).gpu, 37.7195e-6);
}

// In training one block takes a channel: 28 keep half of 56 SMs busy, 84 fill a wave and a half, which costs 0.57 of
// the third that is lost. The older library of the RTX 2080 Ti shares channels out.
TEST(Law, BatchNormOfFewChannelsLeavesSmsIdle) {
  const auto alone = [](std::int64_t channels, Host host) {
    const Physics p = physics(batch_norm(channels, 112 * 112), a30(), {.state = State::kTraining, .host = host});
    return (p.gpu - p.accumulation_bytes / (0.9 * 933e9)) / (p.bytes - p.accumulation_bytes);
  };
  const double full = 1.0 / (0.79 * 933e9);
  expect_close(alone(56, Host::kModern), full);
  expect_close(alone(28, Host::kModern), 2 * full);
  expect_close(alone(84, Host::kModern), (1 + 0.57 / 3) * full);
  expect_close(alone(28, Host::kOlder), full);
}

// Rows that a warp holds are read and written at 80 % of the bandwidth; longer ones cost a block a cycle a column, 0.7
// where four are read at once.
TEST(Law, LongRowsOfSoftmaxAreWalkedByABlock) {
  const auto softmax = [](std::int64_t columns) {
    return physics(ReductionWork{.kind = ReductionKind::kSoftmax,
                                 .in_elements = 4096 * columns,
                                 .out_elements = 4096 * columns,
                                 .rows = 4096,
                                 .columns = columns},
                   a30())
        .gpu;
  };
  const auto moved = [](double columns) { return 8.0 * 4096 * columns / (0.8 * 933e9); };
  const auto walked = [](double columns) { return 4096 * columns / (56 * 1.44e9); };
  expect_close(softmax(1024), moved(1024));
  expect_close(softmax(1025), std::hypot(moved(1025), walked(1025)));
  expect_close(softmax(2048), std::hypot(moved(2048), 0.7 * walked(2048)));
}

// 26 us to call and 26 us to move: a loop hides little of the one behind the other. A number is wrapped before.
TEST(Law, BareLoopsHideLittleOfACall) {
  PointwiseWork add{.kind = PointwiseKind::kAdd, .elements = 1, .forward_bytes = 2'340'000};
  const Situation bare{.host = Host::kBare};
  expect_close(physics(add, toy(), bare).bound, 26e-6 * std::cbrt(4.0));
  add.kind = PointwiseKind::kAddScalar;
  expect_close(physics(add, toy(), bare).host, 30e-6);
  const GemmWork product{.rows = 512, .columns = 512, .depth = 512};
  const Physics p = physics(product, a30(), bare);
  expect_close(p.bound, joined(p.gpu, p.host, 1.3));
}

TEST(Law, ErrorCodesBetweenTheDataTakeBandwidth) {
  const auto bandwidth = [](const char* gpu) { return device_of(gpu).bandwidth / 1e9; };
  expect_close(bandwidth("t4"), 0.81 * 320);
  expect_close(bandwidth("tesla-p4"), 0.81 * 192);
  expect_close(bandwidth("a40"), 0.91 * 696);
  expect_close(bandwidth("p100-pcie-16gb"), 0.81 * 732);
  for (const auto& [gpu, whole] : {std::pair{"v100-pcie-32gb", 900.0}, {"rtx-3090", 936.0}, {"a30", 933.0}})
    expect_close(bandwidth(gpu), whole);
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

// Nothing is copied between the two orders, and the products reach 1.35 times as much of the peak.
TEST(Law, TensorConvolutionsAreFasterChannelsLast) {
  const Device d = a30();
  ConvWork conv{.batch = 256, .in_channels = 256, .out_channels = 256, .in_height = 28, .in_width = 28};
  conv.out_height = conv.out_width = 28;
  conv.kernel_height = conv.kernel_width = 3;
  conv.element_bytes = 2;
  conv.arithmetic = Arithmetic::kFp16;
  ConvWork last = conv;
  last.channels_last = true;
  const Physics first_found = physics(conv, d);
  const Physics last_found = physics(last, d);
  expect_close(first_found.compute / last_found.compute, 1.35);
  const double copies = (1.15 + 0.60) * 256.0 * 256 * 28 * 28 * 2 / d.bandwidth;
  EXPECT_GT(first_found.gpu - last_found.gpu, copies);
}

TEST(Law, TheTreesSeeEveryConvolutionAsTheOnesThatWereMeasured) {
  ConvWork conv{.batch = 8, .in_channels = 64, .out_channels = 64, .arithmetic = Arithmetic::kTf32};
  std::array<float, kMaxFeatures> first{};
  std::array<float, kMaxFeatures> last{};
  physics_of(conv, a30(), {}, first);
  conv.channels_last = true;
  physics_of(conv, a30(), {}, last);
  EXPECT_EQ(first, last);
}

// Fast kernels are for 3x3, 5x5 and 7x7: 81 multiply-adds of the slow one take 4.2 / 0.35 x 81 / 49 of those of 7x7.
TEST(Law, DepthwiseHalvesChannelsLastAreFastForUsualKernels) {
  const auto with = [](std::int64_t kernel) {
    ConvWork conv{
        .batch = 256, .in_channels = 512, .out_channels = 512, .groups = 512, .in_height = 16, .in_width = 16};
    conv.out_height = conv.out_width = 16;
    conv.kernel_height = conv.kernel_width = kernel;
    conv.element_bytes = 2;
    conv.arithmetic = Arithmetic::kFp16;
    conv.channels_last = true;
    return physics(conv, a30()).compute;
  };
  expect_close(with(9) / with(7), 4.2 / 0.35 * 81.0 / 49.0);
  expect_close(with(7) / with(5), 0.35 * 49.0 / 25.0);
}

// ConvNeXt's, whose layer norms leave images channels-last.
TEST(Law, DepthwiseGradientsAreSlowChannelsLast) {
  ConvWork conv{.batch = 32, .in_channels = 128, .out_channels = 128, .groups = 128, .in_height = 56, .in_width = 56};
  conv.out_height = conv.out_width = 56;
  conv.kernel_height = conv.kernel_width = 7;
  const auto slower = [&](Arithmetic arithmetic, State state) {
    ConvWork last = conv;
    last.arithmetic = arithmetic;
    const double first = physics(last, a30(), {.state = state}).compute;
    last.channels_last = true;
    return physics(last, a30(), {.state = state}).compute / first;
  };
  expect_close(slower(Arithmetic::kTf32, State::kTraining), 2.0);
  expect_close(slower(Arithmetic::kFp32, State::kTraining), 4.6);
  expect_close(slower(Arithmetic::kFp32, State::kEval), 1.0);
  conv.channels_last = true;
  const Device amd = device_of("mi100");
  const double last = physics(conv, amd, {.state = State::kTraining}).compute;
  conv.channels_last = false;
  expect_close(physics(conv, amd, {.state = State::kTraining}).compute, last);
}

TEST(Law, FusedKernelsReadFromTheL2WhatFitsThere) {
  const Device d = device_of("rtx-4090");
  const auto with = [&](PointwiseKind kind, std::int64_t bytes) {
    return physics(PointwiseWork{.kind = kind, .elements = bytes / 4, .forward_bytes = bytes}, d).gpu;
  };
  const std::int64_t small = 2 << 20;  // of 72 MiB of L2
  const std::int64_t large = std::int64_t{1} << 30;
  EXPECT_LT(with(PointwiseKind::kFused, small), 0.9 * with(PointwiseKind::kAdd, small));
  expect_close(with(PointwiseKind::kFused, large), with(PointwiseKind::kAdd, large), 1e-3);
}

TEST(Law, NarrowGroupsOfHalvesHaveKernelsOfTheirOwn) {
  ConvWork conv{.batch = 64, .in_channels = 128, .out_channels = 128, .groups = 32, .in_height = 56, .in_width = 56};
  conv.out_height = conv.out_width = 56;
  conv.kernel_height = conv.kernel_width = 3;
  conv.arithmetic = Arithmetic::kFp16;
  const double single = physics(conv, a30()).compute;
  conv.element_bytes = 2;
  const double half = physics(conv, a30()).compute;
  // Neither the factor for images (0.24) nor the one for few channels (0.28).
  expect_close(single / half, 1.0 / (0.24 * 0.28));
}

// Eight channels out of three take no longer than 32, of whose tile they are a part.
TEST(Law, FewChannelsOfAnImageInHalvesFillATileOf32) {
  ConvWork conv{.batch = 64, .in_channels = 3, .out_channels = 8, .in_height = 224, .in_width = 224};
  conv.out_height = conv.out_width = 112;
  conv.kernel_height = conv.kernel_width = 3;
  conv.stride = 2;
  conv.element_bytes = 2;
  conv.arithmetic = Arithmetic::kFp16;
  const double eight = physics(conv, a30()).compute;
  conv.out_channels = 32;
  expect_close(physics(conv, a30()).compute / eight, 1.0);
}

// 19 x 19 places are no multiple of four: kernels of TF32 load each channel by parts, those of halves read copies that
// lie channels-last.
TEST(Law, OddPlacesMisalignTf32AndNotHalves) {
  ConvWork odd{.batch = 64, .in_channels = 256, .out_channels = 256, .in_height = 19, .in_width = 19};
  odd.out_height = odd.out_width = 19;
  odd.arithmetic = Arithmetic::kTf32;
  ConvWork even = odd;
  even.in_width = even.out_width = 20;
  even.batch = odd.batch * 19;
  odd.batch *= 20;
  const double tf32 = physics(odd, a30()).compute / physics(even, a30()).compute;
  odd.element_bytes = even.element_bytes = 2;
  odd.arithmetic = even.arithmetic = Arithmetic::kFp16;
  const double halves = physics(odd, a30()).compute / physics(even, a30()).compute;
  expect_close(tf32, 1.0 / 0.6);
  expect_close(halves, 1.0);
}

TEST(Law, ClockAndLimitMoveTheDevice) {
  const Gpu& gpu = **Catalogue::shipped().find("a30");
  const Device half = make_device(gpu, {.sm_clock = Hertz{720e6}, .power_limit = Watts{100}}).value();
  expect_close(half.fp32, 10.3e12 / 2);
  EXPECT_EQ(half.limit, 100);
  EXPECT_EQ(half.bandwidth, a30().bandwidth);
  EXPECT_LE(half.held_at(Arithmetic::kFp32), 1.0);
}

// 46.1 TFLOP/s by matrix units over 120 compute units at 1.502 GHz; 0.71 of it, less 4.085 (128 + 128) / (128 x 128),
// and 0.403 cycles for each output.
TEST(Law, ProductsOfCdnaUseItsMatrixUnits) {
  const Device mi100 = device_of("mi100");
  ASSERT_TRUE(mi100.cdna);
  EXPECT_EQ(mi100.product_peak(Arithmetic::kFp32), 46.1e12);
  EXPECT_EQ(mi100.peak(Arithmetic::kFp32), 23.1e12) << "convolutions keep the vector rate";
  const TileChoice large = tile_product(1, 4096, 4096, 4096, Arithmetic::kFp32, mi100);
  EXPECT_EQ(large.area, 128 * 128);
  const double products = 9 * 2.0 * 128 * 128 * 4096 / (46.1e12 / 120 * 0.71 / 1.063828125);
  expect_close(large.time, products + (1000 + 9 * 0.403 * 128 * 128) / 1.502e9);
}

TEST(Law, RocBlasChoosesTheTileOfOneProductWhateverTheBatch) {
  const Device mi100 = device_of("mi100");
  EXPECT_EQ(tile_product(1, 512, 512, 128, Arithmetic::kFp32, mi100).area, 32 * 32);
  EXPECT_EQ(tile_product(1000, 512, 512, 128, Arithmetic::kFp32, mi100).area, 32 * 32);
  EXPECT_GT(tile_product(1000, 512, 512, 128, Arithmetic::kFp32, a30()).area, 32 * 32);
}

TEST(Law, ChipsOfAmdWithoutMatrixUnitsKeepTheGeneralLaw) {
  const Device vega = device_of("mi25");
  EXPECT_FALSE(vega.cdna);
  EXPECT_EQ(vega.product_peak(Arithmetic::kFp32), vega.fp32);
}

// 2^26 FP32 elements are read and written at 80 % of 1229 GB/s; alone, a call adds its start.
TEST(Law, StreamsOfCdna) {
  const Device mi100 = device_of("mi100");
  PointwiseWork work{.kind = PointwiseKind::kRelu, .elements = 1 << 26, .forward_bytes = 8LL << 26};
  const double streamed = 8.0 * (1 << 26) / (0.8 * 1229e9);
  const Physics relu = physics(work, mi100);
  expect_close(relu.gpu, streamed);
  expect_close(relu.bound, joined(streamed + 14000 / 1.502e9, relu.host, 3.0));
  work.kind = PointwiseKind::kPowScalar;
  expect_close(physics(work, mi100).gpu, 2.7 * (1 << 26) / (120 * 1.502e9));
}

TEST(Law, RowsOfCdnaLongerThanAWavefrontsKernelCostMore) {
  const Device mi100 = device_of("mi100");
  const auto softmax = [&](std::int64_t rows, std::int64_t columns) {
    return physics(ReductionWork{.kind = ReductionKind::kSoftmax,
                                 .in_elements = rows * columns,
                                 .out_elements = rows * columns,
                                 .rows = rows,
                                 .columns = columns,
                                 .element_bytes = 4},
                   mi100)
        .gpu;
  };
  expect_close(softmax(1 << 16, 1024), 8.0 * (1 << 26) / (0.8 * 1229e9));
  expect_close(softmax(1 << 15, 2048), 32768 * (2400 + 1.2 * 2048) / (120 * 1.502e9));
  expect_close(softmax(1 << 15, 2049), 32768 * (3000 + 2.0 * 2049) / (120 * 1.502e9));
}

}  // namespace
}  // namespace joulecast
