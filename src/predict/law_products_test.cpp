// SPDX-License-Identifier: Apache-2.0
// Laws of products against numbers worked out by hand from docs/how-predictions-are-made.md.
#include <gtest/gtest.h>

#include <cmath>

#include "predict/law.h"
#include "predict/law_fixtures.h"

namespace joulecast {
namespace {

// 32 x 32 x 32 on one SM: 65536 flops at 1.19 / (1 + 10.5 (32 + 32) / 1024) of the peak, 91.21 ns, which hide one step
// of 45.3 cycles; 268 cycles, and 0.097 for each of 1024 outputs. A tile of 32 x 64 would have twice of both.
TEST(LawOfProducts, TileProductOfOneSmallTile) {
  const TileChoice choice = tile_product(1, 32, 32, 32, Arithmetic::kFp32, toy());
  expect_close(choice.time, 458.541e-9);
  EXPECT_EQ(choice.area, 32 * 32);
  EXPECT_EQ(choice.split, 1);
  EXPECT_EQ(choice.waves, 1);
}

// 256 x 128 x 4096 on one SM: two tiles of 128 x 128, each 2 * 128 * 128 * 4096 flops at 1.19 of 1 TFLOP/s less 10.5
// (128 + 128) / 16384 for its edges, and 0.097 * 16384 cycles for what it writes; 268 cycles in all. 128 steps of 45.3
// cycles hide behind them.
TEST(LawOfProducts, TileProductOfTwoLargeTiles) {
  const TileChoice choice = tile_product(1, 256, 128, 4096, Arithmetic::kFp32, toy());
  expect_close(choice.time, 266.031e-6);
  EXPECT_EQ(choice.area, 128 * 128);
}

// 4096 numbers times 4096 x 4096: 67.14 MB, the results' 0.57 times more, at 0.84 of 100 GB/s are 799.416 us, joined
// with 2 * 4096 * 4096 flops at the peak, 33.554 us, at p 1.46. In tiles, as a chip of no known generation has it, the
// row takes a whole one. A batch of rows with a matrix each takes as much longer.
TEST(LawOfProducts, ARowIsAVectorThatStreamsTheMatrix) {
  Device volta = toy();
  volta.capability = 7.0;
  const GemmWork row{.rows = 1, .columns = 4096, .depth = 4096};
  const GemmWork column{.rows = 4096, .columns = 1, .depth = 4096};
  const GemmWork two{.rows = 2, .columns = 4096, .depth = 4096};
  expect_close(physics(row, volta).gpu, 804.753e-6);
  expect_close(physics(column, volta).gpu, 804.753e-6);
  EXPECT_GT(physics(row, toy()).gpu, 2 * 804.753e-6);
  EXPECT_GT(physics(two, volta).gpu, 2 * 804.753e-6);
  GemmWork batch = row;
  batch.batch = 2;
  EXPECT_NEAR(physics(batch, volta).gpu, 2 * 67.142e6 / (0.885 * 1e11), 5e-6);
  expect_close(physics(row, volta, {.state = State::kTraining}).compute, 3 * 33.554432e-6);
  // Back, one of the gradients is a vector's product again, the other is one of both vectors.
  const Physics wide = physics(row, volta, {.state = State::kTraining});
  const Physics high = physics(column, volta, {.state = State::kTraining});
  expect_close(wide.gpu, high.gpu, 0.02);
  EXPECT_LT(wide.input_gradient, high.input_gradient) << "a column's is that of both vectors";
}

// A layer of 4 MB on a GPU whose L2 has 40: benchmarks find its weight there, and networks of 400 MB only what the
// layer before has made.
TEST(LawOfProducts, AWeightOfALargeNetworkComesFromMemory) {
  Device device = toy();
  device.capability = 8.0;
  device.bf16 = 1e15;
  device.l2 = 4e7;
  device.sm = 100;
  GemmWork work{.rows = 8, .columns = 2048, .depth = 1024, .element_bytes = 2, .output_bytes = 2};
  work.arithmetic = Arithmetic::kBf16;
  const double hot = physics(work, device).gpu;
  const double cold = physics(work, device, {.weights = 4e8}).gpu;
  const double memory = 2.0 * 2048 * 1024 / (0.83 * device.bandwidth);
  EXPECT_LT(hot, 0.5 * memory);
  EXPECT_GT(cold, memory);
  EXPECT_LT(cold, 1.2 * memory);
  work.batch = 4;  // experts: each has its own
  EXPECT_GT(physics(work, device, {.weights = 4e8}).gpu, 4 * memory);
  work.batch = 1;
  EXPECT_EQ(physics(work, device, {.weights = 1e6}).gpu, hot) << "no network is smaller than its layer";
  work.weight = false;
  EXPECT_EQ(physics(work, device, {.weights = 4e8}).gpu, physics(work, device).gpu);
}

// Of three equal products one is the gradient of the input.
TEST(LawOfProducts, TheGradientOfALayersInputIsAThird) {
  const GemmWork work{.rows = 512, .columns = 512, .depth = 512};
  expect_close(physics(work, a30(), {.state = State::kTraining}).input_gradient, 1.0 / 3.0);
  EXPECT_EQ(physics(work, a30()).input_gradient, 0.0);
}

// Ten steps of 32 x 32 x 32, each of which takes 23 us, 21 cycles for each of 32 numbers, and the product of above,
// whose weight stays in the cache; back 31 us and 9 cycles. The weight's gradient is one product, 320 deep.
TEST(LawOfProducts, StepsOfRecurrentLayersWaitForEachOther) {
  const GemmWork work{.rows = 32, .columns = 32, .depth = 32, .steps = 10};
  const Situation captured{.host = Host::kCaptured};
  const double forward = 10 * (23e-6 + 21 * 32e-9 + 458.541e-9);
  const Physics p = physics(work, toy(), captured);
  expect_close(p.gpu, forward);
  expect_close(p.bound, forward + 4600e-9);
  expect_close(p.compute, 10 * 65536e-12);
  EXPECT_EQ(p.bytes, 10 * 2 * 4096 + 4096) << "the weight once";
  const Physics gradient = physics(GemmWork{.rows = 32, .columns = 32, .depth = 320}, toy(), {.host = Host::kBare});
  const Physics step = physics(work, toy(), {.state = State::kTraining, .host = Host::kCaptured});
  expect_close(step.gpu, forward + 10 * (31e-6 + 9 * 32e-9 + 458.541e-9) + gradient.gpu);
  expect_close(step.compute, 30 * 65536e-12);
}

// The weight of 512 MB, read anew in every step, is what a layer of few sequences waits for.
TEST(LawOfProducts, LargeRecurrentLayersStreamTheirWeight) {
  const GemmWork work{.rows = 1, .columns = 16384, .depth = 8192, .steps = 100};
  Device device = toy();
  device.bandwidth = 1e10;
  const Physics p = physics(work, device, {.host = Host::kCaptured});
  const double bytes = 4.0 * (8192 + 16384 + 8192.0 * 16384);
  expect_close(p.gpu / 100, bytes / (0.95 * device.bandwidth) + 23e-6 + 21 * 8192 / device.clock);
  device.capability = 6.1;
  expect_close(physics(work, device).gpu / 100, bytes / (0.95 * device.bandwidth) + 31e-6 + 26 * 8192 / device.clock);
}

// 4096 x 3072 halves of the result's gradient are 25.2 MB, 29.97 us at 0.9 of 933 GB/s.
TEST(LawOfProducts, TheGradientOfABiasIsASumOverTheResults) {
  GemmWork work{.rows = 4096, .columns = 3072, .depth = 768, .element_bytes = 2, .output_bytes = 2};
  work.arithmetic = Arithmetic::kFp16;
  const auto of_bias = [&](State state) {
    work.bias = 0;
    const double without = physics(work, a30(), {.state = state}).gpu;
    work.bias = 1;
    return physics(work, a30(), {.state = state}).gpu - without;
  };
  expect_close(of_bias(State::kTraining), 29.97e-6);
  EXPECT_EQ(of_bias(State::kEval), 0.0);
  work.arithmetic = Arithmetic::kFp32;
  EXPECT_EQ(of_bias(State::kTraining), 0.0) << "the trees have it";
}

// The windows of a Swin transformer: 49 x 49 of depth 32. An A30 takes a tile of 128 x 128 for each of them.
TEST(LawOfProducts, BatchedProductsTakeTheTileOfTheirGeneration) {
  const auto time = [](std::string_view gpu, double rows, double columns) {
    return tile_product(6144, rows, columns, 32, Arithmetic::kFp32, device_of(gpu)).time;
  };
  EXPECT_EQ(time("a30", 49, 49), time("a30", 128, 128));
  EXPECT_EQ(time("p100-pcie-16gb", 49, 49), time("p100-pcie-16gb", 64, 128));
  EXPECT_LT(time("p100-pcie-16gb", 49, 49), time("p100-pcie-16gb", 128, 49));
  EXPECT_EQ(time("t4", 49, 49), time("t4", 64, 64));
  EXPECT_LT(time("t4", 49, 49), time("t4", 64, 128));
  EXPECT_LT(tile_product(1, 49, 49, 32, Arithmetic::kFp32, device_of("a30")).area, 64 * 64) << "alone it has a choice";
}

// On 80 SMs: 100 products of one tile of 32 x 128 each are 1.25 a SM, 101 are more. Many of 128 x 20 fill tiles of
// 128 x 32 of which there are half as many as of 64 x 64.
TEST(LawOfProducts, VoltaChoosesByTheNumberOfTiles) {
  const Device d = device_of("v100-pcie-32gb");
  const auto time = [&](double count, double rows, double columns) {
    return tile_product(count, rows, columns, 512, Arithmetic::kFp32, d).time;
  };
  const double rate = d.fp32 * std::pow(d.held_at(Arithmetic::kFp32), 1.34) / 80 * 1.202;
  const auto wanted = [&](double waves, double rows, double columns, double few = 1.0) {
    const double reach = rate / (1.0 + 5.73 * (rows + columns) / (rows * columns));
    const double products = waves * few * 2.0 * rows * columns * (512 + 8.41) / reach;
    return products + waves * 0.075 * rows * columns / d.clock;
  };
  expect_close(time(100, 32, 128), wanted(2, 32, 128));
  expect_close(time(101, 32, 128), wanted(3, 64, 64, 1.0 + 1.44 * 0.4 / 2.4));  // two of 64 x 64 each
  expect_close(time(640, 128, 20), wanted(8, 128, 32));
  expect_close(time(120, 128, 20), wanted(3, 64, 64, 1.0 + 1.44 * 0.4 / 2.4));  // six tiles of 32 x 128 a SM
  expect_close(time(640, 64, 64), wanted(8, 64, 64));  // of 128 x 32 it would take twice as many
}

// 4096 products of 49 x 49 and depth 64 take a tile of 128 x 128 each, which are 74 waves on 56 SMs, at the clock that
// the limit leaves, each after what it reads first.
TEST(LawOfProducts, BatchedProductsReadBeforeTheyBegin) {
  const Device d = device_of("a30");
  const double rate = d.fp32 * d.held_at(Arithmetic::kFp32) / 56 * 1.202 / (1 + 5.73 * 256.0 / 16384);
  const double waves = 74;
  expect_close(tile_product(4096, 49, 49, 64, Arithmetic::kFp32, d).time, waves * 2 * 16384 * (64 + 8.41) / rate);
}

// Of 64 x 128 on the P100, the first of four warps alone on its SM, with more between them.
TEST(LawOfProducts, PascalWritesBetweenWaves) {
  const Device d = device_of("p100-pcie-16gb");
  const double held = std::pow(d.held_at(Arithmetic::kFp32), 1.34);
  const double reach = d.fp32 * held / 56 * 1.099 / (1.0 + 5.73 * 192.0 / 8192);
  const auto wanted = [&](double waves, double few) {
    return waves * few * 2.0 * 8192 * (64 + 8.41) / reach + waves * 0.191 * 8192 / d.clock;
  };
  expect_close(tile_product(56, 64, 128, 64, Arithmetic::kFp32, d).time, wanted(1, 1.193));
  expect_close(tile_product(224, 64, 128, 64, Arithmetic::kFp32, d).time, wanted(4, 1));
}

// The depth is filled up to steps of 8.
TEST(LawOfProducts, BatchedProductsStepThroughTheirDepth) {
  const auto time = [](double depth) { return tile_product(512, 128, 128, depth, Arithmetic::kFp32, a30()).time; };
  EXPECT_EQ(time(57), time(64));
  EXPECT_LT(time(56), time(57));
}

// Three tiles of 64 x 64, of two warps each, keep one of 80 SMs less busy than four do; of the T4's own law three of
// them take 1.4 times their share.
TEST(LawOfProducts, FewSmallTilesLeaveAnSmIdle) {
  const auto longer = [](std::string_view gpu, double waves) {
    const Device d = device_of(gpu);
    const auto cycles_a_wave = [&](double count) {
      const double deep = tile_product(d.sm * count, 64, 64, 8192, Arithmetic::kFp32, d).time;
      const double flat = tile_product(d.sm * count, 64, 64, 4096, Arithmetic::kFp32, d).time;
      return (deep - flat) / count;
    };
    return cycles_a_wave(waves) / cycles_a_wave(8);
  };
  EXPECT_NEAR(longer("v100-pcie-32gb", 4), 1.0, 1e-9);
  EXPECT_NEAR(longer("v100-pcie-32gb", 3), 1.0 + 1.44 * 0.4 / 2.4, 1e-9);
  EXPECT_NEAR(longer("v100-pcie-32gb", 2), 1.0 + 1.44 * 1.4 / 2.4, 1e-9);
  EXPECT_NEAR(longer("t4", 4), 1.0, 1e-9);
  EXPECT_NEAR(longer("t4", 3), 1.4, 1e-9);
}

// 50000 x 10 by 10 x 5000 are a gigabyte of results and next to nothing to read and to multiply: on the T4 the results
// count 1.57 times.
TEST(LawOfProducts, ShallowLayersWaitForTheirResults) {
  GemmWork work{.rows = 50'000, .columns = 5'000, .depth = 10};
  const auto bytes = [&](double results) { return 4.0 * (55'000 * 10 + 50'000 * 5'000 * results); };
  const auto gpu_time = [&](const Device& d, double results) {
    const double tiled = tile_product(1, 50'000, 5'000, 10, work.arithmetic, d, {.layer = work.weight}).time;
    return joined(tiled, bytes(results) / (0.84 * d.bandwidth), 1.46);
  };
  const Device t4 = device_of("t4");
  expect_close(physics(work, t4).gpu, gpu_time(t4, 1.57));
  expect_close(physics(work, a30()).gpu, gpu_time(a30(), 1.0));
  const Device m40 = device_of("tesla-m40-12gb");
  expect_close(physics(work, m40).gpu, gpu_time(m40, 1.0));
  work.arithmetic = Arithmetic::kFp64;
  expect_close(physics(work, t4).gpu, gpu_time(t4, 1.0));
  work = {.rows = 50'000, .columns = 5'000, .depth = 10, .weight = false};
  expect_close(physics(work, t4).gpu, gpu_time(t4, 1.0));  // a product of activations writes as it should
  work.batch = 2;
  const double activations = physics(work, t4, {.state = State::kTraining}).gpu;
  work.weight = true;  // a weight for each product is no layer
  EXPECT_EQ(physics(work, t4, {.state = State::kTraining}).gpu, activations);
}

// Rows of the left factor, read a few numbers at a time, are what a product with few columns waits for: at 0.37 of the
// bandwidth that the others reach where they are 500 long, and less where they are longer.
TEST(LawOfProducts, NarrowBatchedProductsReadRowsThatLieApart) {
  const Device v100 = device_of("v100-pcie-32gb");
  const auto memory = [&](std::int64_t depth) {
    const GemmWork work{.batch = 2048, .rows = 512, .columns = 8, .depth = depth, .weight = false};
    return physics(work, v100).gpu;
  };
  const auto wanted = [&](double depth, double unaligned) {
    const double apart = 1.0 + unaligned * (std::pow(depth / 500, 0.298) / 0.371 - 1.0);
    return 2048 * 4 * (512 * depth * apart + 8 * depth + 512 * 8) / (0.885 * v100.bandwidth);
  };
  EXPECT_NEAR(memory(511) / wanted(511, 1.0), 1.0, 0.05);
  EXPECT_NEAR(memory(4095) / wanted(4095, 1.0), 1.0, 0.05);
  EXPECT_NEAR(memory(4104) / wanted(4104, 1.0 - 0.324 * 3 / 6), 1.0, 0.05) << "rows begin at eights";
  EXPECT_LT(memory(4096), 0.85 * memory(4095));
}

// How sharply the bytes of batches meet their products, and what they reach of the bandwidth, by generation; a device
// of which no capability is known has what all of them had.
TEST(LawOfProducts, BatchesStreamByGeneration) {
  struct Case {
    std::string_view gpu;
    double streams, sharpness, apart, longer;
  };
  const GemmWork work{.batch = 64, .rows = 256, .columns = 24, .depth = 2001, .weight = false};
  const auto gpu_time = [&](const Device& d, const Case& c) {
    const double tiled = tile_product(64, 256, 24, 2001, Arithmetic::kFp32, d).time;
    const double more = std::pow(2001 / 500.0, c.longer) / c.apart - 1.0;
    const double moved = 4.0 * 64 * (256.0 * 2001 + 24 * 2001 + 256 * 24);
    return joined(tiled, memory_time(moved + 4.0 * 64 * 256 * 2001 * more, moved, d, c.streams), c.sharpness);
  };
  const Case ampere{"a30", 0.917, 4.9, 0.371, 0.298};
  for (const Case& c : {ampere, Case{"v100-pcie-32gb", 0.885, 2.68, 0.371, 0.298},
                        Case{"p100-pcie-16gb", 0.825, 12.1, 0.371, 0.298}, Case{"t4", 0.78, 4.3, 0.42, 0.24}})
    expect_close(physics(work, device_of(c.gpu)).gpu, gpu_time(device_of(c.gpu), c));
  expect_close(physics(work, toy()).gpu, gpu_time(toy(), {"", 0.78, 18, 0.42, 0.24}));
  // With its gradients, of which nothing was measured, on a GPU that is fast enough to wait for the bytes.
  Device fast = a30();
  fast.fp32 *= 4;
  const Physics training = physics(work, fast, {.state = State::kTraining});
  const double moved = memory_time(training.bytes, 4.0 * 64 * (256.0 * 2001 + 24 * 2001 + 256 * 24), fast, 0.78);
  const auto tiled = [&](double rows, double columns, double depth) {
    return tile_product(64, rows, columns, depth, Arithmetic::kFp32, fast).time;
  };
  expect_close(training.gpu, joined(tiled(256, 24, 2001) + tiled(256, 2001, 24) + tiled(24, 2001, 256), moved, 18));
}

// From where depth, weighed by the rows, is beyond 9720: the more rows, the more of them lie apart.
TEST(LawOfProducts, DeepLayersOfPascalReadRowsFarApart) {
  const auto grows = [](std::string_view gpu, std::int64_t rows) {
    const auto gpu_time = [&](std::int64_t k) {
      return physics(GemmWork{.rows = rows, .columns = 4096, .depth = k}, device_of(gpu)).gpu;
    };
    return gpu_time(32768) / gpu_time(4096) / 8.0;
  };
  EXPECT_NEAR(grows("v100-pcie-32gb", 1024), 1.0, 0.04);
  EXPECT_NEAR(grows("p100-pcie-16gb", 1024), 1.0 + 0.73 * std::log(32768 * std::pow(1.024, 0.44) / 9720), 0.04);
  EXPECT_NEAR(grows("tesla-p4", 1024), 1.0 + 0.25 * std::log(32768 * std::pow(1.024, 0.44) / 9720), 0.03);
  EXPECT_GT(grows("p100-pcie-16gb", 2048), 1.05 * grows("p100-pcie-16gb", 1024));
}

// Of a board at its power limit; a network is between both.
TEST(LawOfProducts, LongCallsInSweepsFindTheGpuHot) {
  const auto by_network = [](std::string_view gpu, std::int64_t rows, bool swept = true) {
    const GemmWork work{.rows = rows, .columns = 1024, .depth = 1024};
    const Device device = device_of(gpu);
    return physics(work, device, {.host = Host::kBare, .swept = swept}).gpu / physics(work, device).gpu;
  };
  EXPECT_EQ(by_network("t4", 256, false), 1.0);
  const double held = device_of("t4").held_at(Arithmetic::kFp32);
  EXPECT_NEAR(by_network("t4", 256), std::pow(held, 0.98 - 0.37), 0.05);
  EXPECT_NEAR(by_network("t4", 1 << 18), std::pow(held, -0.37), 0.02);
  EXPECT_NEAR(by_network("p100-pcie-16gb", 256), 1.0, 0.02) << "its limit takes nothing of FP32's clock";
  EXPECT_NEAR(by_network("a100-pcie-40gb", 1 << 18), 1.0, 0.01);
}

// More than convolutions do, before Ampere.
TEST(LawOfProducts, ProductsHoldLessOfTheClockOnOlderChips) {
  const Device t4 = device_of("t4");
  const Device ampere = device_of("a30");
  const auto held = [](const Device& d) { return d.held_at(Arithmetic::kFp32); };
  expect_close(sustained_peak(Arithmetic::kFp32, t4), t4.fp32 * std::pow(held(t4), 1.34));
  expect_close(sustained_peak(Arithmetic::kFp32, ampere), ampere.fp32 * held(ampere));
}

// Of 64 lanes an SM feeds all, Pascal those of 128 too; Hopper and Ada 0.77 of 128, the data-centre Blackwell 0.89.
TEST(LawOfProducts, RegistersFeedNotAllOf128Lanes) {
  const auto fed = [](std::string_view gpu) {
    const Device d = device_of(gpu);
    return sustained_peak(Arithmetic::kFp32, d) / d.fp32 / d.held_at(Arithmetic::kFp32);
  };
  expect_close(fed("a30"), 1.0);
  expect_close(fed("rtx-3090"), 0.77);
  expect_close(fed("l4"), 0.77);
  expect_close(fed("h100-sxm5-80gb"), 0.77);
  expect_close(fed("b200-sxm-180gb"), 0.89);
  expect_close(fed("rtx-5090"), 0.77);
  expect_close(fed("gtx-titan-x") * std::pow(device_of("gtx-titan-x").held_at(Arithmetic::kFp32), -0.34), 0.58);
}

// Units are narrow by the bytes they take in: an A40's TF32 as its halves not, a GeForce's halves by half.
TEST(LawOfProducts, NarrowTensorUnitsAreNeverStarved) {
  const Device a40 = device_of("a40");
  const Device rtx3090 = device_of("rtx-3090");
  const auto easy = [](const Device& d, Arithmetic arithmetic) {
    return sustained_peak(arithmetic, d) / d.peak(arithmetic) / d.held_at(arithmetic);
  };
  EXPECT_NEAR(easy(a40, Arithmetic::kTf32), 1.0, 0.01);
  EXPECT_NEAR(easy(rtx3090, Arithmetic::kFp16), std::pow(1016.9 / 512.3, 0.39), 1e-3);
  EXPECT_NEAR(easy(rtx3090, Arithmetic::kTf32), std::pow(1016.9 / 512.3, 0.39), 1e-3);
}

// Its layers run in tiles of 128 x 32 alone, which are at 1.19 / (1 + 10.5 * 160 / 4096) of the rate at most.
TEST(LawOfProducts, OnThePascalOfDataCentresOnlyLayersAreSlow) {
  const Device p100 = device_of("p100-pcie-16gb");
  const auto rate = [&](bool layer) {
    const double n = 8192;
    return 2 * n * n * n / tile_product(1, n, n, n, Arithmetic::kFp32, p100, {.layer = layer}).time / p100.fp32;
  };
  EXPECT_GT(rate(false), 1.3 * rate(true));
  const GemmWork layer{.rows = 8192, .columns = 8192, .depth = 4096};
  GemmWork product = layer;
  product.weight = false;
  EXPECT_GT(physics(layer, p100).gpu, 1.3 * physics(product, p100).gpu);
}

// 100 SMs of 1 TFLOP/s at 1 GHz, 256 tiles of 128 x 256 or 512 of 128 x 128: three waves of the larger ones, each 2 *
// 128 * 256 * 4096 flops at 0.88 / (1 + 2.5 * 384 / 32768) of the rate, 313.97 us, and 1.22 us between them where
// matrix instructions are synchronous, 0.21 us where they are not; 0.134 us in all.
TEST(LawOfProducts, TensorProductsWaitBetweenWavesUnlessTheyAreAsynchronous) {
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

// The toy's SMs at 1 GHz make 600 flops a cycle of rows that are no whole vectors, by the same law of tiles, and no
// chip more than 0.65 of its peak.
TEST(LawOfProducts, UnalignedRowsOfHalvesGetTuringsKernels) {
  Device d = toy();
  d.sm = 100;
  d.bf16 = 1e14;
  d.capability = 9.0;
  const auto time = [&](RowStart rows) {
    return tile_product(1, 7680, 1280, 4096, Arithmetic::kBf16, d, {.rows = rows}).time;
  };
  const double flops = 3 * 2.0 * 128 * 256 * 4096 * (1 + 2.5 * 384 / 32768);
  expect_close(time(RowStart::kOdd), flops / 600e9 + (3 * 210 + 134) * 1e-9, 1e-9);
  d.bf16 = 5e13;  // 500 flops a cycle and SM
  expect_close(time(RowStart::kOdd), flops / (0.65 * 500e9) + (3 * 210 + 134) * 1e-9, 1e-9);
  expect_close(time(RowStart::kHalf), flops / (0.63 * 0.88 * 500e9) + (3 * 210 + 134) * 1e-9, 1e-9);
}

TEST(LawOfProducts, AVocabularyOfNoWholeVectorsIsSlowInHalvesAlone) {
  const Device h100 = device_of("h100-sxm5-80gb");
  const auto slower = [&](GemmWork work) {
    const double aligned = physics(work, h100).gpu;
    work.columns = 50257;
    return physics(work, h100).gpu / aligned;
  };
  GemmWork head{.rows = 8192, .columns = 50304, .depth = 768, .element_bytes = 2, .output_bytes = 2};
  head.arithmetic = Arithmetic::kBf16;
  EXPECT_GT(slower(head), 3.0);
  EXPECT_LT(slower(head), 6.0);
  EXPECT_LT(slower({.rows = 8192, .columns = 50304, .depth = 768}), 1.01);
  EXPECT_LT(slower({.rows = 8192, .columns = 50304, .depth = 768, .element_bytes = 1, .arithmetic = Arithmetic::kFp8}),
            1.01);
  // Rows of the factors count as those of the product do, of 8 bytes on Hopper alone, and only in layers.
  head.columns = 50304;
  const auto narrower = [&](const Device& device) {
    head.depth = 588;
    const double narrow = physics(head, device).gpu;
    head.depth = 592;
    return narrow / physics(head, device).gpu;
  };
  EXPECT_NEAR(narrower(h100), 1 / 0.63, 0.15) << "Ampere's kernels";
  EXPECT_LT(narrower(device_of("a40")), 1.01);
  head.weight = false;
  EXPECT_LT(narrower(h100), 1.01);
}

// A product too deep for its one tile is split where SMs are to spare, not where its tiles fill them.
TEST(LawOfProducts, TileProductSplitsDeepProducts) {
  EXPECT_GT(tile_product(1, 64, 64, 65536, Arithmetic::kFp32, a30()).split, 1);
  EXPECT_EQ(tile_product(1, 128 * 56, 128 * 56, 1024, Arithmetic::kFp32, a30()).split, 1);
}

// One step of 32 in depth waits 811 cycles for every 0.75 of a wave, which its products in a tile of 32 x 32 do not
// fill; those of a tile of 128 x 128 take longer, 2 * 128 * 128 * 32 flops at 0.47 / (1 + 8.2 * 256 / 16384) of the
// peak. And 1000 cycles.
TEST(LawOfProducts, KeplerWaitsForSteps) {
  expect_close(tile_product(1, 32, 32, 32, Arithmetic::kFp32, toy_kepler()).time, (1081 + 1000) * 1e-9);
  expect_close(tile_product(1, 128, 128, 32, Arithmetic::kFp32, toy_kepler()).time, 2.5169e-6 + 1e-6);
}

// Gradients of few weights over many places: sixteen parts of the depth at once.
TEST(LawOfProducts, KeplerSplitsDeepProducts) {
  Device kepler = toy_kepler();
  kepler.sm = 16;
  kepler.fp32 = 16e12;
  const TileChoice deep = tile_product(1, 2, 2, 1 << 20, Arithmetic::kFp32, kepler);
  EXPECT_EQ(deep.split, 16);
  expect_close(deep.time, ((1 << 20) / 16 / 32 * 1081 + 1000) * 1e-9 + 3.1e-6, 0.01);
}

// 46.1 TFLOP/s by matrix units over 120 compute units at 1.502 GHz; 0.71 of it, less 4.085 (128 + 128) / (128 x 128),
// and 0.403 cycles for each output.
TEST(LawOfProducts, ProductsOfCdnaUseItsMatrixUnits) {
  const Device mi100 = device_of("mi100");
  ASSERT_TRUE(mi100.cdna);
  EXPECT_EQ(mi100.product_peak(Arithmetic::kFp32), 46.1e12);
  EXPECT_EQ(mi100.peak(Arithmetic::kFp32), 23.1e12) << "convolutions keep the vector rate";
  const TileChoice large = tile_product(1, 4096, 4096, 4096, Arithmetic::kFp32, mi100);
  EXPECT_EQ(large.area, 128 * 128);
  const double products = 9 * 2.0 * 128 * 128 * 4096 / (46.1e12 / 120 * 0.71 / 1.063828125);
  expect_close(large.time, products + (1000 + 9 * 0.403 * 128 * 128) / 1.502e9);
}

TEST(LawOfProducts, RocBlasChoosesTheTileOfOneProductWhateverTheBatch) {
  const Device mi100 = device_of("mi100");
  EXPECT_EQ(tile_product(1, 512, 512, 128, Arithmetic::kFp32, mi100).area, 32 * 32);
  EXPECT_EQ(tile_product(1000, 512, 512, 128, Arithmetic::kFp32, mi100).area, 32 * 32);
  EXPECT_GT(tile_product(1000, 512, 512, 128, Arithmetic::kFp32, a30()).area, 32 * 32);
}

TEST(LawOfProducts, ChipsOfAmdWithoutMatrixUnitsKeepTheGeneralLaw) {
  const Device vega = device_of("mi25");
  EXPECT_FALSE(vega.cdna);
  EXPECT_EQ(vega.product_peak(Arithmetic::kFp32), vega.fp32);
}

}  // namespace
}  // namespace joulecast
