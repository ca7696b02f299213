// SPDX-License-Identifier: Apache-2.0
// Laws of convolutions without tensor cores against numbers worked out by hand from docs/how-predictions-are-made.md.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "predict/conv_simt.h"
#include "predict/conv_winograd.h"
#include "predict/law_fixtures.h"

namespace joulecast {
namespace {

// Without tensor cores an A30 keeps 10.3e12 * 0.90134 flops a second under its limit, of which forward passes feel the
// power 0.8: 1.69262e11 an SM.
//
// ResNet's 3x3 convolution of 64 channels at 56 x 56. Fused Winograd: 28 x 28 squares of 2 x 2 are 7 x 7 blocks of two
// images for each 32 channels, 1568, 28 waves of 56 SMs, each 2 * 16 * 32 * 32 * (64 + 18) flops at 1.02 of the rate:
// 435.7 us. In, out and weight are 51.5 MB, 69.9 us at 79 % of 933 GB/s; joined with exponent 4/3 they are 463.9 us;
// 0.9 us for the filters, 10.3 us on top. The implicit product would take 854 us, squares of 4 x 4 662 us.
TEST(LawOfConvolutions, ConvolutionOfResNetByHand) {
  const Physics p = physics(fp32_three_by_three(64, 56), a30());
  expect_close(p.compute, 435.750e-6);
  expect_close(p.bytes, 51527680);
  expect_close(p.gpu, (464.818 + 10.3) * 1e-6);
  expect_close(p.host, 26.5e-6);
  expect_close(p.bound, (464.818 + 10.3) * 1e-6);
}

// 256 channels at 14 x 14 are better off with squares of 4 x 4, 16 an image. 36 products of 512 x 256 x 256 in tiles of
// 128 x 128 are 288, 6 waves, at 1.47 * 0.98 / (1 + 23 * 256 / 16384) of the rate, and 0.152 cycles between for each
// output: 291.1 us; their 47.2 MB 60.2 us. Input and output are transformed in 34.1 us each at 0.875 / 1.10 of the
// bandwidth, the filters in 16.7 at 1 / 1.32 of it: 376.9 us in all, and four starts of a kernel, 4 us each.
TEST(LawOfConvolutions, DeepConvolutionTakesLargerWinogradSquares) {
  const Physics p = physics(fp32_three_by_three(256, 14), a30());
  expect_close(p.compute, 291.120e-6);
  expect_close(p.gpu, (376.923 + 16) * 1e-6);
  expect_close(p.mean_compute, 291.120e-6 * 288 / (6 * 56));
}

// Sixteen tiles of the implicit product would take 323.2 us at 2 x 2 places, on 16 of 56 SMs; F(4x4) takes 376.5, 1.17
// times as long, and runs: 576 tiles in 11 waves. Where nobody knows the time from kernel to kernel it has 20.1 us more
// than other convolutions instead of four starts.
TEST(LawOfConvolutions, WinogradRunsWhereItIsNotMuchSlower) {
  ConvWork work = fp32_three_by_three(512, 2);
  const Physics p = physics(work, a30());
  expect_close(p.gpu, (360.470 + 16) * 1e-6);
  EXPECT_LT(p.gpu, 1.2 * 323.174e-6);
  expect_close(physics(work, a30(), {.host = Host::kBare}).compute, 302.774e-6);  // not in loops
  Device unknown = a30();
  unknown.start = 0;
  work = fp32_three_by_three(256, 14);
  expect_close(physics(work, unknown).gpu, (376.923 + 40.5) * 1e-6);
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
    return winograd_time({32, 16, 16, 256, channels, 0, 0, 4}, d.fp32, {1.0, 1.0, 1.0}, d).products.most;
  };
  EXPECT_EQ(products("a30", 33), products("a30", 128));
  EXPECT_EQ(products("v100-pcie-32gb", 33), products("v100-pcie-32gb", 64));
  EXPECT_LT(products("v100-pcie-32gb", 64), products("v100-pcie-32gb", 128));
  EXPECT_LT(products("tesla-p4", 64), products("tesla-p4", 128));
}

// 16 images of 4 x 4, 64 to 64 channels: 36 products of 16 x 64, a tile of 64 x 64 each. On a V100 each SM has one at
// most, on a P4 the busiest of 20 two: 1.8 times as long as where there are more.
TEST(LawOfConvolutions, FewWinogradTilesLeaveAnSmIdle) {
  const auto off = [](std::string_view gpu, double waves, double output) {
    const Device d = device_of(gpu);
    const double found = winograd_time({16, 4, 4, 64, 64, 0, 0, 4}, d.fp32, {1.0, 1.0, 1.0}, d).products.most;
    const double reach = d.fp32 / d.sm * 1.47 / (1.0 + 23.0 * 128.0 / 4096.0);
    return found / (waves * 1.8 * 2.0 * 4096 * 64 / reach + (240 + waves * output * 4096) / d.clock);
  };
  expect_close(off("v100-pcie-32gb", 1, 0.152), 1.0);
  expect_close(off("tesla-p4", 2, 0.33), 1.0);
}

// A block of fused Winograd has 8 squares side by side, images of 8 x 8 have four: two of them share one before Volta,
// and on an A30 in modules.
TEST(LawOfConvolutions, FusedWinogradPairsSmallImages) {
  const auto of_two = [](std::string_view gpu, bool bare) {
    Device d = device_of(gpu);
    d.sm = 1;
    d.bandwidth = 1e18;  // nothing but the products takes time
    ConvWork work = fp32_three_by_three(512, 8);
    work.batch = 2;
    ConvWork one = work;
    one.batch = 1;
    const double latency = bare ? 20.4e-6 : 10.3e-6;
    return (simt_passes(work, d, false, bare).forward.fused - latency) /
           (simt_passes(one, d, false, bare).forward.fused - latency);
  };
  EXPECT_LT(of_two("tesla-p4", true), 1.05);
  EXPECT_GT(of_two("v100-pcie-32gb", true), 1.9);
  EXPECT_GT(of_two("a30", true), 1.9);
  EXPECT_LT(of_two("a30", false), 1.05);
  EXPECT_GT(of_two("rtx2080ti", false), 1.9);
}

// Turing's reaches 0.775 of the rate that others do, in loops 0.905.
TEST(LawOfConvolutions, FusedWinogradIsSlowerOnTuring) {
  const auto fused = [](double capability, bool bare) {
    Device d = device_of("rtx2080ti");
    d.bandwidth = 1e18;
    d.capability = capability;
    return simt_passes(fp32_three_by_three(512, 56), d, false, bare).forward.fused - (bare ? 20.4e-6 : 10.3e-6);
  };
  expect_close(fused(7.5, false), fused(8.6, false) / 0.775);
  expect_close(fused(7.5, true), fused(8.6, true) / 0.905);
}

// Its convolutions reach less of the peak, as its products do.
TEST(LawOfConvolutions, TheP100ReachesLessOfItsPeak) {
  Device d = device_of("p100-pcie-16gb");
  const double found = physics(fp32_three_by_three(256, 56), d).compute;
  d.capability = 6.1;
  expect_close(found, physics(fp32_three_by_three(256, 56), d).compute / 0.875, 0.01);
}

// The data gradient is the forward pass the other way round. The weight gradient splits the sum over 512 squares in 8:
// 576 tiles of 256 x 128, 11 waves of depth 64, at 1.05 * 1.05 * 0.40 of the rate, 631.0 us; with bytes, transforms and
// 150 numbers of parts a weight 755.7 us. 3.3 times in and weight, 8.8 MB, are added up.
TEST(LawOfConvolutions, GradientsOfConvolutionByHand) {
  const Physics p = physics(fp32_three_by_three(256, 14), a30(), {.state = State::kTraining});
  expect_close(p.compute, (291.120 * 2 + 631.023) * 1e-6);
  const double sums = 3.3 * 4 * (32 * 196 * 256 + 9 * 256 * 256) / 933e9;
  expect_close(p.gpu, (376.923 * 2 + 2 * 16 + 755.691 + 20.4) * 1e-6 + sums);
  expect_close(p.input_gradient, (376.923 + 16) / (376.923 * 2 + 2 * 16 + 755.691 + 20.4));
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

// Tried out, the same squares run at 1.7 of the rate, of whose 0.9011 that the limit leaves they feel the power of
// 0.78: 178.381 us at all of it are 174.341, and 343.540 us with 64.018 us of bytes and 157.816 us of transforms. The
// weight gradient feels all, and runs at 0.75 of the rate: 207.881 us, 375.332 us in all. Nothing is added up.
TEST(LawOfConvolutions, AutotunedConvolutionByHand) {
  ConvWork work = fp32_three_by_three(256, 14);
  work.autotuned = true;
  const Physics forward = physics(work, a30());
  expect_close(forward.compute, 174.341e-6);
  expect_close(forward.gpu, (343.540 + 20.4) * 1e-6);
  const Physics training = physics(work, a30(), {.state = State::kTraining});
  expect_close(training.compute, (174.341 * 2 + 207.881) * 1e-6);
  expect_close(training.gpu, (343.540 * 2 + 375.332 + 3 * 20.4) * 1e-6);
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

// 64 to 64 channels at 8 x 8 with 3x3: a tile of depth 576.45 at 0.81 of the peak is 23.3203 us, 23.3211 us with its
// bytes; the 36864 weights are moved 51.4 times, 75.792 us, whatever the batch.
TEST(LawOfConvolutions, KeplerTransformsFiltersInsteadOfWinograd) {
  ConvWork work = fp32_three_by_three(64, 8);
  work.batch = 1;
  expect_close(physics(work, toy_kepler()).gpu, (23.3211 + 75.792 + 20.4) * 1e-6);
  work.batch = 2;  // the same tile
  expect_close(physics(work, toy_kepler()).gpu, (23.3219 + 75.792 + 20.4) * 1e-6);
}

// With a stride, or gaps in the kernel, only the implicit product is left: 25088 places by 128 channels in tiles of 128
// x 64 are 392, 7 waves of depth 576 + 13.8 at 0.95 * 0.985: 427.1 us. That is what it takes without padding.
ConvWork strided_three_by_three(std::int64_t in, std::int64_t out, std::int64_t size) {
  ConvWork work = fp32_three_by_three(in, size);
  work.out_channels = out;
  work.out_height = work.out_width = (size + 1) / 2;
  work.stride = 2;
  return work;
}
TEST(LawOfConvolutions, StrideAndGapsForbidWinograd) {
  ConvWork strided = strided_three_by_three(64, 128, 56);
  strided.padding = 0;
  expect_close(physics(strided, a30()).compute, 427.075e-6);
  ConvWork gaps = fp32_three_by_three(64, 56);
  gaps.padding = 2;
  expect_close(physics(gaps, a30()).compute, 854.149e-6);
}

// With padding a tile of 128 x 64 takes 213 cycles for each number of depth on an A30 while it is alone, 340.8 us for
// 256 channels, and 1.2 times that each where there are more, 7 an SM: 715.7 us. Wider results have the usual kernel
// where that fills the SMs. Turing's takes 175 cycles alone; what others do nobody measured.
TEST(LawOfConvolutions, StridedKernelsAreSlowWhereTheyAreAlone) {
  const auto compute = [](const ConvWork& work, std::string_view gpu) { return physics(work, device_of(gpu)).compute; };
  expect_close(compute(strided_three_by_three(256, 512, 4), "a30"), 340.8e-6);
  expect_close(physics(strided_three_by_three(256, 512, 4), a30()).mean_compute, 340.8e-6 * 8 / 56);
  expect_close(compute(strided_three_by_three(64, 128, 56), "a30"), 715.68e-6);
  ConvWork wide = strided_three_by_three(256, 256, 28);
  const double usual = compute(wide, "a30");
  wide.padding = 0;
  EXPECT_EQ(compute(wide, "a30"), usual);
  const Device turing = device_of("rtx2080ti");
  expect_close(compute(strided_three_by_three(256, 512, 4), "rtx2080ti"), 175 * 2304 / turing.clock);
  ConvWork small = strided_three_by_three(256, 512, 4);
  const double padded = compute(small, "rtx3090");
  small.padding = 0;
  EXPECT_EQ(compute(small, "rtx3090"), padded);
}

// Its input's gradient has a quarter of the depth a phase: 512 * 9 / 4 in 32 * 16 places, 170.4 us for a lone tile.
TEST(LawOfConvolutions, GradientsOfStridedKernelsAreSlowAlone) {
  const SimtPasses passes = simt_passes(strided_three_by_three(256, 512, 4), a30(), true, false);
  expect_close(passes.data.products, 170.4e-6);
  expect_close(passes.data.mean, 170.4e-6 * 16 / 56);
  EXPECT_LT(simt_passes(strided_three_by_three(256, 512, 4), a30(), true, true).data.products, 100e-6);
}

ConvWork one_by_one(std::int64_t channels, std::int64_t size) {
  ConvWork work{.batch = 32, .in_channels = channels, .out_channels = channels, .in_height = size, .in_width = size};
  work.out_height = work.out_width = size;
  return work;
}
// The same result from an image of twice the size.
ConvWork strided_one_by_one(ConvWork work) {
  work.in_height *= 2;
  work.in_width *= 2;
  work.stride = 2;
  return work;
}

// 24 x 24 weights fit into a tile of 32 x 32 at 0.48 of 0.95 of the peak, in loops into one of 64 x 32 at 0.5 of 0.76.
TEST(LawOfConvolutions, NarrowWeightsHaveNarrowTiles) {
  const ConvWork narrow = one_by_one(24, 190);
  const auto products = [&](bool bare) { return simt_passes(narrow, a30(), true, bare).weight.products; };
  expect_close(products(false) / products(true), (1024 / 0.48 / 0.95) / (2048 / 0.5 / 0.76));
}

// 60 numbers of parts for each of a weight's million, but no more than there are places, of which 2 x 2 of one image
// are four. A layer on 1 x 1 places has no sums over them, whatever its batch.
TEST(LawOfConvolutions, PartsOfSumsOverPlacesAreAddedUp) {
  ConvWork work = one_by_one(512, 7);
  work.in_channels = 2048;
  const auto beside = [&](std::int64_t batch, std::int64_t size, double latency) {
    work.batch = batch;
    work.in_height = work.in_width = work.out_height = work.out_width = size;
    Device d = a30();
    d.sm = 1e9;  // products take nothing
    d.fp32 = 1e30;
    const auto places = static_cast<double>(batch * size * size);
    return simt_passes(work, d, true, false).weight.time - latency - 4.0 * (places * 2560 + 2048 * 512) / 933e9 / 0.79;
  };
  expect_close(beside(32, 7, 20.4e-6), 60.0 * 4 * 2048 * 512 / 933e9);
  expect_close(beside(1, 2, 20.4e-6), 4.0 * 4 * 2048 * 512 / 933e9);
  EXPECT_NEAR(beside(32, 1, a30().start), 0.0, 1e-9);
}

// 1x1 in modules on Turing takes 8 us beside, its bytes 83 % of the bandwidth, and whichever takes longer counts nearly
// alone: 48 channels at 190 x 190 move 443.6 MB. Loops, other generations, groups and 2x2 wait 20.4 us.
TEST(LawOfConvolutions, OneByOneWaitsLessOnTuring) {
  const Device turing = device_of("rtx2080ti");
  const ConvWork work = one_by_one(48, 190);
  const SimtPass forward = simt_passes(work, turing, false, false).forward;
  const double moved = 4.0 * (2.0 * 32 * 36100 * 48 + 48 * 48) / (0.83 * turing.bandwidth);
  expect_close(forward.time, joined8(forward.products, moved) + 8e-6);
  for (const auto& [gpu, bare] : {std::pair("rtx2080ti", true), std::pair("titan-v", false)}) {
    const Device d = device_of(gpu);
    const SimtPass usual = simt_passes(work, d, false, bare).forward;
    const double at79 = moved * 0.83 * turing.bandwidth / (0.79 * d.bandwidth);
    expect_close(usual.time, std::pow(std::pow(usual.products, 4) + std::pow(at79, 4), 0.25) + 20.4e-6);
  }
  ConvWork grouped = work;
  grouped.groups = 2;
  const SimtPass halves = simt_passes(grouped, turing, false, false).forward;
  expect_close(halves.time, std::pow(std::pow(halves.products, 4) + std::pow(moved * 0.83 / 0.79, 4), 0.25) + 20.4e-6,
               1e-5);
  ConvWork two = work;
  two.kernel_height = two.kernel_width = 2;
  const SimtPass usual = simt_passes(two, turing, false, false).forward;
  const double three_more = 4.0 * 3 * 48 * 48 / (0.79 * turing.bandwidth);
  expect_close(usual.time,
               std::pow(std::pow(usual.products, 4) + std::pow(moved * 0.83 / 0.79 + three_more, 4), 0.25) + 20.4e-6);
}

// Its gradients take at least as long as their tensors 2.2 times at 79 % of the bandwidth, which then counts nearly
// alone; with the parts of the sums 60 numbers a weight. In loops and elsewhere once, and both count.
TEST(LawOfConvolutions, GradientsOfOneByOneGoThroughTheirTensorsAgainOnTuring) {
  const ConvWork work = one_by_one(48, 190);
  const auto through = [](const Device& d) { return 4.0 * (2.0 * 32 * 36100 * 48 + 48 * 48) / (0.79 * d.bandwidth); };
  const auto parts = [](const Device& d) { return 4.0 * 60 * 48 * 48 / d.bandwidth; };
  const Device turing = device_of("rtx2080ti");
  const SimtPasses there = simt_passes(work, turing, true, false);
  expect_close(there.data.time, joined8(there.data.products, 2.2 * through(turing)) + 8e-6);
  expect_close(there.weight.time, joined8(there.weight.products, 2.2 * through(turing)) + parts(turing) + 8e-6);
  const SimtPass stride = simt_passes(strided_one_by_one(work), turing, true, false).data;
  const double of_stride = 4.0 * (5.0 * 32 * 36100 * 48 + 48 * 48) / (0.79 * turing.bandwidth);
  expect_close(stride.time, joined8(stride.products, 2.2 * of_stride) + 8e-6);
  const SimtPasses loops = simt_passes(work, turing, true, true);
  expect_close(loops.data.time, std::hypot(loops.data.products, through(turing)) + 20.4e-6);
  const SimtPasses ampere = simt_passes(work, a30(), true, false);
  expect_close(ampere.data.time, std::hypot(ampere.data.products, through(a30())) + 20.4e-6);
  expect_close(ampere.weight.time, std::hypot(ampere.weight.products, through(a30())) + parts(a30()) + 20.4e-6);
}

// There 2688 channels of vectors are summed up in eight parts of 336, to whose depth each adds 13.8: one wave of tiles
// either way. Where that takes more waves, vectors stay whole.
TEST(LawOfConvolutions, DeepVectorsAreSplitOnTuring) {
  Device d = device_of("rtx2080ti");
  ConvWork deep = one_by_one(2688, 1);
  deep.out_channels = 112;
  const SimtPasses split = simt_passes(deep, d, true, false);
  ConvWork wide = deep;
  std::swap(wide.in_channels, wide.out_channels);
  expect_close(simt_passes(wide, d, true, false).data.products / split.forward.products, 0.985 / 0.78);
  d.capability = 7.0;
  expect_close(simt_passes(deep, d, true, false).forward.products / split.forward.products, 2701.8 / 349.8);
  const double whole = simt_passes(wide, d, false, false).forward.products;
  d.capability = 7.5;
  EXPECT_EQ(simt_passes(wide, d, false, false).forward.products, whole);
}

// The weights of 64 channels have no Winograd in modules, those of 128 have; an image's layer has what it had in loops.
TEST(LawOfConvolutions, WeightsOfManyChannelsHaveWinograd) {
  const auto weight = [](const ConvWork& work, bool bare) { return simt_passes(work, a30(), true, bare).weight; };
  EXPECT_TRUE(std::isinf(weight(fp32_three_by_three(64, 56), false).tiled));
  EXPECT_TRUE(std::isfinite(weight(fp32_three_by_three(64, 56), true).tiled));
  EXPECT_TRUE(std::isfinite(weight(fp32_three_by_three(128, 56), false).tiled));
  ConvWork image = fp32_three_by_three(64, 56);
  image.in_channels = 3;
  expect_close(weight(image, false).products, weight(image, true).products);
}

// Gradients with a stride reach 0.82 of what others do; 1x7 and 7x1 are 1.25 times as fast as their products, not 1.5.
TEST(LawOfConvolutions, GradientsOfStridesAndLines) {
  const ConvWork plain = one_by_one(512, 28);
  const auto weight = [](const ConvWork& work) { return simt_passes(work, a30(), true, false).weight.products; };
  expect_close(weight(strided_one_by_one(plain)) / weight(plain), 1 / 0.82);
  ConvWork line = plain;
  line.kernel_width = 7;
  ConvWork deep = plain;
  deep.in_channels = 512 * 7;
  expect_close(weight(line) / weight(deep), 1 / 1.25);
}

// In FP64, which nobody measured singly, gradients are as they were: a plain and a strided one take the same. 1x1 is on
// Turing what it is elsewhere.
TEST(LawOfConvolutions, Fp64KeepsItsGradients) {
  ConvWork plain = one_by_one(512, 28);
  plain.arithmetic = Arithmetic::kFp64;
  plain.element_bytes = 8;
  const auto weight = [](const ConvWork& work) { return simt_passes(work, a30(), true, false).weight; };
  EXPECT_EQ(weight(strided_one_by_one(plain)).products, weight(plain).products);
  EXPECT_EQ(weight(plain).products, simt_passes(plain, a30(), true, true).weight.products);
  const Device turing = device_of("rtx2080ti");
  EXPECT_EQ(simt_passes(plain, turing, false, false).forward.time,
            simt_passes(plain, turing, false, true).forward.time);
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

// Winograd in the tables of bare loops: 32 waves, each image for itself, at 0.98 of the rate, where in modules 28 take
// 435.7 us at 1.02. What a call costs is added, not hidden.
TEST(LawOfConvolutions, BareLoopsHaveSlowerWinograd) {
  const Physics p = physics(fp32_three_by_three(64, 56), a30(), {.host = Host::kBare, .host_scale = 1.8});
  expect_close(p.compute, 435.750e-6 * 32 / 28 * 1.02 / 0.98);
  expect_close(p.host, 36.9e-6);
  EXPECT_EQ(p.bound, p.gpu + p.host);
}

ConvWork seven_by_seven(bool autotuned) {
  ConvWork work{.batch = 64,
                .in_channels = 512,
                .out_channels = 512,
                .in_height = 26,
                .in_width = 26,
                .out_height = 26,
                .out_width = 26,
                .kernel_height = 7,
                .kernel_width = 7,
                .padding = 3};
  work.autotuned = autotuned;
  return work;
}

// An image of 26 x 26 is one tile of 32 x 32 for 7x7: 544 complex products of 64 x 512 by 512 x 512, four real ones
// each, in tiles of 64 x 64 at 0.85 and 0.68 of the peak, the depth of 9 more. 1088 numbers for each image and channel
// on both sides and for each filter are read and written by the products, and with the tensors 6.2 times by the
// transforms.
TEST(LawOfConvolutions, LargeSquaresRunByFftWhereTheFastestIsSearched) {
  const SimtPass pass = simt_passes(seven_by_seven(true), toy(), false, false).forward;
  const double products = 4.0 * 544 * 8 * 2 * 64 * 64 * 521 / 0.85 / 0.68 / 1e12;
  const double numbers = 1088.0 * (64 * 1024 + 512 * 512);
  const double tensors = 64.0 * 26 * 26 * 1024 + 49.0 * 512 * 512;
  expect_close(pass.products, products);
  const double moved = numbers * 4 / 1e11;
  expect_close(pass.time, std::hypot(products, moved / 0.79) + 6.2 * (moved + tensors * 4 / 1e11) + 20.4e-6);
  EXPECT_LT(pass.time, 0.5 * pass.implicit);
  const SimtPass in_module = simt_passes(seven_by_seven(false), toy(), false, false).forward;
  expect_close(in_module.time, in_module.implicit);
}

// No tile holds a filter of more than 32 x 32, and FP64 has implicit products alone.
TEST(LawOfConvolutions, FftIsForFiltersThatFitItsTiles) {
  const auto forward = [](std::int64_t side, Arithmetic arithmetic) {
    ConvWork work = seven_by_seven(true);
    work.in_height = work.in_width = work.out_height = work.out_width = 80;
    work.kernel_height = work.kernel_width = side;
    work.padding = side / 2;
    if (side % 2 == 0) work.out_height = work.out_width = 81;
    work.arithmetic = arithmetic;
    Device device = toy();
    device.fp64 = 0.5e12;
    return simt_passes(work, device, false, false).forward;
  };
  EXPECT_TRUE(std::isfinite(forward(7, Arithmetic::kFp64).implicit));
  EXPECT_TRUE(std::isfinite(forward(32, Arithmetic::kFp32).fft));
  for (const std::int64_t side : {33, 34, 65}) {
    EXPECT_FALSE(std::isfinite(forward(side, Arithmetic::kFp32).fft)) << side;
    EXPECT_EQ(forward(side, Arithmetic::kFp32).time, forward(side, Arithmetic::kFp32).implicit) << side;
  }
  EXPECT_FALSE(std::isfinite(forward(7, Arithmetic::kFp64).fft));
}

// Both gradients too; strides have none.
TEST(LawOfConvolutions, FftIsForBothGradientsAndNoStride) {
  const SimtPasses passes = simt_passes(seven_by_seven(true), toy(), true, false);
  EXPECT_LT(passes.data.time, 0.9 * passes.data.implicit);
  EXPECT_LT(passes.weight.time, 0.9 * passes.weight.implicit);
  ConvWork strided = seven_by_seven(true);
  strided.stride = 2;
  strided.out_height = strided.out_width = 13;
  const SimtPasses far = simt_passes(strided, toy(), true, false);
  EXPECT_EQ(far.forward.time, far.forward.implicit);
  EXPECT_EQ(far.weight.time, far.weight.implicit);
}

}  // namespace
}  // namespace joulecast
