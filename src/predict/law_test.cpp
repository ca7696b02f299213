// SPDX-License-Identifier: Apache-2.0
// Each law against numbers worked out by hand from docs/how-predictions-are-made.md.
#include "predict/law.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "predict/law_fixtures.h"

namespace joulecast {
namespace {

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

TEST(Law, KeplerStreamsPartOfItsBandwidth) {
  expect_close(device_of("tesla-k80").bandwidth, 0.62 * 240e9);
  EXPECT_FALSE(device_of("tesla-m60").kepler);
}

// 1000 images of 256 channels, each enlarged by the same few threads: 0.3 us a time.
TEST(Law, WhatIsMadeInTurnTakesItsTurns) {
  PointwiseWork resize{.kind = PointwiseKind::kCopy, .elements = 1000, .forward_bytes = 8000, .in_turn = 256'000};
  expect_close(physics(resize, toy()).gpu, 0.0768);
  resize.forward_bytes = 90'000'000'000;
  expect_close(physics(resize, toy()).gpu, 1);
}

// 64 channels of 112 x 112, as batches of 32.
TEST(Law, KernelsStartBehindEachOther) {
  const std::int64_t bytes = 4LL * 32 * 64 * 112 * 112;
  PointwiseWork relu{
      .kind = PointwiseKind::kRelu, .elements = bytes / 4, .forward_bytes = 2 * bytes, .backward_bytes = 3 * bytes};
  const double one = static_cast<double>(bytes);
  expect_close(physics(relu, a30()).gpu, 2 * one / (0.9 * 933e9) + 4e-6);
  expect_close(physics(relu, device_of("rtx-2080-ti")).gpu, 2 * one / (0.9 * 616e9) + 1.4e-6);
  // The way back reads two tensors, and so does what adds gradients up: three kernels.
  expect_close(physics(relu, a30(), {.state = State::kTraining}).gpu, (2 / 0.9 + 6 / 0.875) * one / 933e9 + 3 * 4e-6);
  relu.backward_bytes = 0;
  expect_close(physics(relu, a30(), {.state = State::kTraining}).gpu, (2 / 0.9 + 3 / 0.875) * one / 933e9 + 2 * 4e-6);
  relu.kind = PointwiseKind::kAdd;
  expect_close(physics(relu, a30()).gpu, 2 * one / (0.875 * 933e9) + 4e-6);
  // Captured, or in a bare loop, the call has it.
  relu.kind = PointwiseKind::kRelu;
  for (const Host host : {Host::kCaptured, Host::kBare})
    expect_close(physics(relu, a30(), {.host = host}).gpu, 2 * one / (0.9 * 933e9));
  EXPECT_EQ(device_of("mi100").start, 0.0);
  EXPECT_EQ(device_of("v100-pcie-32gb").start, 4e-6);
  EXPECT_EQ(device_of("h100-sxm5-80gb").start, 1.4e-6);
}

// A work of which only gradients move, as those of slices are, and one that does not drop: not found in the L2.
TEST(Law, GradientsAloneMoveTheirBytes) {
  PointwiseWork slice{.kind = PointwiseKind::kRelu, .backward_bytes = 128'000'000};
  expect_close(physics(slice, a30(), {.state = State::kTraining}).gpu, 128e6 / (0.875 * 933e9) + 4e-6);
  slice.kind = PointwiseKind::kCopy;  // reads one tensor
  expect_close(physics(slice, a30(), {.state = State::kTraining}).gpu, 128e6 / (0.9 * 933e9) + 4e-6);
  slice = {.kind = PointwiseKind::kStochasticDepth, .elements = 1'000'000, .active = false};
  const Physics idle = physics(slice, a30(), {.state = State::kTraining});
  expect_close(idle.gpu, idle.accumulation);
  expect_close(idle.gpu, 12e6 / (0.875 * 933e9) + 4e-6);
}

// On every GPU, for every host: without elements there is nothing to add up, and all else is as with it.
TEST(Law, WhatIsAddedUpIsApart) {
  for (const Gpu& gpu : Catalogue::shipped().all()) {
    const auto device = make_device(gpu, {});
    if (!device) continue;
    for (const Host host : {Host::kModern, Host::kOlder, Host::kCaptured, Host::kBare}) {
      const Situation step{.state = State::kTraining, .host = host};
      for (const PointwiseKind kind : {PointwiseKind::kRelu, PointwiseKind::kAdd, PointwiseKind::kFused}) {
        PointwiseWork work{.kind = kind, .elements = 1 << 20, .forward_bytes = 8 << 20, .backward_bytes = 12 << 20};
        const Physics with = physics(work, *device, step);
        work.elements = 0;
        const Physics without = physics(work, *device, step);
        EXPECT_GT(with.accumulation, 0.0);
        EXPECT_EQ(without.accumulation, 0.0);
        expect_close(with.gpu - with.accumulation, without.gpu);
      }
      EXPECT_EQ(physics(ReductionWork{.kind = ReductionKind::kBatchNorm}, *device, step).gpu, 0.0);
    }
  }
}

// What reading and writing leave in half of an A30's L2 moves twice as fast, none of what fills 0.72 of it.
TEST(Law, ElementwiseWorkFindsSmallTensorsInTheL2) {
  const auto rate = [](double share) {
    const Device d = a30();
    PointwiseWork relu{.kind = PointwiseKind::kRelu, .elements = 1000};
    relu.forward_bytes = static_cast<std::int64_t>(share * d.l2);
    return static_cast<double>(relu.forward_bytes) / (physics(relu, d).gpu - d.start) / (0.9 * d.bandwidth);
  };
  EXPECT_NEAR(rate(0.5), 2.0, 1e-6);
  EXPECT_NEAR(rate(0.62), 1.0 / 0.75, 1e-5);
  EXPECT_NEAR(rate(0.73), 1.0, 1e-6);
}

// A billion elements whose places are worked out by 4 cycles of an SM each; on Pascal by 8.
TEST(Law, WhatIsPlacedOneByOneTakesCycles) {
  Device d = toy();
  d.sm = 10;
  PointwiseWork join{
      .kind = PointwiseKind::kCopy, .elements = 1'000'000'000, .forward_bytes = 1000, .placed = 1'000'000'000};
  expect_close(physics(join, d).gpu, 0.4);
  d.capability = 6.0;
  expect_close(physics(join, d).gpu, 0.8);
}

// 1000 rows of 1000 numbers: 442 cycles a row and 0.735 a number, on ten SMs of 1 GHz, beside the memory.
TEST(Law, AnEnginesGateGoesThroughRowsNumberByNumber) {
  Device d = toy();
  d.sm = 10;
  PointwiseWork gate{.kind = PointwiseKind::kOther, .elements = 1'000'000, .gated_rows = 1000};
  const double cycles = (442e3 + 0.735e6) / 1e10;
  expect_close(physics(gate, d).gpu, cycles);
  gate.forward_bytes = 10'593'000;  // as long at 90 GB/s
  expect_close(physics(gate, d).gpu, cycles * std::pow(2.0, 1 / 2.42));
  gate.gated_rows = 0;
  expect_close(physics(gate, d).gpu, cycles);
}

// Three rows of 10,000 numbers on ten SMs of 1 GHz: ten turns of 1024 threads each, whatever the other SMs do.
TEST(Law, FewRowsOfAnEngineTakeTheirTurns) {
  Device d = toy();
  d.sm = 10;
  const PointwiseWork gate{.kind = PointwiseKind::kOther, .elements = 30'000, .gated_rows = 3};
  expect_close(physics(gate, d).gpu, 10 * 1200 / 1e9);
  ReductionWork norm{.kind = ReductionKind::kLayerNorm,
                     .in_elements = 30'000,
                     .out_elements = 30'000,
                     .rows = 3,
                     .columns = 10'000,
                     .element_bytes = 2,
                     .by_engine = true};
  expect_close(physics(norm, d).gpu, 10 * 1430 / 1e9);
  norm.columns = 1024;
  norm.in_elements = norm.out_elements = 3072;
  expect_close(physics(norm, d).gpu, 1430 / 1e9);
}

// 0.857 cycles a number on ten SMs of 1 GHz; the memory, from which the row comes twice, needs longer only on a
// hundred.
TEST(Law, AnEnginesNormWalksItsRowsTwice) {
  Device d = toy();
  d.sm = 10;
  const ReductionWork norm{.kind = ReductionKind::kLayerNorm,
                           .in_elements = 10'000'000,
                           .out_elements = 10'000'000,
                           .rows = 1000,
                           .columns = 10'000,
                           .element_bytes = 2,
                           .by_engine = true};
  expect_close(physics(norm, d).gpu, 0.857e7 / 1e10);
  d.sm = 100;
  expect_close(physics(norm, d).gpu, 6e7 / 90e9);
}

// An SM holds 16 blocks of 128 threads (8 on Turing, 12 on small Ampere), each of which walks a row twice. Rows of 62.5
// kB fill the megabyte of L2 by then: nothing is left of the first time. Of half as much half is left, of a quarter
// all.
TEST(Law, ALayerNormReadsLongRowsAgain) {
  Device d = toy();
  const auto passes = [&](std::int64_t rows, std::int64_t element_bytes) {
    const std::int64_t elements = rows * 15'625;
    const ReductionWork norm{.kind = ReductionKind::kLayerNorm,
                             .in_elements = elements,
                             .out_elements = elements,
                             .rows = rows,
                             .columns = 15'625,
                             .element_bytes = element_bytes};
    return physics(norm, d).bytes / static_cast<double>(elements * element_bytes);
  };
  expect_close(passes(1000, 4), 3);
  expect_close(passes(1000, 2), 2.5);
  expect_close(passes(1000, 1), 2);
  expect_close(passes(8, 4), 2.5);  // eight rows are half of the blocks
  d.capability = 7.5;
  expect_close(passes(1000, 4), 2.5);
  d.capability = 8.6;
  expect_close(passes(1000, 4), 3 + std::log2(0.75) / 2);
  d.cdna = true;  // whose second reading is in its own law
  expect_close(passes(1000, 4), 2);
}

// By what is left the power law tells whether a GPU sleeps between a training's calls.
TEST(Law, OfATrainingsGpuTimeAStartFillsNothing) {
  const Work relu = PointwiseWork{.kind = PointwiseKind::kRelu, .elements = 1000, .forward_bytes = 8000};
  const Work norm = ReductionWork{.kind = ReductionKind::kBatchNorm,
                                  .in_elements = 6272,
                                  .out_elements = 6272,
                                  .channels = 4,
                                  .spatial = 49,
                                  .rows = 4,
                                  .columns = 1568};
  for (const Work& work : {relu, norm}) {
    const Physics training = physics(work, a30(), {.state = State::kTraining});
    expect_close(training.filling, training.gpu - 4e-6);
    EXPECT_EQ(physics(work, a30(), {.state = State::kEval}).filling, 0.0);
    EXPECT_EQ(physics(work, a30(), {.state = State::kTraining, .host = Host::kCaptured}).filling, 0.0);
  }
  EXPECT_EQ(physics(ConvWork{}, a30(), {.state = State::kTraining}).filling, 0.0) << "not known well enough";
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
  expect_close(training.accumulation, 0.12);
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
  conv.arithmetic = Arithmetic::kTf32;
  expect_close(floor(conv, State::kEval, Host::kModern), 21.5);
  // In TF32 images are copied, but not those that lie as tensor cores want them.
  conv = {.arithmetic = Arithmetic::kTf32};
  expect_close(floor(conv, State::kEval, Host::kModern), 26.5 + 4);
  expect_close(floor(conv, State::kEval, Host::kOlder), 75);
  conv.kernel_height = 3;
  expect_close(floor(conv, State::kEval, Host::kModern), 26.5 + 8);
  expect_close(floor(conv, State::kTraining, Host::kModern), 254 + 24);
  conv.channels_last = true;
  expect_close(floor(conv, State::kTraining, Host::kModern), 254);
  conv = {.kernel_height = 3, .arithmetic = Arithmetic::kFp16};
  expect_close(floor(conv, State::kEval, Host::kModern), 26.5);
  expect_close(floor(GemmWork{}, State::kTraining, Host::kModern), 294);
  expect_close(floor(ReductionWork{.kind = ReductionKind::kBatchNorm}, State::kTrainForward, Host::kModern), 57);
  // A StochasticDepth that drops draws and divides.
  const PointwiseWork idle{.kind = PointwiseKind::kStochasticDepth, .active = false};
  const PointwiseWork drops{.kind = PointwiseKind::kStochasticDepth};
  expect_close(floor(idle, State::kTraining, Host::kModern), 145);
  expect_close(floor(drops, State::kTraining, Host::kModern), 145 + 68);
  expect_close(floor(drops, State::kTrainForward, Host::kOlder), 8.4 + 103);
  expect_close(floor(drops, State::kEval, Host::kOlder), 15.8);
  // Captured kernels have no host: 4600 cycles of the GPU.
  expect_close(floor(GemmWork{}, State::kEval, Host::kCaptured), 4600 / 1440.0);
}

// Deep vectors take one kernel more, which adds up what the others summed, and so do 1x1 with a stride on the older
// machine, unless one place is all that they make.
TEST(Law, SplitSumsAreOneMoreCall) {
  const auto floor = [&](const ConvWork& work, State state, Host host) {
    return host_floor(work, a30(), {.state = state, .host = host}) * 1e6;
  };
  const ConvWork deep{.in_channels = 257, .out_channels = 8};
  const ConvWork shallow{.in_channels = 256, .out_channels = 8};
  expect_close(floor(deep, State::kEval, Host::kOlder), 75 + 19);
  expect_close(floor(shallow, State::kEval, Host::kOlder), 75);
  expect_close(floor(shallow, State::kTraining, Host::kOlder), 385 + 19);
  expect_close(floor({.in_channels = 8, .out_channels = 161}, State::kTraining, Host::kOlder), 385 + 19);
  expect_close(floor({.in_channels = 8, .out_channels = 160}, State::kTraining, Host::kOlder), 385);
  expect_close(floor(deep, State::kEval, Host::kModern), 26.5);
  ConvWork tf32{.in_channels = 513, .out_channels = 8, .arithmetic = Arithmetic::kTf32};
  expect_close(floor(tf32, State::kEval, Host::kModern), 26.5 + 4 + 6);
  tf32.in_channels = 512;
  expect_close(floor(tf32, State::kEval, Host::kModern), 26.5 + 4);
  expect_close(floor(tf32, State::kTraining, Host::kModern), 254 + 10 + 6);
  tf32.in_channels = 400;
  expect_close(floor(tf32, State::kTraining, Host::kModern), 254 + 10);
  ConvWork strided{.in_height = 4, .in_width = 4, .out_height = 2, .out_width = 2, .stride = 2};
  expect_close(floor(strided, State::kEval, Host::kOlder), 75 + 19);
  expect_close(floor(strided, State::kEval, Host::kModern), 26.5);
  strided.out_height = strided.out_width = 1;
  expect_close(floor(strided, State::kEval, Host::kOlder), 75);
  // Of images, depthwise, in halves, and where algorithms are tried out there is one kernel.
  for (ConvWork image : {deep, tf32}) {
    image.in_channels = 1000;
    image.in_height = image.in_width = image.out_height = image.out_width = 7;
    expect_close(floor(image, State::kEval, Host::kOlder), 75);
    expect_close(floor(image, State::kEval, Host::kModern), image.arithmetic == Arithmetic::kTf32 ? 26.5 + 4 : 26.5);
  }
  const ConvWork depthwise{.in_channels = 257, .out_channels = 257, .groups = 257};
  expect_close(floor(depthwise, State::kEval, Host::kOlder), 60);
  ConvWork other = deep;
  other.arithmetic = Arithmetic::kFp16;
  expect_close(floor(other, State::kEval, Host::kOlder), 75);
  other = deep;
  other.autotuned = true;
  expect_close(floor(other, State::kEval, Host::kOlder), 75);
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

// 2048 channels at 7 x 7: 12.85 MB in and 0.26 MB out, 56 % of which from the half of the L2 that they fill takes 8.46
// us at 93 % of 933 GB/s; 65536 averages of 34.6 * 1.15 cycles on 56 SMs at 1.44 GHz 32.34 us, for 49 is odd, and a
// kernel starts in 4. An A30 measured 44.4.
TEST(Law, AnAverageCostsItsRowBesideWhatItReads) {
  expect_close(physics(pool(2048, 7, 1), a30()).gpu, (8.45939 + 32.3371 + 4.0) * 1e-6);
  // Four times the L2: nothing of it stays. The gradient is written once, without averages.
  const Physics large = physics(pool(2048, 20, 1), a30(), {.state = State::kTraining});
  const double bytes = 4.0 * 65536 * 401;
  const double moved = bytes / 0.93 + bytes / 0.9 + 12.0 * 65536 * 400 / 0.875;
  expect_close(large.gpu, moved / 933e9 + 65536 * 34.6 / (56 * 1.44e9) + 3 * 4e-6);
}

// The memory is busy for what the cache does not hold: 56 % of 13.1 MB, all of 105 MB, and in training, whose gradients
// lie between one reading and the next, of everything.
TEST(Law, AnAverageFromTheCacheLeavesTheMemoryIdle) {
  const auto memory = [](std::int64_t side, State state) {
    const Physics p = physics(pool(2048, side, 1), a30(), {.state = state});
    return p.memory * 933e9 / p.bytes;
  };
  expect_close(memory(7, State::kEval), 0.56);
  expect_close(memory(20, State::kEval), 1.0);
  expect_close(memory(7, State::kTraining), 1.0);
  const Physics amd = physics(pool(2048, 7, 1), device_of("mi100"));
  expect_close(amd.memory * device_of("mi100").bandwidth, amd.bytes);
}

// A ReLU of 3.2 MB, batch norm of 6.4 and a 1x1 convolution of 9.8 find half of theirs in an A30's 24 MB, those of an
// engine and in training nothing; ten times as much does not fit.
TEST(Law, WhatFitsTheCacheLeavesTheMemoryIdle) {
  const PointwiseWork relu{.kind = PointwiseKind::kRelu, .elements = 400'000, .forward_bytes = 3'200'000};
  ReductionWork norm{.kind = ReductionKind::kBatchNorm,
                     .in_elements = 802'816,
                     .out_elements = 802'816,
                     .channels = 512,
                     .spatial = 49,
                     .rows = 512,
                     .columns = 1568};
  const ConvWork conv{.batch = 32,
                      .in_channels = 192,
                      .out_channels = 192,
                      .in_height = 14,
                      .in_width = 14,
                      .out_height = 14,
                      .out_width = 14};
  const auto share = [](const Work& work, State state) {
    const Physics p = physics(work, a30(), {.state = state});
    return p.memory * 933e9 / p.bytes;
  };
  for (const Work& work : {Work{relu}, Work{norm}, Work{conv}}) {
    expect_close(share(work, State::kEval), 0.5);
    expect_close(share(work, State::kTraining), 1.0);
  }
  norm.kind = ReductionKind::kLayerNorm;
  norm.by_engine = true;
  expect_close(share(norm, State::kEval), 1.0);
  ConvWork large = conv;
  large.batch = 320;
  expect_close(share(large, State::kEval), 1.0);
  std::array<float, kMaxFeatures> features{};  // of time, which knows the cache by its law
  const Physics p = physics_of(conv, a30(), {}, features);
  expect_close(features[1], p.bytes / 933e9 / p.bound);
}

// Rows of four are read in one, eight of them by a warp; the RTX 2080 Ti takes 24 cycles for a warp.
TEST(Law, AWarpAveragesSeveralShortRows) {
  const auto cycles = [](const Device& d, std::int64_t side) {
    return physics(pool(512, side, 1), d).compute * d.sm * d.clock / (32 * 512);
  };
  expect_close(cycles(a30(), 2), 34.6 / 8);
  expect_close(cycles(a30(), 1), 34.6 * 1.15 / 32);
  expect_close(cycles(a30(), 14), 34.6);
  expect_close(cycles(device_of("rtx2080ti"), 14), 24.0);
}

// AlexNet's: 8192 blocks of six warps, each 90 cycles, 54.86 us; what it moves hides behind. Twice that with the
// gradient, whose kernel is built alike.
TEST(Law, PoolingToManyPlacesIsBoundByItsDivisions) {
  const Physics p = physics(pool(256, 6, 6), a30());
  expect_close(p.compute, 54.857e-6);
  expect_close(p.gpu, 58.857e-6);
  expect_close(physics(pool(256, 6, 6), a30(), {.state = State::kTraining}).compute, 2 * 54.857e-6);
}

// An A30's of 3 x 3 with stride 2: 4 us and 28 MB, indices of 64 bits among them, in 33.3 us beside 9 million numbers
// of windows in 49.1; 2.25 cycles of an SM more for each on the way back, where 56 MB move.
TEST(Law, MaxPoolingGoesThroughItsWindows) {
  const ReductionWork work{
      .kind = ReductionKind::kMaxPool, .in_elements = 4'000'000, .out_elements = 1'000'000, .window = 9};
  const Physics p = physics(work, a30());
  expect_close(p.compute, 49.107e-6);
  expect_close(p.gpu, 51.535e-6 + 4e-6);
  const Physics step = physics(work, a30(), {.state = State::kTraining});
  expect_close(step.compute, 300.22e-6);
  expect_close(step.gpu, 300.40e-6 + 48e6 / (0.875 * 933e9) + 12e-6);
  const Physics amd = physics(work, device_of("mi100"), {.state = State::kTraining});
  EXPECT_GT(amd.gpu, amd.compute);
}

// Windows that overlap cost what they are read, not what moves: 3 x 3 without stride, 9 million numbers at half a cycle
// of an SM are 55.8 us on an A30, beside 8 MB.
TEST(Law, AveragePoolingGoesThroughItsWindows) {
  ReductionWork work{
      .kind = ReductionKind::kAveragePool, .in_elements = 1'000'000, .out_elements = 1'000'000, .window = 9};
  const Physics p = physics(work, a30());
  expect_close(p.compute, 55.804e-6);
  expect_close(p.gpu, 55.816e-6 + 4e-6);
  const Physics step = physics(work, a30(), {.state = State::kTraining});
  expect_close(step.compute, 4 * 55.804e-6);
  expect_close(step.gpu, 223.229e-6 + 12e6 / (0.875 * 933e9) + 12e-6);
  work.window = 1;
  expect_close(physics(work, a30()).compute, 6.2004e-6);
  EXPECT_LT(physics(work, a30()).gpu, 8e6 / (0.9 * 933e9) + 4.5e-6);
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

// 7 x 7 places are few for a block: 65536 of 61 cycles are 49.58 us, two passes at 75 % of 933 GB/s 36.71 us; the
// square root of the sum of their squares is 61.69 us, and a kernel starts in 4. An A30 measured 65.5.
TEST(Law, BatchNormOfSmallImagesIsBoundByItsBlocks) {
  expect_close(physics(batch_norm(2048, 49), a30()).gpu, 65.690e-6);
  // So does an image of one place. Features of rows lie side by side, which another kernel walks.
  ReductionWork one_place = batch_norm(2048, 1);
  expect_close(physics(one_place, a30()).compute, 49.575e-6);
  one_place.of_rows = true;
  EXPECT_EQ(physics(one_place, a30()).compute, 0.0);
}

// In inference it streams 75 % in FP32 on an A30, 90 where an SM has less than 9 bytes a cycle; images that lie
// channels-last have no planes for blocks.
TEST(Law, BatchNormCannotAskForAllThatAWideMemoryGives) {
  ReductionWork work = batch_norm(64, std::int64_t{1} << 20);
  const auto reached = [&](const Device& d) {
    const Physics p = physics(work, d);
    return p.bytes / d.bandwidth / p.gpu;
  };
  EXPECT_NEAR(reached(a30()), 0.75, 1e-3);
  EXPECT_NEAR(reached(device_of("rtx-3090")), 0.9, 1e-3);
  work.element_bytes = 2;
  EXPECT_NEAR(reached(a30()), 0.9, 1e-3);
  work = batch_norm(2048, 49);
  std::array<float, kMaxFeatures> first{};
  std::array<float, kMaxFeatures> last{};
  physics_of(work, a30(), {}, first);
  work.channels_last = true;
  expect_close(physics_of(work, a30(), {}, last).gpu, 40.7138e-6);
  EXPECT_EQ(first, last) << "trees see what was measured";
}

// Of a step what is not sums of gradients nor starts of kernels.
double own_time(const ReductionWork& work, const Device& device, Host host = Host::kModern) {
  const Physics p = physics(work, device, {.state = State::kTraining, .host = host});
  return p.gpu - p.accumulation - 2 * device.start;
}

// In training one block takes a channel, and an SM of an A30 three blocks: 168 are a wave. A block moves 8.1 bytes a
// cycle at most, a wave 93 % of the bandwidth.
TEST(Law, BatchNormInTrainingRunsInWavesOfChannels) {
  const auto channels = [](std::int64_t count) { return batch_norm(count, std::int64_t{112} * 112); };
  const double channel = 8.0 * 32 * 112 * 112 * 4;
  const auto wave = [&](double blocks) {
    return joined(channel / (8.1 * 1.44e9), blocks * channel / (0.93 * 933e9), 1.5);
  };
  const auto near = [&](std::int64_t count, double expected) {
    EXPECT_NEAR(own_time(channels(count), a30()) / expected, 1.0, 2e-3) << count;
  };
  near(16, wave(16));
  near(168, wave(168));
  near(192, wave(168) + wave(24));
  near(336, 2 * wave(168));
  ReductionWork halves = batch_norm(16, std::int64_t{448} * 448);
  halves.element_bytes = 2;
  const double half = channel * 16 / 2;  // sixteen times the places, half the bytes
  const double expected = joined(half / (5.7 * 1.44e9), 16 * half / (0.93 * 933e9), 1.5);
  EXPECT_NEAR(own_time(halves, a30()) / expected, 1.0, 2e-3);
}

// A channel of 18 KB stays in an SM's first cache beside two others, of 192 KB of which 0.6 serve: of what is read
// again 0.83 / (1 + 0.4688^2) is held, so that 8 passes are 5.96. One of 1.6 MB does not.
TEST(Law, BatchNormInTrainingFindsSmallChannelsInTheCache) {
  const auto passes = [](const ReductionWork& work) {
    const Physics p = physics(work, a30(), {.state = State::kTraining});
    return p.bytes / (4.0 * static_cast<double>(work.in_elements)) - 3.0;
  };
  EXPECT_NEAR(passes(batch_norm(1632, 144)), 8 - 3 * 0.83 / (1 + 0.46875 * 0.46875), 1e-4);
  EXPECT_NEAR(passes(batch_norm(168, std::int64_t{112} * 112)), 8, 0.02);
  ReductionWork last = batch_norm(1632, 144);
  last.channels_last = true;  // whose channels lie apart
  EXPECT_NEAR(passes(last), 8, 1e-9);
}

// The RTX 2080 Ti's older library shares channels out: three passes at 80 %, five at 90, 1.4 times where channels begin
// within a line of 64 bytes.
TEST(Law, AnOlderBatchNormMindsWhereChannelsBegin) {
  const Device d = device_of("rtx-2080-ti");
  const auto moved = [&](std::int64_t places) {
    return 4.0 * 32 * 64 * static_cast<double>(places) * (3 / 0.8 + 5 / 0.9) / d.bandwidth;
  };
  EXPECT_NEAR(own_time(batch_norm(64, 40'000), d, Host::kOlder) / moved(40'000), 1.0, 1e-3);
  EXPECT_NEAR(own_time(batch_norm(64, 40'001), d, Host::kOlder) / moved(40'001), 1.4, 1e-3);
}

// 100352 rows of 96, 336 cycles each, on 68 SMs of which each holds half as many blocks as the A30's.
TEST(Law, LayerNormTakesLongerWhereFewBlocksWait) {
  const auto norm = [](const Device& d) {
    const std::int64_t rows = 100'352, columns = 96;
    const Physics p = physics(ReductionWork{.kind = ReductionKind::kLayerNorm,
                                            .in_elements = rows * columns,
                                            .out_elements = rows * columns,
                                            .rows = rows,
                                            .columns = columns},
                              d);
    return p.compute * d.sm * d.clock / rows;
  };
  expect_close(norm(a30()), 270 + 0.69 * 96);
  expect_close(norm(device_of("rtx-2080-ti")), (270 + 0.69 * 96) * std::pow(2.0, 0.4));
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
  expect_close(softmax(1024), 4e-6 + moved(1024));
  expect_close(softmax(1025), 4e-6 + std::hypot(moved(1025), walked(1025)));
  expect_close(softmax(2048), 4e-6 + std::hypot(moved(2048), 0.7 * walked(2048)));
}

// 26 us to call and 26 us to move: a loop waits for both but for the 0.55 of the call that is over before the kernel
// is. A number is wrapped before.
TEST(Law, BareLoopsWaitForEachCall) {
  PointwiseWork add{.kind = PointwiseKind::kAdd, .elements = 1, .forward_bytes = 2'340'000};
  const Situation bare{.host = Host::kBare};
  expect_close(physics(add, toy(), bare).bound, joined16(1.45 * 26e-6, 26e-6));
  Device started = toy();
  started.start = 4e-6;
  expect_close(physics(add, started, bare).bound, joined16(1.45 * 26e-6 + 4e-6, 26e-6));
  add.forward_bytes = 0;  // nothing to move: the call alone
  expect_close(physics(add, toy(), bare).bound, 26e-6);
  add.kind = PointwiseKind::kAddScalar;
  expect_close(physics(add, toy(), bare).host, 30e-6);
  // Of layer norm's 46 us 0.8.
  const ReductionWork norm{
      .kind = ReductionKind::kLayerNorm, .in_elements = 1 << 24, .rows = 1 << 14, .columns = 1 << 10};
  const Physics walked = physics(norm, toy(), bare);
  expect_close(walked.bound, joined16(walked.gpu + 0.8 * 46e-6, 46e-6));
  // Of a linear layer's 54 us 0.64, of another product's 32 us 0.56; an A30's kernels start 4 us late.
  GemmWork product{.rows = 1024, .columns = 1024, .depth = 1024};
  const Physics layer = physics(product, a30(), bare);
  expect_close(layer.bound, joined16(layer.gpu + 0.64 * 54e-6 + 4e-6, 54e-6));
  product.weight = false;
  product.batch = 8;
  const Physics batch = physics(product, a30(), bare);
  expect_close(batch.bound, joined16(batch.gpu + 0.56 * 32e-6 + 4e-6, 32e-6));
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
        ReductionWork{.kind = ReductionKind::kBatchNorm, .in_elements = n, .channels = n, .spatial = n},
        ReductionWork{.kind = ReductionKind::kBatchNorm, .in_elements = n, .channels = 0, .element_bytes = 2},
        PointwiseWork{.kind = PointwiseKind::kStochasticDepth, .elements = n, .backward_bytes = 8 * n},
        AttentionWork{.batch = n, .heads = 1, .queries = n, .arithmetic = Arithmetic::kFp32},
        AttentionWork{.batch = 1, .heads = 64, .queries = 1, .past = n, .arithmetic = Arithmetic::kFp32}};
    for (const Gpu& gpu : Catalogue::shipped().all()) {
      const auto device = make_device(gpu, {});
      if (!device) continue;
      for (const Work& work : works) {
        for (const State state : {State::kEval, State::kTrainForward, State::kTraining}) {
          std::array<float, kMaxFeatures> features{};
          features.fill(std::numeric_limits<float>::quiet_NaN());  // each must be written
          const Physics p = physics_of(work, *device, {.state = state}, features);
          ASSERT_TRUE(std::isfinite(p.bound) && p.bound > 0)
              << gpu.id << " " << name(group_of(work)) << " " << n << ": " << p.bound << " " << p.gpu;
          ASSERT_TRUE(std::isfinite(p.compute) && std::isfinite(p.memory) && p.gpu >= p.accumulation) << gpu.id;
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

// A fifth of the default limit, a quarter with GDDR, but no less than idle nor so much that nothing is left to work
// with.
TEST(Law, AGpuThatWaitsDrawsMoreThanAnIdleOne) {
  expect_close(a30().awake, 0.2 * 165);
  expect_close(device_of("rtx2080ti").awake, 0.25 * 250);
  EXPECT_EQ(a30().idle, 28.0);
  expect_close(a30().least, 0.9 * 33);
  const Gpu& a40 = **Catalogue::shipped().find("a40");
  const auto awake = [&](double watts) {
    return make_device(a40, {.sm_clock = {}, .power_limit = Watts{watts}})->awake;
  };
  expect_close(awake(300), 75);
  expect_close(awake(200), 75);
  expect_close(awake(90), 72);
  Gpu hungry = a40;
  hungry.idle_power = Watts{90};
  expect_close(make_device(hungry, {})->awake, 90);
  EXPECT_EQ(make_device(hungry, {})->least, 90.0) << "not below idle";
}

// Of an L4's 72 W: halves 121 / 72 / 1.05 = 1.6005, TF32 at half the rate and twice the energy, FP8 the other way, FP32
// 0.77 * 30.3 / 72 / 0.15 = 2.1603; (1 + x^4)^(-1/4).
TEST(Law, FarUnderItsLimitAChipKeepsSoMuchAWatt) {
  const Device l4 = device_of("l4");
  EXPECT_NEAR(l4.held_at(Arithmetic::kFp16), 0.6030, 1e-3);
  EXPECT_NEAR(l4.held_at(Arithmetic::kTf32), 0.6074, 1e-3);
  EXPECT_NEAR(l4.held_at(Arithmetic::kFp8), 0.6021, 1e-3);
  EXPECT_NEAR(l4.held_at(Arithmetic::kFp32), 0.4577, 1e-3);
  const Gpu& h100 = **Catalogue::shipped().find("h100-sxm5-80gb");
  for (const double watts : {100.0, 50.0}) {
    const Device low =
        make_device(h100, {.sm_clock = {}, .power_limit = Watts{h100.idle_power->value() + watts}}).value();
    EXPECT_NEAR(low.bf16 * low.held_at(Arithmetic::kBf16) / low.limit, 2e12, 1e10) << watts;
  }
}

// Of the A30's TF32: 512 flops a clock and SM to its 1017, the clock that each keeps, and loads that wait.
TEST(Law, ConvolutionsReachMoreOfNarrowUnitsAndLessUnderTheLimit) {
  const auto reach = [](std::string_view gpu, Arithmetic arithmetic) { return device_of(gpu).reach_at(arithmetic); };
  EXPECT_NEAR(reach("a30", Arithmetic::kTf32), 1.0, 1e-5);
  const double narrow = std::pow(1016.9 / 512.3, 0.75);
  EXPECT_NEAR(reach("rtx-3090", Arithmetic::kFp16), narrow / 0.929148, 2e-3);
  const Device max_q = device_of("rtx-pro-6000-max-q");
  const Device server = device_of("rtx-pro-6000-server");
  const auto half = [](const Device& d) {
    return std::pair(d.reach_at(Arithmetic::kFp16), d.held_at(Arithmetic::kFp16));
  };
  EXPECT_NEAR(half(max_q).first / half(server).first, half(max_q).second / half(server).second, 0.01);
  const Device turing = device_of("rtx-2080-ti");
  EXPECT_NEAR(turing.reach_at(Arithmetic::kFp16), 0.8 * narrow * turing.held_at(Arithmetic::kFp16) / 0.929148, 5e-3);
}

TEST(Law, WhatGenerationsKeepOfHalves) {
  const auto rho0 = [](std::string_view gpu) {
    const Device d = device_of(gpu);
    const double limited = std::pow(d.held_at(Arithmetic::kFp16), -4.0) - 1.0;
    return d.fp16 / 1e12 / d.limit / std::pow(limited, 0.25);
  };
  EXPECT_NEAR(rho0("t4"), 0.55, 1e-6);
  EXPECT_NEAR(rho0("a100-pcie-40gb"), 1.3, 1e-6);
  EXPECT_NEAR(rho0("l40s"), 1.05, 1e-6);
  EXPECT_NEAR(rho0("h100-pcie-80gb"), 2.0, 1e-6);
  EXPECT_NEAR(rho0("b200-sxm-180gb"), 2.4, 1e-6);
  EXPECT_NEAR(rho0("rtx-pro-6000-max-q"), 1.05, 1e-6);
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
