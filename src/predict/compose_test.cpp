// SPDX-License-Identifier: Apache-2.0
#include "predict/compose.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

Device toy() {
  Device d;
  d.bandwidth = 1e11;
  d.clock = 1.5e9;  // no kernel under 2 us
  d.limit = 100;
  d.idle = 20;
  d.awake = 24;
  return d;
}

Composition composed(const std::vector<ComposePart>& parts, Mode mode = Mode::kInference) {
  return compose({.parts = parts, .mode = mode}, toy(), {});
}

// Ten operations of 1 ms at 80 W with a host that needs 10 us a call: the GPU alone counts.
TEST(Compose, GpuBoundNetworkIsTheSumOfItsOperations) {
  const ComposePart part{.time = 1e-3, .gpu = 1e-3, .host = 10e-6, .power = 80, .count = 10, .calls = 10};
  const Composition c = composed({part});
  EXPECT_NEAR(c.time, 10e-3, 1e-6);
  EXPECT_NEAR(c.gpu, 10e-3, 1e-12);
  EXPECT_NEAR(c.host, 1.25 * 10 * 10e-6, 1e-12);
  EXPECT_NEAR(c.energy, 80 * 10e-3, 1e-4);
}

// The same with 1 us of GPU work a call: the host sets the time, the GPU idles at 20 W most of it.
TEST(Compose, HostBoundNetworkWaitsForItsCalls) {
  const ComposePart part{.time = 11e-6, .gpu = 1e-6, .host = 10e-6, .power = 28, .count = 10, .calls = 10};
  const Composition c = composed({part});
  EXPECT_NEAR(c.time, 125e-6, 1e-7);
  EXPECT_GT(c.host, c.gpu);
  EXPECT_NEAR(c.energy, 20 * 125e-6 + 10 * 8 * 11e-6, 1e-6);
}

// Measured by itself the small one keeps the GPU busy for a fifth of its time, so that it falls asleep: it draws 8 W
// above the 24 of a GPU that waits, 40 while its kernel runs. Among large ones the GPU stays awake, and it draws half
// of what is left to 100 W besides: 18 W for 2 us each time.
TEST(Compose, WhatWasMeasuredHalfAsleepDrawsMoreInABusyNetwork) {
  const ComposePart large{.time = 1e-3, .gpu = 1e-3, .host = 10e-6, .power = 80, .count = 10, .calls = 10};
  ComposePart small{.time = 10e-6, .gpu = 2e-6, .host = 10e-6, .power = 32, .count = 10, .calls = 10};
  const auto above_idle = [&] {
    const Composition c = composed({large, small});
    return c.energy - 20 * c.time;
  };
  EXPECT_NEAR(above_idle(), 10 * (60 * 1e-3 + 12 * 10e-6 + 18 * 2e-6), 1e-9);
  // Between a half and three tenths of the time it falls asleep bit by bit: here half of the way.
  small.gpu = 4e-6;
  small.power = 48;
  EXPECT_NEAR(above_idle(), 10 * (60 * 1e-3 + 28 * 10e-6 + 0.5 * 8 * 4e-6), 1e-9);
  small.gpu = 5e-6;
  EXPECT_NEAR(above_idle(), 10 * (60 * 1e-3 + 28 * 10e-6), 1e-9);
  // What its waits drew counts already: with it no more than 80 W above idle for the 2 us that it runs.
  small.gpu = 2e-6;
  small.power = 35;
  EXPECT_NEAR(above_idle(), 10 * (60 * 1e-3 + 80 * 2e-6), 1e-9);
}

TEST(Compose, CapturedKernelsDoNotFallAsleep) {
  const ComposePart part{.time = 5e-6, .gpu = 2e-6, .host = 3e-6, .power = 28, .count = 10, .calls = 10};
  const Composition awake = compose({.parts = {&part, 1}}, toy(), {});
  const Composition captured = compose({.parts = {&part, 1}, .captured = true}, toy(), {});
  EXPECT_GT(awake.energy, captured.energy);
  EXPECT_NEAR(captured.energy - 20 * captured.time, 10 * 8 * 5e-6, 1e-9);
}

// A training's benchmark waits for 98 us of each 100, at 28 W; in the network a call takes 6. All waits together are as
// long as the step then, and what is left of the power is the kernels'.
TEST(Compose, WaitsAreNoLongerThanTheStep) {
  const ComposePart part{.time = 100e-6, .gpu = 2e-6, .host = 150e-6, .power = 28, .count = 10, .calls = 10};
  const Composition c = composed({part}, Mode::kTraining);
  EXPECT_NEAR(c.time, 60e-6, 1e-6);
  const double running = 10 * (8 * 100e-6 - 4 * 98e-6);  // more than 80 W for 20 us: the rest is drawn in waits
  ASSERT_GT(running, 80 * 20e-6);
  const double waiting = 10 * 8 * 100e-6 - 80 * 20e-6;
  EXPECT_NEAR(c.energy - 20 * c.time, 80 * 20e-6 + waiting * c.time / (10 * 98e-6), 1e-9);
}

// Of a graph the GPU starts its kernels itself: whatever Python would have done, and on whatever machine. The kernels
// take together what each takes in a loop of its own, at the same power.
TEST(Compose, CapturedKernelsTakeWhatTheyTakeInLoops) {
  std::vector<ComposePart> parts{{.time = 5e-6, .gpu = 2e-6, .host = 3e-6, .power = 28, .count = 10, .calls = 10},
                                 {.time = 40e-6, .gpu = 37e-6, .host = 3e-6, .power = 70, .count = 3, .calls = 1}};
  ComposeInput input{.parts = parts, .captured = true};
  const Composition inference = compose(input, toy(), {});
  EXPECT_NEAR(inference.time, 10 * 5e-6 + 3 * 40e-6, 1e-12);
  EXPECT_NEAR(inference.energy, 28 * 10 * 5e-6 + 70 * 3 * 40e-6, 1e-12);
  EXPECT_EQ(inference.host, 0.0);
  parts[0].functional = true;
  input.host.scale = 3.0;
  EXPECT_EQ(compose(input, toy(), {}).time, inference.time);
  input.mode = Mode::kTraining;
  input.parameter_tensors = 100;
  EXPECT_NEAR(compose(input, toy(), {}).time, inference.time + 13 * 3e-6, 1e-12) << "a start more for the way back";
  input.optimizer_bytes = 90.0;
  EXPECT_NEAR(compose(input, toy(), {}).time, inference.time + 13 * 3e-6 + 100 / toy().bandwidth, 1e-12);
}

// A host that is twice as slow takes twice as long for its calls, and the GPU no longer.
TEST(Compose, SlowerHostsOnlyLengthenTheCalls) {
  const std::vector<ComposePart> parts{
      {.time = 300e-6, .gpu = 100e-6, .host = 200e-6, .power = 60, .count = 10, .calls = 10},
      {.time = 50e-6, .gpu = 40e-6, .host = 20e-6, .power = 60, .count = 5, .calls = 5, .functional = true}};
  for (const Mode mode : {Mode::kInference, Mode::kTraining}) {
    ComposeInput input{.parts = parts, .mode = mode, .parameter_tensors = 20, .optimizer_bytes = 1e6};
    const Composition one = compose(input, toy(), {});
    input.host.scale = 2.0;
    const Composition two = compose(input, toy(), {});
    EXPECT_NEAR(two.host, 2.0 * one.host, 1e-12);
    EXPECT_EQ(two.gpu, one.gpu);
    EXPECT_GT(two.time, one.time);
  }
}

TEST(Compose, EnergyStaysBelowTheLimit) {
  const ComposePart part{.time = 1e-3, .gpu = 1e-3, .host = 0, .power = 100, .count = 50, .calls = 50};
  const Composition c = composed({part});
  EXPECT_LE(c.energy, 100 * c.time);
  EXPECT_NEAR(c.energy, 0.995 * 100 * c.time, 1e-9);
}

TEST(Compose, NothingTakesNoTime) {
  const Composition c = composed({});
  EXPECT_EQ(c.time, 0);
  EXPECT_EQ(c.energy, 0);
}

// A network sets gradients instead of adding them up.
TEST(Compose, TrainingDoesNotAccumulate) {
  ComposePart part{.time = 1e-3, .gpu = 1e-3, .accumulation = 1e-4};
  EXPECT_NEAR(busy_in_network(part, toy(), Mode::kTraining), 0.9e-3, 1e-12);
  EXPECT_EQ(busy_in_network(part, toy(), Mode::kInference), 1e-3);
  part.left_out = 0.6;
  EXPECT_NEAR(busy_in_network(part, toy(), Mode::kTraining), 0.36e-3, 1e-12);
  EXPECT_EQ(busy_in_network(part, toy(), Mode::kInference), 1e-3);
  part.accumulation = 10;  // never more than three quarters
  part.left_out = 0.0;
  EXPECT_NEAR(busy_in_network(part, toy(), Mode::kTraining), 0.25e-3, 1e-12);
}

TEST(Compose, CallsOfTheHostAreCountedApartFromKernels) {
  // A recurrent layer: 100 kernels in one call.
  const ComposePart part{.time = 8e-6, .gpu = 4e-6, .host = 20e-6, .power = 30, .count = 100, .calls = 1};
  const Composition c = composed({part});
  EXPECT_NEAR(c.gpu, 400e-6, 1e-12);
  EXPECT_NEAR(c.host, 25e-6, 1e-12);
  // The benchmark waited for the host after each kernel; between those of one call nobody waits.
  EXPECT_NEAR(c.energy, 20 * c.time + (30 - 20) * (8e-6 + 99 * 4e-6), 1e-12);
}

// A call that took 20 us alone takes 6 us here, 1 us of it on the GPU: it draws what it drew for 6 us.
TEST(Compose, CheaperCallsWaitForLess) {
  const ComposePart part{
      .time = 20e-6, .gpu = 1e-6, .host = 20e-6, .call = 6e-6, .power = 30, .count = 10, .calls = 10};
  const Composition c = composed({part});
  EXPECT_NEAR(c.energy, 20 * c.time + 10 * (30 - 20) * 6e-6, 1e-12);
}

TEST(Compose, NoKernelIsShorterThanItsStart) {
  const ComposePart tiny{.time = 10e-6, .gpu = 1e-9, .host = 10e-6, .power = 25};
  EXPECT_NEAR(busy_in_network(tiny, toy(), Mode::kInference), 2e-6, 1e-12);
  const ComposePart nothing{.time = 10e-6, .gpu = 0.0, .host = 10e-6, .power = 25};
  EXPECT_EQ(busy_in_network(nothing, toy(), Mode::kInference), 0.0);
  // Its energy is still that of the measured operation, not multiplied.
  EXPECT_LT(composed({tiny}).energy, 25 * 13e-6);
}

TEST(Compose, OptimizerStepAndItsCallsAreAdded) {
  const Composition c =
      compose({.parts = {}, .mode = Mode::kTraining, .parameter_tensors = 50, .optimizer_bytes = 9e9}, toy(), {});
  EXPECT_NEAR(c.gpu, 0.1, 1e-9);
  EXPECT_NEAR(c.host, 100e-6, 1e-12);
}

}  // namespace
}  // namespace joulecast
