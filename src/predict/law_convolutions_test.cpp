// SPDX-License-Identifier: Apache-2.0
// Laws of convolutions against numbers worked out by hand from docs/how-predictions-are-made.md.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "predict/conv_simt.h"
#include "predict/conv_winograd.h"
#include "predict/law.h"
#include "predict/law_fixtures.h"

namespace joulecast {
namespace {

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
TEST(LawOfConvolutions, ConvolutionOfResNetByHand) {
  const Physics p = physics(fp32_three_by_three(64, 56), a30());
  expect_close(p.compute, 498.029e-6);
  expect_close(p.bytes, 51527680);
  expect_close(p.gpu, (525.915 + 20.4) * 1e-6);
  expect_close(p.host, 26.5e-6);
  expect_close(p.bound, (525.915 + 20.4) * 1e-6);
}

// 256 channels at 14 x 14 are better off with squares of 4 x 4, 16 an image. 36 products of 512 x 256 x 256 in tiles of
// 128 x 128 are 288, 6 waves, at 1.47 * 1.17 / (1 + 23 * 256 / 16384) of the rate, and 0.152 cycles between for each
// output: 245.6 us; their 47.2 MB 60.2 us. Input and output are transformed in 32.5 us each, the filters in 24.0, and
// three kernels start 6.7 us after another: 356.1 us in all.
TEST(LawOfConvolutions, DeepConvolutionTakesLargerWinogradSquares) {
  const Physics p = physics(fp32_three_by_three(256, 14), a30());
  expect_close(p.compute, 245.570e-6);
  expect_close(p.gpu, (356.102 + 20.4) * 1e-6);
}

// The batch is filled up to 16 images, whatever the size of one: 33 of 12 x 12 take the products of 48.
TEST(LawOfConvolutions, WinogradFillsItsBatch) {
  const auto products = [](std::int64_t batch) {
    ConvWork work = fp32_three_by_three(512, 12);
    work.batch = batch;
    return physics(work, a30()).compute;
  };
  EXPECT_EQ(products(33), products(48));
  EXPECT_LT(products(32), products(33));
}

// As their kernels are named: one tile on an A30, which 33 to 128 channels share, smaller ones elsewhere.
TEST(LawOfConvolutions, WinogradTakesTheTilesOfItsGeneration) {
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
TEST(LawOfConvolutions, FusedWinogradPairsSmallImagesBeforeVolta) {
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
TEST(LawOfConvolutions, TheP100ReachesLessOfItsPeak) {
  Device d = device_of("p100-pcie-16gb");
  const double found = physics(fp32_three_by_three(256, 56), d).compute;
  d.capability = 6.1;
  expect_close(found, physics(fp32_three_by_three(256, 56), d).compute / 0.875, 0.01);
}

// The data gradient is the forward pass the other way round. The weight gradient splits the sum over 512 squares in 8:
// 576 tiles of 256 x 128, 11 waves of depth 64, at 1.05 * 1.05 * 0.365 of the rate, 691.6 us; with bytes and transforms
// 778.8 us. 3.3 times in and weight, 8.8 MB, are added up.
TEST(LawOfConvolutions, GradientsOfConvolutionByHand) {
  const Physics p = physics(fp32_three_by_three(256, 14), a30(), {.state = State::kTraining});
  expect_close(p.compute, (245.570 * 2 + 691.583) * 1e-6);
  const double sums = 3.3 * 4 * (32 * 196 * 256 + 9 * 256 * 256) / 933e9;
  expect_close(p.gpu, (356.102 * 2 + 778.797 + 3 * 20.4) * 1e-6 + sums);
  expect_close(p.input_gradient, (356.102 + 20.4) / (356.102 * 2 + 778.797 + 3 * 20.4));
}

// Three channels leave most of a tile empty, so the gradient of an image would be most of its layer's step.
TEST(LawOfConvolutions, TheGradientOfAnImageIsMostOfItsLayer) {
  const ConvWork stem{.batch = 32,
                      .in_channels = 3,
                      .out_channels = 64,
                      .in_height = 224,
                      .in_width = 224,
                      .out_height = 112,
                      .out_width = 112,
                      .kernel_height = 7,
                      .kernel_width = 7,
                      .stride = 2,
                      .padding = 3,
                      .element_bytes = 2,
                      .arithmetic = Arithmetic::kFp16};
  const Physics p = physics(stem, a30(), {.state = State::kTraining});
  EXPECT_GT(p.input_gradient, 0.6);
  EXPECT_LT(p.input_gradient, 0.8);
}

// Tried out, the same squares run at 1.7 of the rate, 178.381 us, and cost 157.816 us of transforms: with 64.018 us of
// bytes 347.336 us. The weight gradient runs at 0.65 of that rate: 239.863 us, 406.076 us in all. Nothing is added up.
TEST(LawOfConvolutions, AutotunedConvolutionByHand) {
  ConvWork work = fp32_three_by_three(256, 14);
  work.autotuned = true;
  const Physics forward = physics(work, a30());
  expect_close(forward.compute, 178.381e-6);
  expect_close(forward.gpu, (347.336 + 20.4) * 1e-6);
  const Physics training = physics(work, a30(), {.state = State::kTraining});
  expect_close(training.compute, (178.381 * 2 + 239.863) * 1e-6);
  expect_close(training.gpu, (347.336 * 2 + 406.076 + 3 * 20.4) * 1e-6);
  EXPECT_EQ(training.accumulation, 0.0);
}

// 64 channels of 64 x 64, 4.2 MB in and out, 20.97 us: moved 1.8 times forward, 4.5 times for the data gradient; the
// filters' gradient takes 0.28 cycles for each of 2.36 million sums, or 0.05 where an image fits into a block.
TEST(LawOfConvolutions, DepthwiseConvolutionOfTensorflowByHand) {
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

// 64 to 64 channels at 8 x 8 with 3x3: a tile of depth 590 at 1.05 of the peak is 18.4125 us, 18.4136 us with its
// bytes; the 36864 weights are moved 48.5 times, 71.516 us, whatever the batch.
TEST(LawOfConvolutions, KeplerTransformsFiltersInsteadOfWinograd) {
  ConvWork work = fp32_three_by_three(64, 8);
  work.batch = 1;
  expect_close(physics(work, toy_kepler()).gpu, (18.4136 + 71.516 + 20.4) * 1e-6);
  work.batch = 2;  // the same tile
  expect_close(physics(work, toy_kepler()).gpu, (18.4146 + 71.516 + 20.4) * 1e-6);
}

// With a stride, or gaps in the kernel, only the implicit product is left: 25088 places by 128 channels in tiles of 128
// x 64 are 392, 7 waves of depth 576 + 13.8 at 0.95 * 0.985: 427.1 us.
TEST(LawOfConvolutions, StrideAndGapsForbidWinograd) {
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
TEST(LawOfConvolutions, LayersOnAnImageNeedNoTensorCores) {
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
TEST(LawOfConvolutions, BareLoopsHaveSlowerWinograd) {
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

TEST(LawOfConvolutions, TensorConvolutionByHand) {
  const Physics p = physics(tf32_one_by_one(), a30());
  expect_close(p.compute, 76.384e-6);
  expect_close(p.gpu, 182.18e-6);
}

// 55 x 55 places are no multiple of four: 14 waves of 127.3 us at 0.6 of the rate, 119.6 us of bytes, 0.28 copies of in
// and 0.47 of out are 57.4 us.
TEST(LawOfConvolutions, TensorConvolutionOnOddPlacesIsCopied) {
  ConvWork work = tf32_one_by_one();
  work.in_height = work.in_width = work.out_height = work.out_width = 55;
  expect_close(physics(work, a30()).compute, 127.307e-6);
  expect_close(physics(work, a30()).gpu, 254.83e-6);
}

// The output is 102.8 MB, 110.1 us: read and written by the bias, and once more for the gradient of the bias.
TEST(LawOfConvolutions, BiasIsAPassOverTheOutput) {
  const Device d = a30();
  ConvWork work = tf32_one_by_one();
  const double without = physics(work, d).gpu;
  const double training = physics(work, d, {.state = State::kTraining}).gpu;
  work.bias = 1;
  expect_close(physics(work, d).gpu - without, 2.2 * 110.14e-6);
  expect_close(physics(work, d, {.state = State::kTraining}).gpu - training, 3.2 * 110.14e-6);
}

TEST(LawOfConvolutions, FewChannelsFillNoTensorTile) {
  ConvWork work = tf32_one_by_one();
  work.out_channels = 16;
  expect_close(physics(work, a30()).compute, 51.150e-6);
  expect_close(physics(work, a30()).gpu, 86.043e-6);
}

// A squeeze of 2688 channels to 112 in TF32: four tiles of 64 x 32 (half the rate) in eight parts of 336: 3.76 us on
// the busiest SM at half of 82e12 / 56; by the mean of all SMs 32 / 56 of that. The kernel's start is all there is
// beside.
TEST(LawOfConvolutions, SqueezesAreProductsOfVectors) {
  const Device d = a30();
  ConvWork work{.batch = 32, .in_channels = 2688, .out_channels = 112, .arithmetic = Arithmetic::kTf32};
  const Physics p = physics(work, d);
  EXPECT_GT(p.gpu, p.compute + d.start);
  EXPECT_LT(p.gpu, p.compute + d.start + 0.5e-6);
  expect_close(p.compute, 2.0 * 64 * 32 / 0.5 * 336 / (82e12 / 56 * 0.5));
  expect_close(p.mean_compute, p.compute * 32 / 56);
  work.in_height = work.in_width = work.out_height = work.out_width = 2;
  const Physics image = physics(work, d);
  EXPECT_GT(image.gpu, image.compute + 22.8e-6);
}

// 128 channels of 3x3 at 28 x 28 in TF32, batch 32, on an A30: 98 tiles of 256 x 128, a fifth as in 2 waves and the
// rest as the 1.75 that they fill, 2 * 256 * 128 / 1.05 * (1152 + 100) flops each at 0.6 of 82e12 / 56: 160.1 us, 155.6
// by the mean. In, out and filters (26.3 MB, 25.4 us) make it 162.1; 2.25 copies of in, 0.6 of out and 1.1 of the
// filters take 39.9 us, and 14 us come on top. Measured: 212.7.
TEST(LawOfConvolutions, LargeKernelsInTf32ByHand) {
  ConvWork work = fp32_three_by_three(128, 28);
  work.arithmetic = Arithmetic::kTf32;
  const Physics p = physics(work, a30());
  expect_close(p.compute, 160.09e-6);
  expect_close(p.mean_compute, 155.64e-6);
  expect_close(p.gpu, 216.03e-6);
  std::array<float, kMaxFeatures> features{};
  const Physics step = physics_of(work, a30(), {.state = State::kTraining}, features);
  expect_close(features[5] * step.bound, p.compute * 0.60 / 0.53);  // the gradient of the input
  work.autotuned = true;
  const double tried = 2.0 * 2.0 * 256 * 128 / 1.05 * 1152 / (82e12 / 56 * 0.50 * 1.12);  // as TensorFlow does
  expect_close(physics(work, a30()).compute, tried);
}

// 8 of 56 SMs have a tile of 64 x 32, which takes as long as if all had one.
TEST(LawOfConvolutions, AFewTilesInTf32TakeAWholeWave) {
  ConvWork work = fp32_three_by_three(128, 8);
  work.arithmetic = Arithmetic::kTf32;
  work.batch = 2;
  const Physics p = physics(work, a30());
  expect_close(p.compute, 2.0 * 64 * 32 / 0.353 * (1152 + 100) / (82e12 / 56 * 0.60));
  expect_close(p.mean_compute, p.compute * 8 / 56);
}

TEST(LawOfConvolutions, LargeKernelsInTf32GainNothingByNarrowTiles) {
  ConvWork work = fp32_three_by_three(64, 56);
  work.arithmetic = Arithmetic::kTf32;
  const double full = physics(work, a30()).compute;
  work.out_channels = 32;
  expect_close(physics(work, a30()).compute, full);
  work.out_channels = 16;
  expect_close(physics(work, a30()).compute, 2.0 * full);
}

// 64 channels at 8 x 8 with 3x3: 6 us of products, 14 us beside; but four kernels wait for each other, 44 us on an
// A30, three times that in training. Measured: 44.7. Layers that lie channels-last have no copies, 1x1 hardly any.
TEST(LawOfConvolutions, CopiedImagesTakeTheirKernels) {
  ConvWork work = fp32_three_by_three(64, 8);
  work.arithmetic = Arithmetic::kTf32;
  expect_close(physics(work, a30()).gpu, 44e-6);
  EXPECT_GT(physics(work, a30(), {.state = State::kTraining}).gpu, 132e-6);
  EXPECT_LT(physics(work, device_of("a40")).gpu, 44e-6);  // whose kernels start sooner
  EXPECT_LT(physics(work, a30(), {.host = Host::kCaptured}).gpu, 44e-6);
  work.channels_last = true;
  EXPECT_LT(physics(work, a30()).gpu, 44e-6);
  work.channels_last = false;
  work.kernel_height = work.kernel_width = 1;
  work.padding = 0;
  EXPECT_LT(physics(work, a30()).gpu, 44e-6);
}

// 12.1 MB in, out and weights are half of an A30's L2, from which they come twice as fast; 51 MB come from memory.
TEST(LawOfConvolutions, SmallTensorsComeFromTheL2) {
  ConvWork work = tf32_one_by_one();
  work.batch = 3;
  const Device d = a30();
  Device without = d;
  without.l2 = 1.0;
  EXPECT_LT(physics(work, d).gpu, physics(work, without).gpu);
  const Physics small = physics(work, d);
  const double moved = 0.5 * 4.0 * (3.0 * 3136 * (64 + 256) + 64 * 256) / 933e9 * 0.9;
  const double copies = 0.5 * 0.1 * 4.0 * 3.0 * 3136 * (64 + 256) / 933e9;
  expect_close(small.gpu, std::hypot(small.compute, moved) + copies + 22.8e-6);
  work.batch = 32;
  EXPECT_EQ(physics(work, d).gpu, physics(work, without).gpu);
}

// 32 images of 14 x 14 and 128 channels are 49 tiles of 128 x 128: 7 of 56 SMs are idle. Depthwise has the one figure.
TEST(LawOfConvolutions, WhatTheLastWaveLeavesIdleDoesNotCompute) {
  const Physics waves = physics(ConvWork{.batch = 32,
                                         .in_channels = 512,
                                         .out_channels = 128,
                                         .in_height = 14,
                                         .in_width = 14,
                                         .out_height = 14,
                                         .out_width = 14},
                                a30());
  expect_close(waves.compute / waves.mean_compute, 56.0 / 49.0);
  EXPECT_EQ(waves.computing(), waves.mean_compute);
  ConvWork work = fp32_three_by_three(8, 14);
  work.groups = 8;
  const Physics depthwise = physics(work, a30());
  EXPECT_EQ(depthwise.computing(), depthwise.compute);
}

// The implicit product: 1568 tiles of 128 x 64, 28 waves of 2 * 128 * 64 / 0.95 * (576 + 14) flops at 0.87 of 10.3e12
// / 56.
TEST(LawOfConvolutions, Fp64HasNoFastConvolutions) {
  Device d = a30();
  d.fp64 = d.fp32;
  ConvWork work = fp32_three_by_three(64, 56);
  work.arithmetic = Arithmetic::kFp64;
  expect_close(physics(work, d).compute, 889.940e-6);
}

// Nothing is copied between the two orders, and the products reach 1.35 times as much of the peak.
TEST(LawOfConvolutions, TensorConvolutionsAreFasterChannelsLast) {
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

TEST(LawOfConvolutions, TheTreesSeeEveryConvolutionAsTheOnesThatWereMeasured) {
  ConvWork conv{.batch = 8, .in_channels = 64, .out_channels = 64, .arithmetic = Arithmetic::kTf32};
  std::array<float, kMaxFeatures> first{};
  std::array<float, kMaxFeatures> last{};
  physics_of(conv, a30(), {}, first);
  conv.channels_last = true;
  physics_of(conv, a30(), {}, last);
  EXPECT_EQ(first, last);
}

// A limit that leaves FP32 half of its clock: the mean of clock and bandwidth is 0.9 / 0.5 under the root, whatever the
// order. AMD's chips have no such limit.
TEST(LawOfConvolutions, DepthwiseKernelsFeelThePowerLimit) {
  ConvWork conv{.batch = 64, .in_channels = 512, .out_channels = 512, .groups = 512, .in_height = 16, .in_width = 16};
  conv.out_height = conv.out_width = 16;
  conv.kernel_height = conv.kernel_width = 7;
  Device limited = a30();
  limited.held[static_cast<std::size_t>(Arithmetic::kFp32)] = 0.5;
  expect_close(physics(conv, limited).compute / physics(conv, a30()).compute, std::sqrt(0.9 / 0.5));
  conv.channels_last = true;
  expect_close(physics(conv, limited).compute / physics(conv, a30()).compute, std::sqrt(0.9 / 0.5));
  limited = device_of("mi100");
  limited.held[static_cast<std::size_t>(Arithmetic::kFp32)] = 0.5;
  expect_close(physics(conv, limited).compute, physics(conv, device_of("mi100")).compute);
}

// Fast kernels are for 3x3, 5x5 and 7x7: 81 multiply-adds of the slow one take 4.2 / 0.28 x 81 / 49 of those of 7x7.
TEST(LawOfConvolutions, DepthwiseHalvesChannelsLastAreFastForUsualKernels) {
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
  expect_close(with(9) / with(7), 4.2 / 0.28 * 81.0 / 49.0);
  expect_close(with(7) / with(5), 0.28 / 0.6 * 49.0 / 25.0);
}

// ConvNeXt's, whose layer norms leave images channels-last.
TEST(LawOfConvolutions, DepthwiseGradientsAreSlowChannelsLast) {
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

TEST(LawOfConvolutions, FusedKernelsReadFromTheL2WhatFitsThere) {
  const Device d = device_of("rtx-4090");
  const auto with = [&](PointwiseKind kind, std::int64_t bytes) {
    return physics(PointwiseWork{.kind = kind, .elements = bytes / 4, .forward_bytes = bytes}, d).gpu;
  };
  const std::int64_t small = 2 << 20;  // of 72 MiB of L2
  const std::int64_t large = std::int64_t{1} << 30;
  const double slow = static_cast<double>(small) / (0.9 * d.bandwidth) + d.start;
  EXPECT_LT(with(PointwiseKind::kFused, small), 0.8 * slow);
  expect_close(with(PointwiseKind::kFused, large), with(PointwiseKind::kRelu, large), 1e-3);
}

TEST(LawOfConvolutions, NarrowGroupsOfHalvesHaveKernelsOfTheirOwn) {
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
TEST(LawOfConvolutions, FewChannelsOfAnImageInHalvesFillATileOf32) {
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
TEST(LawOfConvolutions, OddPlacesMisalignTf32AndNotHalves) {
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

// A product of one place has a ninth of the depth of 3x3, which costs kernels of halves 16 % of their rate; not those
// of TF32, as the A30 was measured.
TEST(LawOfConvolutions, OneByOneIsSlowerInHalves) {
  ConvWork one{.batch = 64, .in_channels = 288, .out_channels = 256, .in_height = 32, .in_width = 32};
  one.out_height = one.out_width = 32;
  const auto relative = [&](Arithmetic arithmetic, std::int64_t bytes) {
    one.arithmetic = arithmetic;
    one.element_bytes = bytes;
    ConvWork three = one;  // of the same depth, without what 3x3 has more
    three.kernel_height = 1;
    three.kernel_width = 9;
    three.in_channels = 32;
    return physics(one, a30()).compute / physics(three, a30()).compute;
  };
  expect_close(relative(Arithmetic::kFp16, 2), 1.0 / 0.84);
  one.arithmetic = Arithmetic::kTf32;  // 1024 tiles of 128 x 128 are 19 waves, at all of its rate
  one.element_bytes = 4;
  expect_close(physics(one, a30()).compute, 19.0 * 2.0 * 128 * 128 * 288 / (82e12 / 56 * 0.50));
}

// On chips that feed 0.77 of their lanes what convolutions compute takes as much longer, and FP64 does not.
TEST(LawOfConvolutions, FedAsProductsAre) {
  Device d = device_of("a30");
  ConvWork work{.batch = 64, .in_channels = 256, .out_channels = 256, .in_height = 28, .in_width = 28};
  work.out_height = work.out_width = 28;
  const auto products = [&](Arithmetic arithmetic, double fed) {
    work.arithmetic = arithmetic;
    d.fed = fed;
    return simt_passes(work, d, false, false).forward.products;
  };
  expect_close(products(Arithmetic::kFp32, 0.77), products(Arithmetic::kFp32, 1.0) / 0.77);
  expect_close(products(Arithmetic::kFp64, 0.77), products(Arithmetic::kFp64, 1.0));
}

}  // namespace
}  // namespace joulecast
