// SPDX-License-Identifier: Apache-2.0
#include "series/energy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast::series {
namespace {

constexpr std::uint64_t kWrap32 = std::uint64_t{1} << 32;

TEST(CounterEnergy, IsLastMinusFirstWithTheErrorOfItsStep) {
  // 200 W for 10 s; an update period of 0.1 s.
  const std::vector<CounterReading> readings{{0, 1000}, {5, 1'001'000}, {10, 2'001'000}};
  const Result<Energy> energy = counter_energy(readings);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->value.value(), 2000);
  EXPECT_DOUBLE_EQ(energy->duration.value(), 10);
  EXPECT_DOUBLE_EQ(energy->standard_error.value(), 200 * 0.1 / std::sqrt(6.0));
  EXPECT_TRUE(energy->warnings.empty());
}

TEST(CounterEnergy, CountsOnOverAWrapOf32Bits) {
  const std::vector<CounterReading> readings{{0, kWrap32 - 500'000}, {10, 1'500'000}};
  const Result<Energy> energy = counter_energy(readings);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->value.value(), 2000);
  EXPECT_TRUE(has(energy->warnings, Warning::kCounterWrapped));
}

TEST(CounterEnergy, CountsOnOverAWrapOf64Bits) {
  const std::vector<CounterReading> readings{{0, ~std::uint64_t{0} - 499'999}, {10, 1'500'000}};
  const Result<Energy> energy = counter_energy(readings);
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->value.value(), 2000);
}

TEST(CounterEnergy, ADriverReloadIsNoWrap) {
  // 2^32 mJ are 4.3 MJ: nothing draws them in 10 s.
  const std::vector<CounterReading> readings{{0, 5'000'000}, {10, 1'000'000}};
  const Result<Energy> energy = counter_energy(readings);
  ASSERT_FALSE(energy);
  EXPECT_NE(energy.error().text().find("driver was reloaded"), std::string::npos);
}

TEST(CounterEnergy, AnImpossibleRiseIsDoubted) {
  const std::vector<CounterReading> readings{{0, 0}, {10, 1'000'000'000}};
  const Result<Energy> energy = counter_energy(readings);
  ASSERT_TRUE(energy);
  EXPECT_TRUE(has(energy->warnings, Warning::kImplausibleStep));
}

TEST(CounterEnergy, WithoutAStepIsAbsentNotZero) {
  const std::vector<CounterReading> readings{{0, 1000}, {0.05, 1000}};
  EXPECT_FALSE(counter_energy(readings));
}

TEST(CounterEnergy, AWindowOfFewStepsIsShort) {
  const std::vector<CounterReading> readings{{0, 0}, {1.9, 190'000}};
  EXPECT_TRUE(has(counter_energy(readings)->warnings, Warning::kShortWindow));
}

TEST(TrapezoidEnergy, OfARamp) {
  // 100 W to 300 W over 2 s, and 1 s of 300 W: 400 J + 300 J.
  const Result<Energy> energy = trapezoid_energy({{5, 7, 8}, {100, 300, 300}});
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->value.value(), 700);
  EXPECT_DOUBLE_EQ(energy->duration.value(), 3);
  EXPECT_TRUE(has(energy->warnings, Warning::kFewSamples));
}

TEST(TrapezoidEnergy, ErrorIsOfWhenTheChangeCame) {
  // 100 W -> 220 W within 1 s: 120 J / sqrt(12).
  const Result<Energy> energy = trapezoid_energy({{0, 1, 2, 3}, {100, 100, 220, 220}});
  EXPECT_DOUBLE_EQ(energy->standard_error.value(), 120 / std::sqrt(12.0));
  EXPECT_FALSE(has(energy->warnings, Warning::kGap));
}

TEST(TrapezoidEnergy, AGapAddsTheScatterOverTheMissingTime) {
  // Usual gap 1 s, one of 3 s: 2 s are missing; values 1, 2, 3, 2, 2 have a deviation of sqrt(0.5).
  const Result<Energy> energy = trapezoid_energy({{0, 1, 2, 5, 6}, {1, 2, 3, 2, 2}});
  EXPECT_TRUE(has(energy->warnings, Warning::kGap));
  EXPECT_DOUBLE_EQ(energy->standard_error.value(), std::sqrt((1 + 1 + 9) / 12.0 + 4 * 0.5));
}

TEST(StepEnergy, HeldReadingsLastUntilTheNext) {
  const Series power{{0, 1, 3}, {100, 200, 400}};
  EXPECT_DOUBLE_EQ(step_energy(power, Between::kHeld)->value.value(), 100 + 2 * 200);
  EXPECT_DOUBLE_EQ(step_energy(power, Between::kSinceLast)->value.value(), 200 + 2 * 400);
}

TEST(StepEnergy, OfOneReadingIsAbsent) {
  EXPECT_FALSE(step_energy({{0}, {100}}, Between::kHeld));
  EXPECT_FALSE(trapezoid_energy({{0}, {100}}));
}

TEST(CumulativeEnergy, EndsWithTheWhole) {
  EXPECT_EQ(cumulative_energy({{5, 7, 8}, {100, 300, 300}})->value, (std::vector<double>{0, 400, 700}));
}

TEST(DelayProducts, AreEnergyTimesTime) {
  const Energy energy{Joules{700}, Joules{0}, Seconds{3}, EnergyMethod::kTrapezoid, {}};
  EXPECT_DOUBLE_EQ(energy_delay(energy).value(), 2100);
  EXPECT_DOUBLE_EQ(energy_delay_squared(energy).value(), 6300);
}

TEST(SplitIdle, TakesTheIdlePowerOff) {
  const Energy energy{Joules{700}, Joules{3}, Seconds{2}, EnergyMethod::kTrapezoid, {}};
  const IdleSplit split = split_idle(energy, Watts{50}, Watts{2});
  EXPECT_DOUBLE_EQ(split.above_idle.value(), 600);
  EXPECT_DOUBLE_EQ(*split.idle_share, 1.0 / 7);
  EXPECT_DOUBLE_EQ(split.above_idle_standard_error.value(), 5);  // 3 J and 2 W * 2 s
}

}  // namespace
}  // namespace joulecast::series
