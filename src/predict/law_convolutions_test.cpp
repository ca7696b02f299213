// SPDX-License-Identifier: Apache-2.0
// Laws of convolutions on tensor cores, depthwise, and of both kinds, against numbers worked out by hand from
// docs/how-predictions-are-made.md.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "predict/conv_simt.h"
#include "predict/law.h"
#include "predict/law_fixtures.h"

namespace joulecast {
namespace {

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

// What a transposed convolution makes is the plain one's input: a quarter as many numbers here.
TEST(LawOfConvolutions, BiasOfATransposedLayerIsAPassOverWhatItMakes) {
  ConvWork work = tf32_one_by_one();
  work.transposed = true;
  const double without = physics(work, a30()).gpu;
  work.bias = 1;
  expect_close(physics(work, a30()).gpu - without, 2.2 * 110.14e-6 / 4);
}

TEST(LawOfConvolutions, FewChannelsFillNoTensorTile) {
  ConvWork work = tf32_one_by_one();
  work.out_channels = 16;
  expect_close(physics(work, a30()).compute, 51.150e-6);
  expect_close(physics(work, a30()).gpu, 86.043e-6);
}

// In TF32 they run as FP32 does: a layer whose output is an image, but not a depthwise one, nor a squeeze of vectors.
TEST(LawOfConvolutions, LayersThatMakeImagesRunWithoutTensorCores) {
  ConvWork work{.batch = 8, .in_channels = 64, .out_channels = 3, .in_height = 256, .in_width = 256};
  work.out_height = work.out_width = 256;
  work.kernel_height = work.kernel_width = 3;
  const auto off = [](ConvWork conv) {
    conv.arithmetic = Arithmetic::kFp32;
    const double alone = physics(conv, a30()).bound;
    conv.arithmetic = Arithmetic::kTf32;
    return std::abs(physics(conv, a30()).bound / alone - 1.0);
  };
  EXPECT_LT(off(work), 1e-9);
  work.out_channels = 5;
  EXPECT_GT(off(work), 0.1);
  EXPECT_GT(off({.batch = 32, .in_channels = 2688, .out_channels = 4}), 0.01);
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

// Nothing is copied between the two orders, and the products reach 1.35 times as much of the peak; halves starve less
// by twice the width.
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
  expect_close(first_found.compute / last_found.compute, 1.35 * std::pow(d.fp16 / d.tf32, 0.375));
  const double copies = (1.15 + 0.60) * 256.0 * 256 * 28 * 28 * 2 / d.bandwidth;
  EXPECT_GT(first_found.gpu - last_found.gpu, copies);
}

// Gradients of halves that lie channels-last reach 0.60 where the forward pass of 1x1 reaches 0.50; of TF32 and
// channels-first 0.45 and 0.44, whatever their tiles leave of it.
TEST(LawOfConvolutions, GradientsOfHalvesReachMoreChannelsLast) {
  ConvWork conv{.batch = 256, .in_channels = 256, .out_channels = 256, .element_bytes = 2};
  conv.in_height = conv.out_height = conv.in_width = conv.out_width = 28;
  const auto gradients = [&](Arithmetic arithmetic, bool last) {
    conv.arithmetic = arithmetic;
    conv.element_bytes = arithmetic == Arithmetic::kTf32 ? 4 : 2;
    conv.channels_last = last;
    return physics(conv, a30(), {.state = State::kTraining}).compute / physics(conv, a30()).compute - 1.0;
  };
  const double others = gradients(Arithmetic::kFp16, false);
  EXPECT_NEAR(gradients(Arithmetic::kFp16, true) / others, (2 / 0.60) / (1 / 0.45 + 1 / 0.44), 0.002);
  expect_close(gradients(Arithmetic::kTf32, true), others);
}

// Narrow units reach more than the cap: their gradients 0.94 of the peak.
TEST(LawOfConvolutions, GradientsOfHalvesReachNoMoreThanThePeak) {
  const Device narrow = device_of("rtx-3090");
  ConvWork conv{.batch = 256, .in_channels = 512, .out_channels = 512, .element_bytes = 2};
  conv.in_height = conv.out_height = conv.in_width = conv.out_width = 28;
  conv.kernel_height = conv.kernel_width = 3;
  conv.padding = 1;
  conv.arithmetic = Arithmetic::kFp16;
  conv.channels_last = true;
  const double flops = 2.0 * 256 * 28 * 28 * 512 * 512 * 9;
  const double gradients = physics(conv, narrow, {.state = State::kTraining}).compute - physics(conv, narrow).compute;
  EXPECT_NEAR(2 * flops / narrow.fp16 / gradients, 0.94, 0.05);
}

// Units twice as wide as those of an A30 in TF32, that wait for what they load.
TEST(LawOfConvolutions, WideUnitsStarveLessOfImagesChannelsLast) {
  const Device d = device_of("v100-sxm2-16gb");
  const double wider = d.fp16 / (d.sm * d.clock) / (82e12 / (56 * 1.44e9));
  const double held = d.held_at(Arithmetic::kFp16) / 0.929148;
  expect_close(d.reach_at(Arithmetic::kFp16), 0.8 * std::pow(wider, -0.75) * held);
  expect_close(d.reach_last_at(Arithmetic::kFp16), 0.9 * std::pow(wider, -0.375) * held);
  const Device narrow = device_of("rtx-3090");
  expect_close(narrow.reach_last_at(Arithmetic::kFp16), narrow.reach_at(Arithmetic::kFp16));
  const Device amd = device_of("mi100");
  expect_close(amd.reach_last_at(Arithmetic::kFp16), amd.reach_at(Arithmetic::kFp16));
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

// A small layer waits for copies there and back, but for none that lies channels-last; and no kernel has more than 1.25
// of the peak, which TF32's would have on narrow units.
TEST(LawOfConvolutions, ChannelsLastHasNoCopiesAndNoMoreThanThePeak) {
  ConvWork conv{.in_channels = 64, .out_channels = 64, .element_bytes = 2, .arithmetic = Arithmetic::kFp16};
  conv.in_height = conv.out_height = conv.in_width = conv.out_width = 14;
  const auto small = [&](bool last) {
    conv.channels_last = last;
    return physics(conv, a30()).gpu;
  };
  EXPECT_GT(small(false), 22.8e-6);
  EXPECT_GT(small(true), 10e-6);
  EXPECT_LT(small(true), 14e-6);
  const Device narrow = device_of("rtx-3090");
  const ConvWork large{.batch = 256,
                       .in_channels = 512,
                       .out_channels = 512,
                       .in_height = 28,
                       .in_width = 28,
                       .out_height = 28,
                       .out_width = 28,
                       .kernel_height = 3,
                       .kernel_width = 3,
                       .padding = 1,
                       .arithmetic = Arithmetic::kTf32,
                       .channels_last = true};
  const double flops = 2.0 * 256 * 28 * 28 * 512 * 512 * 9;
  EXPECT_NEAR(flops / narrow.tf32 / physics(large, narrow).gpu, 1.25, 0.05);
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
  expect_close(slower(Arithmetic::kFp32, State::kTraining), 5.5);
  expect_close(slower(Arithmetic::kFp32, State::kEval), 1.0);
  conv.batch = 24;  // 38.5 MB of images, where an A30's L2 has 25.2
  expect_close(slower(Arithmetic::kFp32, State::kTraining), 5.5);
  conv.batch = 16;  // 25.7: a ramp to half as much again
  expect_close(slower(Arithmetic::kFp32, State::kTraining), 2.0 + 3.5 * 2 * (25.690112 / 25.165824 - 1));
  conv.batch = 15;
  expect_close(slower(Arithmetic::kFp32, State::kTraining), 2.0);
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
