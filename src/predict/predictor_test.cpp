// SPDX-License-Identifier: Apache-2.0
// The shipped pack on small networks, and packs that must be refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include "joulecast/predict.h"
#include "predict/law_fixtures.h"
#include "predict/lower.h"
#include "predict/pack/pack.h"
#include "predict/pack/writer.h"
#include "predict/physics.h"

namespace joulecast {
namespace {

const std::string kPack = JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack";

constexpr std::string_view kNet = R"(graph "n" {
    input %x : f32[batch, 64, 56, 56]
    parameter %w : f32[64, 64, 3, 3]
    parameter %s : f32[64]
    %a = conv(%x, %w) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
    %n = batch_norm(%a, %s, %s, %s, %s)
    %r = activation(%n) {kind = relu}
    %b = conv(%r, %w) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
    output %b
  })";

Workload load_of(std::int64_t batch, Mode mode = Mode::kInference, std::optional<Precision> precision = {}) {
  return prepare(parse_graph(kNet).value(), {.symbols = {}, .shapes = {}, .batch = batch},
                 {.mode = mode, .precision = precision})
      .value();
}

const Gpu& gpu(std::string_view name) {
  return **Catalogue::shipped().find(name);
}

const Predictor& shipped() {
  static const Predictor predictor = Predictor::open(kPack).value();
  return predictor;
}

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()))).string();
}

TEST(Predictor, MoreWorkTakesLongerAndStaysWithinTheLimits) {
  for (const char* name : {"a30", "rtx-2080-ti", "h100-sxm5-80gb", "t4", "rtx-4090"}) {
    for (const Mode mode : {Mode::kInference, Mode::kTraining}) {
      double before = 0;
      for (std::int64_t batch = 1; batch <= 1024; batch *= 4) {
        const Prediction p = shipped().predict(load_of(batch, mode), gpu(name), {}).value();
        EXPECT_GE(p.time.value.value(), before * 0.999) << name << " " << batch;
        before = p.time.value.value();
        EXPECT_GE(p.power.value, Watts{1});
        EXPECT_LE(p.power.value, gpu(name).power_limit);
        EXPECT_NEAR(p.energy.value.value(), p.power.value.value() * before, 1e-9 + 1e-6 * p.energy.value.value());
        EXPECT_LT(p.time.lo, p.time.value);
        EXPECT_LT(p.time.value, p.time.hi);
        EXPECT_GT(p.memory.value.value(), 0);
      }
    }
  }
}

TEST(Predictor, SmallNetworksAreHostBoundAndLargeOnesAreNot) {
  EXPECT_TRUE(shipped().predict(load_of(1), gpu("a30"), {}).value().host_bound);
  EXPECT_FALSE(shipped().predict(load_of(256), gpu("a30"), {}).value().host_bound);
}

// An operator that nobody knows may be a product of what it reads: x [256, 1024] by w [4096, 1024] to [256, 4096] are
// 2 * 2^30 FLOP, for which a guess of four times that is allowed, at the A30's 10.3 TFLOP/s.
TEST(Predictor, WhatIsUnknownMayTakeLonger) {
  constexpr std::string_view kText = R"(graph "q" {
    input %x : f32[256, 1024]
    parameter %w : f32[4096, 1024]
    %y = OPERATOR
    output %y
  })";
  const auto predicted = [&](std::string_view op) {
    std::string text(kText);
    text.replace(text.find("OPERATOR"), 8, op);
    const Workload load = prepare(parse_graph(text).value(), {}, {.precision = Precision::kFp32}).value();
    return shipped().predict(load, gpu("a30"), {}).value();
  };
  const Prediction unknown = predicted(R"(opaque(%x, %w) {name = "Foo", output_types = [f32[256, 4096]]})");
  const Prediction known = predicted("linear(%x, %w, _)");
  EXPECT_LT(unknown.time.value, known.time.value);
  EXPECT_LT(unknown.time.lo, known.time.value);
  EXPECT_GT(unknown.time.hi, known.time.value);
  EXPECT_GT(unknown.time.hi, Seconds{4 * 2.1475e9 / 10.3e12});
  EXPECT_LT(unknown.time.hi, Seconds{0.01});
  EXPECT_GT(unknown.energy.hi, known.energy.value);
}

// Products of 8-bit integers: an A100 has units for them and none for FP8, which the H100 has; a V100 has neither.
TEST(Predictor, IntegersNeedNoUnitsForFp8) {
  constexpr std::string_view kText = R"(graph "q" {
    input %x : i8[8192, 8192]
    parameter %w : i8[8192, 8192]
    %y = linear(%x, %w, _)
    output %y
  })";
  const auto time_on = [&](const char* name, std::string_view text) {
    const Workload load = prepare(parse_graph(text).value(), {}, {}).value();
    return shipped().predict(load, gpu(name), {}).value().time.value.value();
  };
  std::string floats(kText);
  for (std::size_t at = 0; (at = floats.find("i8[", at)) != std::string::npos;) floats.replace(at, 3, "f16[");
  EXPECT_LT(time_on("a100-sxm4-80gb", kText), 0.8 * time_on("a100-sxm4-80gb", floats));
  EXPECT_LT(time_on("h100-sxm5-80gb", kText), time_on("a100-sxm4-80gb", kText));
  EXPECT_GT(time_on("v100-sxm2-16gb", kText), time_on("v100-sxm2-16gb", floats));
  const auto refused = shipped().predict(load_of(1, Mode::kInference, Precision::kFp8), gpu("a100-sxm4-80gb"), {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("has no fp8 units"), std::string::npos);
}

TEST(Predictor, SupportSaysWhatWasMeasured) {
  EXPECT_EQ(shipped().support(load_of(32), gpu("a30")), Support::kInside);
  EXPECT_EQ(shipped().support(load_of(32, Mode::kTraining, Precision::kFp32), gpu("rtx-2080-ti")), Support::kInside);
  // Without TF32 units products run in FP32, which was measured.
  const auto linear = prepare(parse_graph("graph \"l\" {\ninput %x : f32[64, 256]\nparameter %w : f32[256, 256]\n"
                                          "%y = linear(%x, %w)\noutput %y\n}")
                                  .value(),
                              {}, {.precision = Precision::kTf32All})
                          .value();
  EXPECT_EQ(shipped().support(linear, gpu("rtx-2080-ti")), Support::kInside);
  // FP16 was measured on neither.
  EXPECT_EQ(shipped().support(load_of(32, Mode::kInference, Precision::kFp16), gpu("a30")), Support::kEdge);
  EXPECT_EQ(shipped().support(load_of(32), gpu("a40")), Support::kEdge);
  EXPECT_EQ(shipped().support(load_of(32), gpu("mi250x")), Support::kOutside);
  // Of halves that are multiplied in FP32 nothing was, and the P100 was measured in FP32.
  EXPECT_EQ(shipped().support(load_of(32, Mode::kInference, Precision::kFp16), gpu("p100-pcie-16gb")),
            Support::kOutside);
  EXPECT_NE(shipped().support(load_of(32, Mode::kInference, Precision::kFp32), gpu("p100-pcie-16gb")),
            Support::kOutside);
}

// Kernels and clocks go by it.
TEST(Predictor, ABoardOfNvidiasWithoutItsCapabilityIsOutside) {
  Gpu board = gpu("a40");
  EXPECT_EQ(shipped().support(load_of(32), board), Support::kEdge);
  board.compute_capability = {};
  EXPECT_EQ(shipped().support(load_of(32), board), Support::kOutside);
  board = gpu("a40");
  board.vendor = "Acme";
  EXPECT_EQ(shipped().support(load_of(32), board), Support::kOutside) << "no laws are known of its kernels";
}

// MIOpen has no TF32: by PyTorch's default an AMD's recurrent layers run in FP32, the product of their inputs too.
TEST(Predictor, RecurrentLayersOfAmdRunInFp32) {
  const auto predicted = [](Precision precision, const char* name) {
    const auto load = prepare(parse_graph(R"(graph "r" {
      input %x : f32[64, 256, 1024]
      parameter %w : f32[1, 4096, 1024]
      parameter %r : f32[1, 4096, 1024]
      %y = rnn(%x, %w, %r) {hidden = 1024}
      output %y
    })")
                                  .value(),
                              {}, {.precision = precision});
    EXPECT_TRUE(load) << load.error().text();
    return shipped().predict(*load, gpu(name), {}).value();
  };
  const Prediction by_default = predicted(Precision::kTf32, "mi300x"), fp32 = predicted(Precision::kFp32, "mi300x");
  EXPECT_EQ(by_default.time.value, fp32.time.value);
  EXPECT_EQ(by_default.precision, Precision::kFp32);
  EXPECT_LT(predicted(Precision::kTf32, "h100-sxm5-80gb").time.value,
            predicted(Precision::kFp32, "h100-sxm5-80gb").time.value);
}

// Of a table a step reads a few rows: it puts no weight out of the cache.
TEST(Predictor, TablesPutNoWeightsOutOfTheCache) {
  const auto busy = [](int rows) {
    const auto load = prepare(parse_graph(fmt::format(R"(graph "t" {{
      input %i : i64[1, 4]
      parameter %t : f32[{}, 1024]
      parameter %w : f32[1024, 4096]
      parameter %v : f32[4096, 1024]
      %h = embedding(%t, %i)
      %a = matmul(%h, %w)
      %y = matmul(%a, %v)
      output %y
    }})",
                                                      rows))
                                  .value(),
                              {}, {.precision = Precision::kFp32});
    EXPECT_TRUE(load) << load.error().text();
    return shipped().predict(*load, gpu("rtx-4090"), {}).value().gpu_busy;
  };
  EXPECT_EQ(busy(1024), busy(1024 * 256));
}

TEST(Predictor, RecurrentLayersAreNeverInside) {
  const auto load = prepare(parse_graph(R"(graph "r" {
    input %x : f32[7, 2, 3]
    parameter %w : f32[1, 20, 3]
    parameter %r : f32[1, 20, 5]
    %y = rnn(%x, %w, %r) {hidden = 5}
    output %y
  })")
                                .value(),
                            {}, {.precision = Precision::kFp32});
  ASSERT_TRUE(load) << load.error().text();
  EXPECT_EQ(shipped().support(*load, gpu("a30")), Support::kEdge);
  EXPECT_EQ(shipped().support(*load, gpu("v100-sxm2-16gb")), Support::kEdge);
  EXPECT_EQ(shipped().support(*load, gpu("gtx-1080-ti")), Support::kOutside) << "cuDNN's kernels differ threefold";
}

TEST(Predictor, WhatTorchCompileMakesIsFasterAndNeverInside) {
  const auto with = [](Runtime runtime, Layout layout, std::int64_t batch) {
    const Workload load = prepare(parse_graph(kNet).value(), {.symbols = {}, .shapes = {}, .batch = batch},
                                  {.precision = {}, .runtime = runtime, .layout = layout})
                              .value();
    return shipped().predict(load, gpu("a30"), {.setting = {}, .host = HostMachine{}}).value();
  };
  for (const std::int64_t batch : {1, 256}) {
    const Prediction eager = with(Runtime::kPytorchEager, Layout::kChannelsFirst, batch);
    const Prediction last = with(Runtime::kPytorchEager, Layout::kChannelsLast, batch);
    const Prediction compiled = with(Runtime::kPytorchCompiled, Layout::kChannelsFirst, batch);
    EXPECT_EQ(eager.support, Support::kInside);
    EXPECT_EQ(last.support, Support::kEdge);
    EXPECT_EQ(compiled.support, Support::kEdge);
    EXPECT_LT(compiled.time.value, last.time.value) << batch;
    EXPECT_LE(last.time.value, eager.time.value) << batch;
  }
}

// The trees know nothing of convolutions that were tried out: what they say changes no time, and a step has its loop.
TEST(Predictor, TensorflowsStepsHaveALoopAndAreNeverInside) {
  const auto with = [](Runtime runtime, std::int64_t batch) {
    const Workload load = prepare(parse_graph(kNet).value(), {.symbols = {}, .shapes = {}, .batch = batch},
                                  {.mode = Mode::kTraining, .precision = Precision::kFp32, .runtime = runtime})
                              .value();
    return shipped().predict(load, gpu("t4"), {.setting = {}, .host = HostMachine{}, .breakdown = true}).value();
  };
  const Prediction small = with(Runtime::kTensorflow, 1);
  EXPECT_EQ(small.support, Support::kEdge);
  EXPECT_GT(small.time.value, Seconds{1.4e-3});
  EXPECT_LT(small.gpu_busy + small.host_busy, Seconds{1.4e-3});
  const auto convolution = [](const Prediction& found) {
    const auto conv = std::find_if(found.operations.begin(), found.operations.end(),
                                   [](const OperationEstimate& o) { return o.label.rfind("conv", 0) == 0; });
    return conv == found.operations.end() ? OperationEstimate{} : *conv;
  };
  ASSERT_GT(convolution(small).time, Seconds{0}) << "there is one";
  EXPECT_DOUBLE_EQ(convolution(small).time.value(), convolution(small).bound.value());
  // Algorithms that were tried out are no slower than those that were asked for.
  EXPECT_LT(convolution(with(Runtime::kTensorflow, 256)).bound, convolution(with(Runtime::kPytorchEager, 256)).bound);
}

TEST(Predictor, ABreakdownTellsTheFirstLayerFromEqualOnes) {
  constexpr std::string_view kTwice = R"(graph "n" {
    input %x : f32[8, 64, 56, 56]
    parameter %w : f32[64, 64, 3, 3]
    %a = conv(%x, %w) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
    %b = conv(%a, %w) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
    output %b
  })";
  const Workload load = prepare(parse_graph(kTwice).value(), {}, {.mode = Mode::kTraining, .precision = {}}).value();
  const auto found = shipped().predict(load, gpu("a30"), {.setting = {}, .host = {}, .breakdown = true})->operations;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].label, "conv 8x64x56x56 -> 64, 3x3");
  EXPECT_EQ(found[1].label, "conv 8x64x56x56 -> 64, 3x3, first");
  const Physics law = physics(load.operations[0].work, device_of("a30"), {.state = State::kTraining});
  EXPECT_NEAR(found[1].time / found[0].time, 1 - law.input_gradient, 1e-9);
}

TEST(Predictor, IntervalsWidenWithIgnorance) {
  struct Widths {
    double time, power, energy;
  };
  const auto width = [&](std::string_view name) {
    const auto found = shipped().predict(load_of(64, Mode::kInference, Precision::kFp32), gpu(name), {}).value();
    return Widths{found.time.hi / found.time.lo, found.power.hi / found.power.lo, found.energy.hi / found.energy.lo};
  };
  // The time and energy of a new family are as hard as those of a new GPU: the factors may be equal.
  EXPECT_LE(width("a30").time, width("a40").time * (1 + 1e-12));
  EXPECT_LE(width("a30").energy, width("a40").energy * (1 + 1e-12));
  EXPECT_LT(width("a30").power, width("a40").power);
  EXPECT_LT(width("a40").time, width("mi250x").time);
  EXPECT_LT(width("a40").energy, width("mi250x").energy);
}

// Who says what launches gets bounds for that machine; who does not, bounds for any.
TEST(Predictor, AnUnknownHostWidensWhatItRules) {
  const auto predicted = [&](std::int64_t batch, std::optional<HostMachine> host) {
    return shipped().predict(load_of(batch), gpu("a30"), {.setting = {}, .host = host}).value();
  };
  const Prediction open = predicted(1, {});
  const Prediction known = predicted(1, HostMachine{});
  EXPECT_EQ(open.time.value, known.time.value);
  EXPECT_GT(open.time.hi, known.time.hi);
  EXPECT_GE(open.time.hi, predicted(1, HostMachine{.scale = 2.2}).time.value);
  EXPECT_LE(open.time.lo, predicted(1, HostMachine{.scale = 0.8}).time.value);
  EXPECT_GE(open.energy.hi, predicted(1, HostMachine{.scale = 2.2}).energy.value * 0.999);
  EXPECT_EQ(predicted(256, {}).time.hi, predicted(256, HostMachine{}).time.hi);  // the GPU alone
}

// An image of 64 x 56 x 56 has 802,816 bytes, in FP16 half of them. The GPU idles while they come, at 28 W.
TEST(Predictor, AStepMayCopyItsInputFirst) {
  const auto predicted = [&](std::optional<Precision> precision, std::optional<BytesPerSecond> rate) {
    const Workload load = load_of(8, Mode::kInference, precision);
    return shipped().predict(load, gpu("a30"), {.setting = {}, .host = HostMachine{}, .input_copy = rate}).value();
  };
  const Prediction there = predicted({}, {});
  const Prediction copied = predicted({}, BytesPerSecond{2e9});
  EXPECT_NEAR((copied.time.value - there.time.value).value(), 8 * 802816 / 2e9, 1e-9);
  EXPECT_NEAR((copied.energy.value - there.energy.value).value(), 28.0 * 8 * 802816 / 2e9, 1e-6);
  EXPECT_EQ(copied.gpu_busy, there.gpu_busy);
  EXPECT_FALSE(shipped().predict(load_of(8), gpu("a30"), {.setting = {}, .host = {}, .input_copy = BytesPerSecond{}}));
  const Seconds halves = predicted(Precision::kFp16, BytesPerSecond{2e9}).time.value;
  EXPECT_NEAR((halves - predicted(Precision::kFp16, {}).time.value).value(), 4 * 802816 / 2e9, 1e-9);
}

TEST(Predictor, TensorflowHasItsOwnCopy) {
  const Workload load = prepare(parse_graph(kNet).value(), {.symbols = {}, .shapes = {}, .batch = 8},
                                {.mode = Mode::kTraining, .precision = {}, .runtime = Runtime::kTensorflow})
                            .value();
  const auto time = [&](std::optional<BytesPerSecond> rate) {
    return shipped().predict(load, gpu("t4"), {.setting = {}, .host = HostMachine{}, .input_copy = rate})->time.value;
  };
  EXPECT_EQ(time(BytesPerSecond{1e9}), time({}));
}

// Nothing of a step that waits for its input follows the clock.
TEST(Predictor, ACopyTakesAsLongAtAnyClock) {
  const auto longer = [](std::optional<BytesPerSecond> rate) {
    const SettingRequest half{.settings = {{.sm_clock = Hertz{720e6}, .power_limit = {}}}, .measured = {}};
    const PredictOptions how{.setting = {}, .host = HostMachine{}, .input_copy = rate};
    const Workload load = load_of(64);
    return shipped().predict(load, gpu("a30"), how, half)->front().time.value -
           shipped().predict(load, gpu("a30"), how)->time.value;
  };
  const double without = longer({}).value();
  ASSERT_GT(without, 0.0);
  // As long as the whole of the step without it, and more.
  EXPECT_NEAR(longer(BytesPerSecond{5e9}).value() / without, 1.0, 0.25);
}

// Limits of an A100, the default first.
SettingRequest limits_of_an_a100() {
  SettingRequest out{.settings = {{}}, .measured = {}};
  for (const double watts : {350, 300, 250, 200}) out.settings.push_back({.sm_clock = {}, .power_limit = Watts{watts}});
  return out;
}

// A small batch, whose lower bound of power the unknown host widens, on a GPU whose upper bound the limit cuts off.
TEST(Predictor, TheDefaultSettingByNameHasTheSameBounds) {
  const PredictOptions any_host;
  for (const std::int64_t batch : {1, 64}) {
    const Prediction plain = shipped().predict(load_of(batch), gpu("a30"), any_host).value();
    const SettingRequest named{.settings = {{}}, .measured = {}};
    const Prediction at = shipped().predict(load_of(batch), gpu("a30"), any_host, named).value().front();
    constexpr double kMeanOfHypotheses = 0.01;
    EXPECT_NEAR(at.power.lo / plain.power.lo, 1.0, kMeanOfHypotheses) << batch;
    EXPECT_NEAR(at.power.hi / plain.power.hi, 1.0, kMeanOfHypotheses) << batch;
    EXPECT_NEAR(at.time.hi / plain.time.hi, 1.0, kMeanOfHypotheses) << batch;
  }
}

// At any setting: nothing draws less than it does idle, nor more in a time than its limit.
TEST(Predictor, BoundsAreWhatABoardCanDo) {
  for (const char* name : {"a30", "mi300x", "gtx-980"}) {
    const double idle = gpu(name).idle_power->value();
    for (const std::int64_t batch : {1, 256}) {
      const Watts limit = gpu(name).power_limit;
      const SettingRequest settings{.settings = {{}, {.sm_clock = *gpu(name).boost_clock * 0.4, .power_limit = {}}},
                                    .measured = {}};
      std::vector<Prediction> all = shipped().predict(load_of(batch), gpu(name), {}, settings).value();
      all.push_back(shipped().predict(load_of(batch), gpu(name), {}).value());
      for (const Prediction& p : all) {
        EXPECT_GE(p.power.lo.value(), idle * (1 - 1e-9)) << name;
        EXPECT_LE(p.energy.hi.value(), (p.time.hi * limit).value() * (1 + 1e-9)) << name;
        EXPECT_GE(p.energy.hi, p.energy.value) << name;
      }
    }
  }
}

TEST(Predictor, ChoosesAmongWhatIsAllowed) {
  const Workload load = load_of(256, Mode::kTraining);
  const SettingRequest limits = limits_of_an_a100();
  const auto chosen = [&](Objective objective, const Predictor::Allowed& allowed) {
    return shipped().choose(load, gpu("a100"), {}, limits, objective, allowed).value();
  };
  const auto all = [](const Prediction&, const Prediction&) { return true; };
  const SettingChoice energy = chosen(Objective::kEnergy, all);
  const SettingChoice edp = chosen(Objective::kEdp, all);
  EXPECT_TRUE(energy.gain);
  EXPECT_LT(energy.best->energy.value, energy.usual.energy.value);
  EXPECT_LE(energy.best->setting.power_limit, edp.best->setting.power_limit);
  EXPECT_FALSE(chosen(Objective::kTime, all).gain);
  const auto predicted = shipped().predict(load, gpu("a100"), {}, limits).value();
  EXPECT_EQ(energy.usual.energy.value, predicted.front().energy.value) << "those that predict() makes";
  const SettingChoice high = chosen(Objective::kEnergy, [](const Prediction& one, const Prediction& usual) {
    EXPECT_EQ(usual.setting.power_limit, Watts{400});
    return *one.setting.power_limit > Watts{310};
  });
  EXPECT_EQ(high.best->setting.power_limit, Watts{350});
  EXPECT_FALSE(chosen(Objective::kEnergy, [](const Prediction&, const Prediction&) { return false; }).best);
}

// 2.5 % less energy by what is predicted, and not even that is likely to be two.
TEST(Predictor, ASavingMustBeLikely) {
  SettingRequest limits{.settings = {{}}, .measured = {}};
  for (double watts = 380; watts > 210; watts -= 20)
    limits.settings.push_back({.sm_clock = {}, .power_limit = Watts{watts}});
  const auto all = [](const Prediction&, const Prediction&) { return true; };
  const auto chosen = [&](std::int64_t batch) {
    return shipped().choose(load_of(batch), gpu("a100"), {}, limits, Objective::kEnergy, all).value();
  };
  EXPECT_LT(chosen(1).best->energy.value, 0.98 * chosen(1).usual.energy.value);
  EXPECT_FALSE(chosen(1).gain);
  EXPECT_TRUE(chosen(4).gain);
}

// Where nobody swept limits, lower ones that are predicted to take less are pointed out.
TEST(Predictor, SaysThatLowerLimitsWereLeftOut) {
  const auto all = [](const Prediction&, const Prediction&) { return true; };
  const auto floored = [&](std::string_view name, std::vector<double> shares) {
    SettingRequest limits{.settings = {{}}, .measured = {}};
    for (const double share : shares)
      limits.settings.push_back({.sm_clock = {}, .power_limit = gpu(name).power_limit * share});
    return shipped().choose(load_of(1), gpu(name), {}, limits, Objective::kEnergy, all).value().floored;
  };
  EXPECT_TRUE(floored("a100", {0.5, 0.3}));
  EXPECT_FALSE(floored("a100", {0.6, 0.5}));
  EXPECT_FALSE(floored("v100-pcie-16gb", {0.5, 0.44})) << "its limits were swept";
}

// Two measured settings, the lower of which takes three times as long at half of the power: by the law alone a limit
// between them would save, by the curve through them none does.
TEST(Predictor, NoGainContradictsWhatWasMeasured) {
  const auto run = [](std::optional<double> limit, double time, double power) {
    MeasuredRun out{.setting = {}, .time = Seconds{time}, .power = Watts{power}};
    if (limit) out.setting.power_limit = Watts{*limit};
    return out;
  };
  SettingRequest request{.settings = {{}}, .measured = {run({}, 0.08, 440), run(225, 0.25, 220)}};
  for (double watts = 445; watts > 225; watts -= 10)
    request.settings.push_back({.sm_clock = {}, .power_limit = Watts{watts}});
  const SettingChoice found = shipped()
                                  .choose(load_of(256, Mode::kTraining), gpu("rtx-4090"), {}, request,
                                          Objective::kEnergy, [](const Prediction&, const Prediction&) { return true; })
                                  .value();
  EXPECT_FALSE(found.gain && found.best->energy.value >= found.usual.energy.value);
  EXPECT_FALSE(found.gain);
}

TEST(Predictor, FourThreadsPredictWhatOneDoes) {
  const Workload load = load_of(32, Mode::kTraining);
  const double alone = shipped().predict(load, gpu("a30"), {}).value().time.value.value();
  std::vector<double> found(4);
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (double& mine : found) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) mine = shipped().predict(load, gpu("a30"), {}).value().time.value.value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double mine : found) EXPECT_EQ(mine, alone);
}

// Why a pack is not used: not opened, or its forests not, when they are first asked.
std::optional<Error> refusal(const std::string& path) {
  const auto opened = Predictor::open(path);
  if (!opened) return opened.error();
  const auto predicted = opened->predict(load_of(1), gpu("a30"), {});
  return predicted ? std::nullopt : std::optional(predicted.error());
}

// A bit flipped in the middle of a section, which is named once, in the directory (docs/formats/pack.md).
std::string with_damage(std::string pack, const std::string& section) {
  const std::size_t entry = pack.find(section + '\0');
  if (entry == std::string::npos) return pack;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::memcpy(&offset, pack.data() + entry + 72, sizeof offset);
  std::memcpy(&size, pack.data() + entry + 80, sizeof size);
  char& byte = pack.at(offset + size / 2);
  byte = static_cast<char>(byte ^ 1);
  return pack;
}

TEST(Predictor, RefusesPacksItCannotTrust) {
  EXPECT_EQ(Predictor::open("/no/such/pack").error().code(), ErrorCode::kNotFound);
  std::stringstream bytes;
  bytes << std::ifstream(kPack, std::ios::binary).rdbuf();
  const std::string pack = bytes.str();
  const std::string path = temporary("damaged.jcpack");
  const auto refused = [&](const std::string& contents) {
    std::ofstream(path, std::ios::binary) << contents;
    const auto why = refusal(path);
    std::filesystem::remove(path);
    return why && why->code() == ErrorCode::kInvalidInput;
  };
  EXPECT_FALSE(refused(pack));
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused(pack.substr(0, pack.size() / 2)));
  EXPECT_TRUE(refused(with_damage(pack, "time-seen/conv")));  // a forest that answers
}

// Not as one that never heard of clocks: another training does not mend it.
TEST(Predictor, SaysThatWhatItKnowsOfSettingsIsDamaged) {
  std::stringstream bytes;
  bytes << std::ifstream(kPack, std::ios::binary).rdbuf();
  const std::string path = temporary("settings.jcpack");
  std::ofstream(path, std::ios::binary) << with_damage(bytes.str(), "settings");
  const auto predictor = Predictor::open(path);
  ASSERT_TRUE(predictor) << predictor.error().text();
  const auto found = predictor->predict(load_of(1), gpu("a30"), {}, {.settings = {{}}, .measured = {}});
  std::filesystem::remove(path);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::kInvalidInput);
  EXPECT_NE(found.error().text().find("is damaged"), std::string::npos) << found.error().text();
}

// The shipped pack with other forests in the place of its own.
void write_with(const std::string& path, const std::function<Forest(std::string_view section)>& forest_of) {
  const Pack shipped_pack = Pack::open(kPack).value();
  PackWriter writer;
  for (const std::string_view section : shipped_pack.tables()) {
    std::map<std::string, double> numbers;
    const TableView table = shipped_pack.table(section).value();
    for (std::size_t i = 0; i < table.size(); ++i) numbers[std::string(table.key(i))] = table.value(i);
    ASSERT_TRUE(writer.add_table(std::string(section), numbers));
  }
  for (const std::string_view section : shipped_pack.forests()) {
    ASSERT_TRUE(writer.add_forest(std::string(section), forest_of(section)));
  }
  ASSERT_TRUE(writer.write(path));
}

// Of what no prediction has asked for yet, too.
TEST(Predictor, VerifiesTheWholePack) {
  EXPECT_TRUE(shipped().verify());
  std::ostringstream bytes;
  bytes << std::ifstream(kPack, std::ios::binary).rdbuf();
  const std::string path = temporary("verified.jcpack");
  std::ofstream(path, std::ios::binary) << with_damage(bytes.str(), "spread-time/decode");
  const auto predictor = Predictor::open(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(predictor) << predictor.error().text();
  EXPECT_TRUE(predictor->predict(load_of(1), gpu("a30"), {}));
  const auto sound = predictor->verify();
  ASSERT_FALSE(sound);
  EXPECT_TRUE(sound.error().text().starts_with(path + ": ")) << sound.error().text();
  EXPECT_NE(sound.error().text().find("spread-time/decode"), std::string::npos) << sound.error().text();
}

// A pack of another version of the features, sound in itself.
TEST(Predictor, RefusesPacksWithOtherFeatures) {
  const std::string path = temporary("other.jcpack");
  write_with(path, [](std::string_view) {
    Forest forest;
    forest.features = {"something", "else"};
    return forest;
  });
  const auto why = refusal(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code(), ErrorCode::kInvalidInput);
  EXPECT_NE(why->text().find("other features"), std::string::npos) << why->text();
}

TEST(Predictor, KnowsWhetherItsPackHasLearntPower) {
  EXPECT_TRUE(shipped().knows_power(load_of(1)));
  const Pack shipped_pack = Pack::open(kPack).value();
  const std::string path = temporary("powerless.jcpack");
  write_with(path, [&](std::string_view section) {
    Forest forest;
    for (const std::string_view name : shipped_pack.forest(section).value().feature_names()) {
      forest.features.emplace_back(name);
    }
    return forest;
  });
  const auto powerless = Predictor::open(path);
  ASSERT_TRUE(powerless) << powerless.error().text();
  EXPECT_FALSE(powerless->knows_power(load_of(1)));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace joulecast
