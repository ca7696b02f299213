// SPDX-License-Identifier: Apache-2.0
// Readings of the stand-in's GPUs, worked out by hand.
#include "model.h"

#include <gtest/gtest.h>

#include "defaults.h"

namespace joulecast::nvml {
namespace {

constexpr Nanoseconds ms(Nanoseconds count) {
  return count * kMillisecond;
}

// An H100 with 70 W of idle, clocks of 1980, 1965 ... 210 MHz and a limit of 700 W.
GpuSpec h100(Load load, const std::string& driver = "550.54.15") {
  GpuSpec spec;
  spec.load = std::move(load);
  set_sensor_defaults(spec, driver);
  complete(spec, 0);
  return spec;
}

Load constant(double watts) {
  return {{{0, watts}}, 0};
}
Load square(double high, double low, Nanoseconds period) {
  return {{{0, high}, {period / 2, low}}, period};
}
Load step(double before, Nanoseconds at, double after) {
  return {{{0, before}, {at, after}}, 0};
}

Change limit(Nanoseconds at, std::uint32_t mw) {
  return {at, 0, Setting::kPowerLimit, Pair{mw, 0}};
}

TEST(StandinModel, InstantSeesOnlyTheWindowBeforeTheLastUpdate) {
  const GpuSpec spec = h100(square(300, 100, ms(200)));
  const GpuModel gpu(spec);
  EXPECT_DOUBLE_EQ(gpu.instant_w(ms(99)), 100);  // 75..100 ms of the period before
  EXPECT_DOUBLE_EQ(gpu.instant_w(ms(100)), 300);
  EXPECT_DOUBLE_EQ(gpu.instant_w(ms(199)), 300);  // the load fell at 100 ms
  EXPECT_DOUBLE_EQ(gpu.instant_w(ms(200)), 100);
}

TEST(StandinModel, ALoadInStepWithAHalfBlindSensorReadsWrong) {
  GpuSpec spec = h100(square(300, 100, ms(20)));
  set_sensor_class(spec.sensor, 'D');
  const GpuModel gpu(spec);
  EXPECT_DOUBLE_EQ(gpu.mean_w(0, kSecond), 200);
  for (Nanoseconds at = 0; at < ms(200); at += ms(7)) EXPECT_DOUBLE_EQ(gpu.instant_w(at), 100);
}

TEST(StandinModel, AverageFollowsOverOneSecond) {
  const GpuSpec spec = h100(step(100, 5 * kSecond, 300));
  const GpuModel gpu(spec);
  EXPECT_DOUBLE_EQ(gpu.average_w(5 * kSecond), 100);
  EXPECT_DOUBLE_EQ(gpu.average_w(5 * kSecond + ms(520)), 200);
  EXPECT_DOUBLE_EQ(gpu.average_w(6 * kSecond), 300);
  EXPECT_DOUBLE_EQ(gpu.instant_w(5 * kSecond + ms(100)), 300);
}

TEST(StandinModel, AnRcSensorCharges) {
  GpuSpec spec = h100(step(100, 10 * kSecond, 300));
  set_sensor_class(spec.sensor, 'E');
  spec.sensor.rise = ms(300);
  const GpuModel gpu(spec);
  EXPECT_NEAR(gpu.instant_w(10 * kSecond + ms(300)), 300 - 200 / 2.718281828, 0.02);
}

TEST(StandinModel, TheOldCallMeansWhatArchitectureAndDriverMakeOfIt) {
  const auto is_average = [](const char* name, Architecture architecture, const char* driver) {
    GpuSpec spec;
    spec.name = name;
    spec.architecture = architecture;
    set_sensor_defaults(spec, driver);
    return spec.sensor.legacy_is_average;
  };
  EXPECT_TRUE(is_average("NVIDIA H100 PCIe", Architecture::kHopper, "525.105.17"));
  EXPECT_TRUE(is_average("NVIDIA GeForce RTX 3090", Architecture::kAmpere, "525.89.02"));
  EXPECT_FALSE(is_average("NVIDIA GeForce RTX 3090", Architecture::kAmpere, "530.30.02"));
  EXPECT_TRUE(is_average("NVIDIA GeForce RTX 3090", Architecture::kAmpere, "535.54.03"));
  EXPECT_FALSE(is_average("NVIDIA A100-SXM4-40GB", Architecture::kAmpere, "535.54.03"));
  EXPECT_FALSE(is_average("NVIDIA TITAN RTX", Architecture::kTuring, "535.54.03"));
}

TEST(StandinModel, CounterStepsAndWraps) {
  GpuSpec spec = h100(constant(400));
  const GpuModel gpu(spec);
  EXPECT_EQ(gpu.counter_mj(ms(99)), 123'456'789U);
  EXPECT_EQ(gpu.counter_mj(ms(950)), 123'816'789U);
  spec.counter.start_mj = (std::uint64_t{1} << 32) - 200'000;
  spec.counter.bits = 32;
  const GpuModel wrapping(spec);
  EXPECT_EQ(wrapping.counter_mj(ms(400)), 4'294'927'296U);
  EXPECT_EQ(wrapping.counter_mj(ms(600)), 40'000U);
}

TEST(StandinModel, CounterSumsTheSameInPiecesAndAtOnce) {
  const GpuSpec spec = h100(square(312.5, 101.25, ms(7)));
  const GpuModel often(spec);
  std::uint64_t last = 0;
  for (Nanoseconds at = 0; at <= 20 * kSecond; at += ms(13)) last = often.counter_mj(at);
  const GpuModel once(spec);
  EXPECT_NEAR(static_cast<double>(last), static_cast<double>(once.counter_mj(20 * kSecond)), 100 * 312.5);
  EXPECT_NEAR(static_cast<double>(often.counter_mj(20 * kSecond)), static_cast<double>(once.counter_mj(20 * kSecond)),
              1);
}

TEST(StandinModel, LimitCutsPowerAndClock) {
  const GpuSpec spec = h100(constant(600));
  GpuModel gpu(spec);
  gpu.apply(limit(kSecond, 335'000));
  EXPECT_DOUBLE_EQ(gpu.condition(ms(999)).power_w, 600);
  EXPECT_EQ(gpu.condition(ms(999)).sm_clock_mhz, 1980U);
  EXPECT_FALSE(gpu.condition(ms(999)).capped);
  // Half of the 530 W above idle are left: the clock may be 0.5^(1/3) of 1980, that is 1571 MHz.
  EXPECT_DOUBLE_EQ(gpu.condition(kSecond).power_w, 335);
  EXPECT_EQ(gpu.condition(kSecond).sm_clock_mhz, 1560U);
  EXPECT_TRUE(gpu.condition(kSecond).capped);
  EXPECT_DOUBLE_EQ(gpu.energy_j(0, 2 * kSecond), 935);
}

TEST(StandinModel, LockedClocksLowerPowerAndSupersedeApplicationClocks) {
  const GpuSpec spec = h100(constant(600));
  GpuModel gpu(spec);
  gpu.apply({0, 0, Setting::kApplicationClocks, Pair{2619, 1500}});
  EXPECT_EQ(gpu.condition(0).sm_clock_mhz, 1500U);
  gpu.apply({kSecond, 0, Setting::kSmLock, Pair{210, 1000}});
  EXPECT_EQ(gpu.condition(kSecond).sm_clock_mhz, 990U);  // half of 1980: an eighth of the 530 W
  EXPECT_DOUBLE_EQ(gpu.condition(kSecond).power_w, 70 + 530.0 / 8);
  EXPECT_TRUE(gpu.condition(kSecond).clocks_bound);
  gpu.apply({2 * kSecond, 0, Setting::kSmLock, std::nullopt});
  EXPECT_EQ(gpu.condition(2 * kSecond).sm_clock_mhz, 1500U);
}

TEST(StandinModel, LimitsOfOthersEnforceButDoNotAsk) {
  GpuSpec spec = h100(constant(600));
  spec.out_of_band = {{kSecond, 350'000}, {2 * kSecond, std::nullopt}};
  const GpuModel gpu(spec);
  EXPECT_EQ(gpu.enforced_limit_mw(ms(999)), 700'000U);
  EXPECT_EQ(gpu.enforced_limit_mw(kSecond), 350'000U);
  EXPECT_EQ(gpu.requested_limit_mw(kSecond), 700'000U);
  EXPECT_EQ(gpu.enforced_limit_mw(2 * kSecond), 700'000U);
  EXPECT_DOUBLE_EQ(gpu.energy_j(0, 3 * kSecond), 600 + 350 + 600);
}

TEST(StandinModel, ReadingsHaveTheSensorsError) {
  GpuSpec spec = h100(constant(300));
  spec.sensor.gain = 0.95;
  spec.sensor.offset_w = 5;
  spec.counter.start_mj = 0;
  const GpuModel gpu(spec);
  EXPECT_DOUBLE_EQ(gpu.instant_w(kSecond), 290);
  EXPECT_EQ(gpu.counter_mj(kSecond), 290'000U);
  EXPECT_DOUBLE_EQ(gpu.mean_w(0, kSecond), 300);
}

TEST(StandinModel, ALimitBelowIdleLeavesIdle) {
  GpuSpec spec = h100(constant(60));
  const GpuModel idle(spec);
  EXPECT_TRUE(idle.condition(0).idle);
  EXPECT_EQ(idle.condition(0).sm_clock_mhz, 210U);
  spec.load = constant(600);
  GpuModel gpu(spec);
  gpu.apply(limit(0, 50'000));
  EXPECT_DOUBLE_EQ(gpu.condition(0).power_w, 70);
}

}  // namespace
}  // namespace joulecast::nvml
