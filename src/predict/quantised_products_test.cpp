// SPDX-License-Identifier: Apache-2.0
// The law against numbers worked out by hand with the constants of quantised_products.cpp.
#include "predict/quantised_products.h"

#include <gtest/gtest.h>

#include "predict/close_to.h"

namespace joulecast {
namespace {

// 100 SMs of 4000 flops a cycle at 1 GHz, 1 TB/s, 10 MB of L2.
Device toy(double capability) {
  Device d;
  d.sm = 100;
  d.clock = 1e9;
  d.bandwidth = 1e12;
  d.l2 = 1e7;
  d.fp8 = 4e14;
  d.fp4 = 8e14;
  d.capability = capability;
  return d;
}

Situation captured(Engine engine = Engine::kSglang, bool block_scaled = false) {
  return {.host = Host::kCaptured, .engine = engine, .block_scaled = block_scaled};
}

QuantisedProduct fp8(double rows, double columns, double depth, const Device& device, Situation situation) {
  return quantised_product(rows, columns, depth, Arithmetic::kFp8, device, situation);
}

TEST(QuantisedProducts, UpTo256RowsRunInSmallerTiles) {
  const auto area = [](double rows, double capability) {
    return fp8(rows, 4096, 4096, toy(capability), captured()).tile.area;
  };
  EXPECT_EQ(area(256, 9.0), 64 * 64);
  EXPECT_EQ(area(257, 9.0), 128 * 128);
  EXPECT_EQ(area(256, 10.0), 128 * 64);
  EXPECT_EQ(area(257, 10.0), 128 * 128);
  EXPECT_EQ(area(1, 12.0), 128 * 128);  // one tile for all
}

TEST(QuantisedProducts, TilesRunInWholeWaves) {
  // 4 by 32 tiles of 128 x 128 on 100 SMs: two waves of 8 steps of 128 in depth.
  const QuantisedProduct product = fp8(512, 4096, 1000, toy(9.0), captured());
  expect_close(product.tile.waves, 1.28);
  const double step = 2.0 * 128 * 128 * 128 / 4000 * 1.38;
  expect_close(product.tile.time, 2 * (8 * step + 175) * 1e-9);
  expect_close(product.start, 11600e-9);
}

TEST(QuantisedProducts, AStepOfAFewRowsTakesItsLatency) {
  const QuantisedProduct product = fp8(16, 6400, 1280, toy(9.0), captured());  // 100 tiles of 64 x 64
  expect_close(product.tile.time, (10 * 2.0 * 64 * 64 * 128 / 4000 * 0.938 + 1740) * 1e-9);
  Device faster = toy(9.0);
  faster.fp8 *= 2;
  expect_close(fp8(16, 6400, 1280, faster, captured()).tile.time, (10 * 230 + 1740) * 1e-9);
}

TEST(QuantisedProducts, TheLeftFactorIsQuantisedOnTheWayIn) {
  expect_close(fp8(1000, 64, 2000, toy(9.0), captured()).quantise, 1.35 * 3 * 1000 * 2000 / 1e12);
  expect_close(fp8(1000, 64, 2000, toy(10.0), captured(Engine::kTensorRtLlm)).quantise, 3.02 * 3 * 1000 * 2000 / 1e12);
}

TEST(QuantisedProducts, VllmsBlocksWaitForTheirHost) {
  const QuantisedProduct product = fp8(64, 64, 128, toy(9.0), captured(Engine::kVllm, true));
  EXPECT_TRUE(product.beside);
  expect_close(product.start, 90e-6);
  EXPECT_FALSE(fp8(64, 64, 128, toy(9.0), captured(Engine::kTensorRtLlm, true)).beside);
}

TEST(QuantisedProducts, Fp4TakesNineSixteenthsOfAByteAnElement) {
  // 5 by 32 tiles of 128 x 128 on 100 SMs: two waves of 8 steps of 128 in depth.
  const QuantisedProduct product = quantised_product(600, 4096, 1000, Arithmetic::kFp4, toy(10.0), captured());
  const double step = 2.0 * 128 * 128 * 128 / 8000 * 1.11;
  expect_close(product.tile.time, 2 * (8 * step + 608) * 1e-9);
  expect_close(product.bytes, 0.5625 * (600 * 1000 + 4096 * 1000) + 2.0 * 600 * 4096);
  expect_close(product.quantise, 1.35 * 2.5625 * 600 * 1000 / 1e12);
  expect_close(product.set, product.bytes);  // one copy of the weight
  expect_close(product.start, 11200e-9);
}

TEST(QuantisedProducts, AShortRowTakesAsLongToQuantiseAsItsLatency) {
  // 300 rows on 100 SMs: three each.
  const QuantisedProduct product = quantised_product(300, 128, 16, Arithmetic::kFp4, toy(10.0), captured());
  expect_close(product.quantise, 3 * 238e-9);
}

TEST(QuantisedProducts, EnginesTileFp4Apart) {
  const auto area = [](double rows, Engine engine) {
    return quantised_product(rows, 4096, 4096, Arithmetic::kFp4, toy(10.0), captured(engine)).tile.area;
  };
  EXPECT_EQ(area(512, Engine::kVllm), 128 * 128);
  EXPECT_EQ(area(512, Engine::kSglang), area(512, Engine::kVllm));
  EXPECT_EQ(area(512, Engine::kTensorRtLlm), 128 * 256);
  EXPECT_EQ(area(1, Engine::kTensorRtLlm), 128 * 256);
}

}  // namespace
}  // namespace joulecast
