// SPDX-License-Identifier: Apache-2.0
// The kernels' laws against numbers worked out by hand with the constants of attention_kernels.cpp.
#include "predict/attention_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "predict/close_to.h"

namespace joulecast {
namespace {

// One SM of 1000 flops a cycle at 1 GHz, 100 GB/s, 1 MB of L2; without a capability it counts as Ampere.
Device toy(double capability = 0.0, double sm = 1.0) {
  Device d;
  d.sm = sm;
  d.clock = 1e9;
  d.bandwidth = 1e11;
  d.l2 = 1e6;
  d.bf16 = 1e12 * sm;
  d.capability = capability;
  return d;
}

Situation captured(Engine engine = Engine::kSglang) {
  return {.host = Host::kCaptured, .engine = engine};
}

TEST(AttentionKernels, APromptRunsInTilesOfQueriesThatLookAtTheBlocksBeforeThem) {
  const AttentionTime t = attention_time({.queries = 256, .head = 64}, toy(), captured());
  // A score: 1.21 * 4 * 64 / 1000 + 0.0574 cycles. Two tiles see 2 and 4 blocks of 64 keys.
  const double block = 128 * 64 * 0.36716;
  const double tiles = (2 * block + 2080) + (4 * block + 2080);
  expect_close(t.compute, (tiles + 0.78 * (4 * block + 2080)) * 1e-9);
  expect_close(t.memory, 2 * (256 * 64 * 2 + 256 * 64 * 2) / (1e11 * 1.92));
  expect_close(t.store, 2 * (256 * 64 * 2 + 256 * 64 * 2) / (1e11 * 0.847));
  expect_close(t.fixed, 15000e-9);
  expect_close(t.busy, t.compute + t.memory + t.store);
}

TEST(AttentionKernels, WithoutAMaskEveryTileSeesAllKeys) {
  const AttentionTime t = attention_time({.queries = 256, .head = 64, .causal = false}, toy(), captured());
  const double tile = 4 * 128 * 64 * 0.36716 + 2080;
  expect_close(t.compute, (2 + 0.78) * tile * 1e-9);
}

TEST(AttentionKernels, HeadsThatShareKeysShareATileExceptOnBlackwell) {
  const AttentionWork work{.heads = 32, .kv_heads = 1, .queries = 4, .head = 128};
  expect_close(attention_time(work, toy(8.0), captured()).tiles, 1);
  expect_close(attention_time(work, toy(9.0), captured()).tiles, 1);
  expect_close(attention_time(work, toy(10.0), captured()).tiles, 32);
  expect_close(attention_time(work, toy(12.0), captured()).tiles, 32);
}

TEST(AttentionKernels, PytorchHasNoCacheToFillAndATileForEachHead) {
  const AttentionTime t =
      attention_time({.heads = 32, .kv_heads = 1, .queries = 4, .head = 128}, toy(9.0), Situation{});
  EXPECT_EQ(t.store, 0.0);
  expect_close(t.tiles, 32);
}

// Of 8 heads of 64: a score takes 0.81 * 4 * 64 / 2 + 1.17 cycles where FP32's lanes do 2 flops a cycle, and where
// TF32's units do 6, a third of them for one product in FP32, 0.63 * 4 * 64 / 2 + 0.943. Two tiles of 64 queries see
// two blocks each.
TEST(AttentionKernels, PytorchsInFp32RunInTf32ThriceWhereThereIsThat) {
  AttentionWork work{.heads = 8, .kv_heads = 8, .queries = 128, .head = 64, .element_bytes = 4, .kv_bytes = 4};
  work.causal = false;
  work.arithmetic = Arithmetic::kFp32;
  Device device = toy(7.0);
  device.fp32 = 2e9;
  const auto cycles = [](double score, double prologue) {
    return (16 + 0.5) * (2 * 64 * 64 * score + prologue) * 1e-9;
  };
  const AttentionTime plain = attention_time(work, device, Situation{});
  expect_close(plain.compute, cycles(0.81 * 4 * 64 / 2 + 1.17, 110));
  expect_close(plain.memory, 4 * (8 * 128 * 64 * 4) / (1e11 * 2.0));
  expect_close(plain.fixed, 10000e-9);
  EXPECT_EQ(plain.step, 5.2);
  EXPECT_EQ(attention_peak(Arithmetic::kFp32, device), 2e9);
  device.capability = 8.0;
  device.tf32 = 6e9;
  for (const Arithmetic math : {Arithmetic::kFp32, Arithmetic::kTf32}) {
    work.arithmetic = math;
    expect_close(attention_time(work, device, Situation{}).compute, cycles(0.63 * 4 * 64 / 2 + 0.943, 100));
    EXPECT_EQ(attention_peak(math, device), 2e9);
    // Engines have none of their own.
    EXPECT_EQ(attention_time(work, device, captured()).compute, attention_time(work, device, Situation{}).compute);
  }
}

// Heads are filled up to 32 numbers, and beyond 64 to 128: there tiles have 32 queries and 128 keys.
TEST(AttentionKernels, PytorchsInFp32HaveTwoTiles) {
  Device device = toy(7.0);
  device.fp32 = 2e9;
  const auto compute = [&](std::int64_t head) {
    AttentionWork work{.queries = 128, .head = head, .element_bytes = 4, .kv_bytes = 4, .causal = false};
    work.arithmetic = Arithmetic::kFp32;
    return attention_time(work, device, Situation{}).compute;
  };
  expect_close(compute(16), compute(32));
  EXPECT_LT(compute(40), compute(65) / 2.5);
  expect_close(compute(80), compute(128));
  expect_close(compute(128), (4 + 0.5) * (32 * 128 * 1.22 * 4 * 128 / 2 + 600) * 1e-9);
}

// FlashAttention has heads of up to 256 numbers; engines have kernels for wider ones.
TEST(AttentionKernels, WiderHeadsThan256ArePytorchsMemoryEfficientOnes) {
  AttentionWork work{.queries = 128, .head = 256, .causal = false};
  EXPECT_TRUE(has_flash_attention(work, toy(8.0)));
  work.head = 257;
  EXPECT_FALSE(has_flash_attention(work, toy(8.0)));
  EXPECT_FALSE(has_flash_attention(work, toy(8.0), captured(Engine::kPytorch)));
  EXPECT_TRUE(has_flash_attention(work, toy(8.0), captured(Engine::kVllm)));
}

// One query over a past, in PyTorch: FlashAttention 2 whatever the generation, whose 256 parts at most engines' kernels
// for the newest consumer boards do not have; and between two calls in a network the weights have put the keys out of
// the cache: 2 MB of keys and values come from memory, of which half of the time is saved else.
TEST(AttentionKernels, PytorchDecodesByFlashAttention2) {
  const AttentionWork work{.queries = 1, .past = 8191, .head = 64};
  const double ampere = attention_time(work, toy(8.0), Situation{}).busy;
  for (const double capability : {9.0, 10.0, 12.0}) {
    EXPECT_EQ(attention_time(work, toy(capability), Situation{}).busy, ampere);
    EXPECT_EQ(attention_time(work, toy(capability), captured(Engine::kPytorch)).busy, ampere);
    EXPECT_NE(attention_time(work, toy(capability), captured()).busy, ampere);
  }
  Device device = toy(8.0);
  device.l2 = 1e7;
  const double cached = attention_time(work, device, Situation{}).memory;
  const double away = attention_time(work, device, {.weights = 1e9}).memory;
  expect_close(away, 2 * 8192 * 64 * 2 / (1e11 * 1.23));
  expect_close(cached / away, 0.5, 1e-2);
}

// One query over a past: FlashAttention alone splits its keys.
TEST(AttentionKernels, InFp32OrWithAMaskNobodySplitsKeys) {
  Device device = toy(8.0, 100);
  device.fp32 = device.tf32 = 1e12;
  AttentionWork work{.queries = 1, .past = 8191, .head = 64, .element_bytes = 4, .kv_bytes = 4};
  work.arithmetic = Arithmetic::kFp32;
  EXPECT_EQ(attention_time(work, device, Situation{}).split, 1.0);
  work.arithmetic = Arithmetic::kBf16;
  EXPECT_GT(attention_time(work, device, Situation{}).split, 1.0);
  work.mask_bytes = 2 * 8192;
  EXPECT_EQ(attention_time(work, device, Situation{}).split, 1.0);
}

// FlashAttention 2 wants Ampere and no mask. Of GPUs without a capability, AMD's, nothing is known.
TEST(AttentionKernels, HalvesWithAMaskOrBeforeAmpereRunInAnotherKernel) {
  AttentionWork work{.heads = 8, .kv_heads = 8, .queries = 512, .head = 64};
  const auto compute = [&](double capability) { return attention_time(work, toy(capability), Situation{}).compute; };
  EXPECT_GT(compute(7.5), 1.5 * compute(8.0));
  EXPECT_EQ(compute(0.0), compute(8.0));
  const double flash = compute(8.0), older = compute(7.5), amd = compute(0.0);
  work.causal = false;
  work.mask_bytes = 2 * 512 * 512;
  EXPECT_GT(compute(8.0), 1.5 * flash);
  EXPECT_LT(compute(8.0), compute(7.5));
  EXPECT_GT(compute(7.5), older);  // all keys
  work.causal = true;
  EXPECT_EQ(compute(7.5), older);
  EXPECT_EQ(compute(0.0), amd);
  const double memory = attention_time(work, toy(8.0), Situation{}).memory;
  expect_close(memory, (4 * 8 * 512 * 64 * 2 + 2 * 512 * 512) / (1e11 * 2.0));
}

// A graph that PyTorch captured has PyTorch's kernels.
TEST(AttentionKernels, CapturingChangesNoKernelOfPytorchs) {
  const AttentionWork prompt{.heads = 8, .kv_heads = 8, .queries = 512, .head = 64};
  const AttentionWork decode{.heads = 8, .kv_heads = 8, .queries = 1, .past = 2047, .head = 64};
  for (const double capability : {8.0, 9.0, 10.0, 12.0}) {
    for (const AttentionWork& work : {prompt, decode}) {
      EXPECT_EQ(attention_time(work, toy(capability), captured(Engine::kPytorch)).busy,
                attention_time(work, toy(capability), Situation{}).busy);
    }
  }
}

// Captured or not: engines have nothing for them.
TEST(AttentionKernels, CapturedKernelsDoWhatEnginesHaveKernelsFor) {
  AttentionWork work{.heads = 8, .kv_heads = 8, .queries = 512, .head = 64};
  const auto same = [&](double capability) {
    return attention_time(work, toy(capability), captured()).busy ==
           attention_time(work, toy(capability), Situation{}).busy;
  };
  EXPECT_FALSE(same(9.0));
  EXPECT_TRUE(same(7.5));
  work.mask_bytes = 1024;
  EXPECT_TRUE(same(9.0));
}

// Of 64 numbers a key and 512 a value: a score's products are as many as of 288 both, in the tiles of wide heads.
TEST(AttentionKernels, ValuesMayBeWiderThanKeys) {
  Device device = toy(8.0);
  const AttentionWork work{.queries = 128, .head = 64, .causal = false, .value_head = 512};
  EXPECT_FALSE(has_flash_attention(work, device));
  const AttentionTime t = attention_time(work, device, Situation{});
  expect_close(t.compute, (4 + 0.5) * (32 * 128 * (1.67 * 2 * (128 + 512) / 1000 + 0.21) + 300) * 1e-9);
  expect_close(t.memory, 2 * 128 * (64 + 512) * 2 / (1e11 * 2.0));
}

// Engines' kernels have no way back, whoever launches.
TEST(AttentionKernels, TrainingRunsPytorchsInGraphsToo) {
  const AttentionWork work{.heads = 8, .kv_heads = 2, .queries = 512, .head = 128};
  Situation graph = captured(Engine::kVllm);
  graph.state = State::kTraining;
  expect_close(attention_time(work, toy(12.0), graph).busy, attention_time(work, toy(12.0), Situation{}).busy);
}

// 16 queries of both heads share a tile, and look at blocks of 16 keys: 8 tiles of 1 to 8 blocks, 3.39 cycles a score.
// Other widths, engines, caches and generations have kernels of their own.
TEST(AttentionKernels, VllmFallsBackForHeadsOf192OverFp8OnBlackwell) {
  const AttentionWork work{.heads = 2, .kv_heads = 1, .queries = 64, .head = 192, .kv_bytes = 1};
  const AttentionTime t = attention_time(work, toy(10.0), captured(Engine::kVllm));
  const double block = 16 * 16 * 3.39;
  expect_close(t.tiles, 8);
  EXPECT_GT(t.compute * 1e9, 8 * (block + 2100));
  EXPECT_LT(t.compute * 1e9, (8 + 0.75) * (4 * block + 2100));
  const auto slower = [&](const AttentionWork& other, double capability, Engine engine) {
    return attention_time(other, toy(capability), captured(engine)).compute / t.compute;
  };
  AttentionWork wide = work;
  wide.kv_bytes = 2;
  EXPECT_NE(slower(wide, 10.0, Engine::kVllm), 1.0);
  EXPECT_NE(slower(work, 10.0, Engine::kSglang), 1.0);
  EXPECT_NE(slower(work, 9.0, Engine::kVllm), 1.0);
}

// 4096 keys of FP8 in two parts: 75 cycles each, half as many again for heads of 192, and 2650 beside.
TEST(AttentionKernels, SoItDoesForOneQuery) {
  const AttentionWork work{.queries = 1, .past = 4095, .head = 192, .kv_bytes = 1};
  const AttentionTime t = attention_time(work, toy(10.0), captured(Engine::kVllm));
  expect_close(t.split, 2);
  expect_close(t.compute, (75 * 2048 * 1.5 + 2650) * 1e-9);
  EXPECT_GT(std::abs(attention_time(work, toy(10.0), captured()).compute / t.compute - 1.0), 0.1);
}

TEST(AttentionKernels, OnlySglangTimesWhatFillsTheCache) {
  const AttentionWork work{.heads = 8, .kv_heads = 8, .queries = 64, .head = 128};
  EXPECT_GT(attention_time(work, toy(9.0), captured()).store, 0.0);
  for (const Engine engine : {Engine::kVllm, Engine::kTensorRtLlm})
    EXPECT_EQ(attention_time(work, toy(9.0), captured(engine)).store, 0.0);
}

TEST(AttentionKernels, AHeadIsFilledUpToAWidthThatThereAreKernelsFor) {
  const auto compute = [](std::int64_t head) {
    return attention_time({.queries = 4096, .head = head}, toy(), captured()).compute;
  };
  expect_close(compute(80), compute(96));
  EXPECT_GT(compute(96), 1.2 * compute(64));
  EXPECT_LT(compute(96), 0.9 * compute(128));
}

TEST(AttentionKernels, KeysAreSplitUntilAllSmsRead) {
  // Eight readers on 32 SMs: four parts of 1024 keys each.
  const AttentionWork work{.batch = 8, .queries = 1, .past = 4095, .head = 128};
  const AttentionTime t = attention_time(work, toy(8.0, 32), captured());
  EXPECT_EQ(t.split, 4);
  expect_close(t.compute, (1024 * 59.3 + 1810) * 1e-9);
  expect_close(t.fixed, (14700 + 6830 + 4 * 251) * 1e-9);
  // 16.8 MB do not stay in 1 MB of L2.
  expect_close(t.memory, 2.0 * 8 * 4096 * 128 * 2 / (1e11 * 1.23));
  expect_close(t.busy, std::hypot(t.compute, t.memory) + t.store);
}

TEST(AttentionKernels, APartHasNoFewerKeysThanTheKernelSplitsFor) {
  const auto split = [](std::int64_t past) {
    return attention_time({.queries = 1, .past = past, .head = 128}, toy(8.0, 108), captured()).split;
  };
  EXPECT_EQ(split(255), 1);
  EXPECT_EQ(split(1023), 4);
  EXPECT_EQ(split(1 << 20), 64);
}

TEST(AttentionKernels, MoreCachesThanSmsRunInWaves) {
  const auto compute = [](std::int64_t batch) {
    return attention_time({.batch = batch, .queries = 1, .past = 511, .head = 128}, toy(8.0, 100), captured()).compute;
  };
  expect_close(compute(100), (512 * 59.3 + 1810) * 1e-9);
  expect_close(compute(101), 2 * compute(100));
}

TEST(AttentionKernels, KeysThatFitTheL2AreReadTwiceAsFast) {
  const Device device = toy(8.0, 100);
  const AttentionTime t = attention_time({.queries = 1, .past = 127, .head = 128}, device, captured());
  expect_close(t.memory, 0.5 * 2 * 128 * 128 * 2 / (1e11 * 1.23));
}

TEST(AttentionKernels, AWindowLeavesTilesTheBlocksThatItTouches) {
  // 64 tiles of 128 queries see at most (256 + 128) / 64 blocks, and half a one more; the first two see less.
  AttentionWork work{.queries = 8192, .head = 64, .window = 256};
  const double block = 128 * 64 * 0.36716;
  const AttentionTime t = attention_time(work, toy(), captured());
  expect_close(t.compute, (64 * (6.5 * block + 2080) + 0.78 * (6.5 * block + 2080)) * 1e-9);
  work.window = 1 << 20;
  const AttentionTime wide = attention_time(work, toy(), captured());
  work.window = 0;
  EXPECT_EQ(wide.compute, attention_time(work, toy(), captured()).compute);
}

TEST(AttentionKernels, DecodingReadsTheWindowAndOnHopperABlockBeforeIt) {
  const auto memory = [](std::int64_t past, std::int64_t window, double capability) {
    return attention_time({.batch = 512, .queries = 1, .past = past, .head = 128, .window = window},
                          toy(capability, 100), captured())
        .memory;
  };
  EXPECT_EQ(memory(65535, 1024, 8.0), memory(1023, 0, 8.0));
  EXPECT_EQ(memory(65535, 1024, 9.0), memory(1151, 0, 9.0));
  EXPECT_EQ(memory(511, 1024, 9.0), memory(511, 0, 9.0));
}

TEST(AttentionKernels, VllmTakesAPromptOfOneTokenForADecode) {
  const AttentionWork work{.batch = 512, .heads = 32, .kv_heads = 1, .queries = 1, .head = 128};
  EXPECT_LT(attention_time(work, toy(10.0, 148), captured(Engine::kVllm)).compute,
            0.2 * attention_time(work, toy(10.0, 148), captured(Engine::kTensorRtLlm)).compute);
}

}  // namespace
}  // namespace joulecast
