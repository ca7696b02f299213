// SPDX-License-Identifier: Apache-2.0
#include "series/aliasing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace joulecast::series {
namespace {

constexpr double kPi = std::numbers::pi;
const PeriodicLoad kSquare{Seconds{0.1}, 0.5, Watts{60}, Watts{190}};

double worst_error_by_simulation(const PeriodicLoad& load, double period, double window, int readings) {
  const double swing = (load.high - load.low).value();
  const auto energy_until = [&](double time) {  // of a load on at the beginning of each period
    const double periods = std::floor(time / load.period.value());
    const double on = *load.duty * load.period.value();
    return load.low.value() * time + swing * (periods * on + std::min(time - periods * load.period.value(), on));
  };
  const double expected = load.low.value() + swing * *load.duty;
  double worst = 0;
  for (int phase = 0; phase < 200; ++phase) {
    double sum = 0;
    for (int i = 0; i < readings; ++i) {
      const double from = phase / 200.0 * load.period.value() + i * period;
      sum += (energy_until(from + window) - energy_until(from)) / window;
    }
    worst = std::max(worst, std::abs(sum / readings / expected - 1));
  }
  return worst;
}

TEST(AliasingByPeriod, ALoadInStepWithAQuarterSensorIsWorthless) {
  const auto doubt = aliasing_by_period(kSquare, meaning(SensorClass::kA), Seconds{8});
  ASSERT_TRUE(doubt);
  EXPECT_TRUE(has(doubt->warnings, Warning::kAliasing));
  // In step nothing averages: a window in the high half reads 190 W instead of 125 W.
  EXPECT_NEAR(worst_error_by_simulation(kSquare, 0.1, 0.025, 80), 65.0 / 125, 1e-9);
  EXPECT_GE(doubt->mean_error, 65.0 / 125);
}

TEST(AliasingByPeriod, BoundsWhatASimulationFinds) {
  for (const double period : {0.083, 0.097, 0.1043, 0.131, 0.05, 0.26}) {
    const PeriodicLoad load{Seconds{period}, 0.4, Watts{60}, Watts{190}};
    const auto doubt = aliasing_by_period(load, meaning(SensorClass::kA), Seconds{8});
    ASSERT_TRUE(doubt);
    const double found = worst_error_by_simulation(load, 0.1, 0.025, 80);
    // What is slower than half the sensor's rate is cut at the ends rather than aliased.
    const double ends = period > 0.2 ? period / 8 : 0;
    EXPECT_LE(found, doubt->mean_error + ends + 1e-9) << period;
  }
}

TEST(AliasingByPeriod, OfAnUnknownDutyTheWorstCounts) {
  // Four readings a period: half of it on is seen rightly, three eighths are not.
  PeriodicLoad load{Seconds{0.4}, 0.5, Watts{100}, Watts{380}};
  EXPECT_FALSE(has(aliasing_by_period(load, meaning(SensorClass::kA), Seconds{20})->warnings, Warning::kAliasing));
  load.duty = 0.375;
  const double worse = aliasing_by_period(load, meaning(SensorClass::kA), Seconds{20})->mean_error;
  EXPECT_GT(worse, 0.1);
  load.duty.reset();
  EXPECT_GE(aliasing_by_period(load, meaning(SensorClass::kA), Seconds{20})->mean_error, worse * 205 / 240);
}

TEST(AliasingByPeriod, OutOfStepItAveragesOut) {
  const PeriodicLoad load{Seconds{0.073}, 0.5, Watts{60}, Watts{190}};
  EXPECT_FALSE(has(aliasing_by_period(load, meaning(SensorClass::kA), Seconds{60})->warnings, Warning::kAliasing));
}

TEST(AliasingByPeriod, ASensorThatSeesAllKeepsTheMeanAndHidesTheSwing) {
  for (const SensorClass sensor : {SensorClass::kB, SensorClass::kC}) {
    const auto doubt = aliasing_by_period(kSquare, meaning(sensor), Seconds{8});
    EXPECT_EQ(doubt->mean_error, 0);
    EXPECT_EQ(doubt->warnings, (Warnings{Warning::kSwingHidden}));
  }
}

TEST(AliasingByPeriod, AWindowOfWholePeriodsSeesTheMean) {
  // Four periods a reading, in step, but each window covers one whole period.
  const PeriodicLoad load{Seconds{0.025}, 0.5, Watts{60}, Watts{190}};
  EXPECT_NEAR(aliasing_by_period(load, meaning(SensorClass::kA), Seconds{8})->mean_error, 0, 1e-12);
}

TEST(AliasingByPeriod, ASlowLoadIsFollowed) {
  const PeriodicLoad load{Seconds{20}, 0.5, Watts{60}, Watts{190}};
  EXPECT_TRUE(aliasing_by_period(load, meaning(SensorClass::kA), Seconds{200})->warnings.empty());
}

TEST(AliasingByPeriod, RefusesWhatIsNotKnown) {
  EXPECT_EQ(aliasing_by_period(kSquare, meaning(SensorClass::kE), Seconds{8}).error().code(), ErrorCode::kUnsupported);
  EXPECT_FALSE(aliasing_by_period({Seconds{0.1}, 0.5, Watts{60}, Watts{60}}, meaning(SensorClass::kA), Seconds{8}));
}

TEST(PeriodOfMarks, OfBeginAndEndOfBursts) {
  std::vector<double> marks;
  for (int i = 0; i < 20; ++i) marks.insert(marks.end(), {i * 0.1, i * 0.1 + 0.03});
  EXPECT_NEAR(period_of_marks(marks, 2)->value(), 0.1, 1e-12);
  EXPECT_FALSE(period_of_marks(marks, 1));  // 30 ms and 70 ms in turn
  EXPECT_FALSE(period_of_marks(std::vector<double>{1, 2, 3}, 1));
}

TEST(PeriodOfMarks, IsNotMovedByAFirstOneThatIsShort) {
  std::vector<double> marks{0.4};
  for (int i = 0; i < 40; ++i) marks.push_back(0.65 + 0.5 * i);
  EXPECT_NEAR(period_of_marks(marks, 1)->value(), 0.5, 1e-9);
}

// From -1 to 1, the same every time and without order.
double scatter(int i) {
  return std::fmod(0.5 + std::sin(12.9898 * i) * 43758.5453, 1.0);
}

TEST(PeriodOfMarks, OfABusyMachineIsThatOfTheGridTheyLieOn) {
  std::vector<double> marks;
  for (int i = 0; i < 500; ++i) marks.push_back(i * 0.0200003 + 0.003 * scatter(i));
  EXPECT_NEAR(period_of_marks(marks, 1)->value(), 0.0200003, 4e-6);
  // A stall, which is made up for.
  for (std::size_t i = 200; i < 210; ++i) marks[i] = marks[210] - 1e-4 * static_cast<double>(210 - i);
  EXPECT_NEAR(period_of_marks(marks, 1)->value(), 0.0200003, 4e-6);
}

TEST(PeriodOfMarks, IsNoneWhereEachTakesItsOwnTime) {
  std::vector<double> marks{0};
  for (int i = 0; i < 500; ++i) marks.push_back(marks.back() + 0.02 + 0.008 * scatter(i));
  EXPECT_FALSE(period_of_marks(marks, 1));
}

TEST(PeriodOfMarks, IsNotHiddenByAPause) {
  std::vector<double> marks;
  for (int i = 0; i < 100; ++i) marks.push_back(i * 0.02 + (i < 50 ? 0 : 7));
  EXPECT_NEAR(period_of_marks(marks, 1)->value(), 0.02, 1e-9);
}

Series waves(double period, double seconds) {
  Series series;
  for (int i = 0; i < static_cast<int>(seconds * 1000); ++i) {
    series.time_s.push_back(i * 0.001);
    series.value.push_back(100 + 50 * std::sin(2 * kPi * i * 0.001 / period));
  }
  return series;
}

TEST(PeriodOf, IsFoundByAutocorrelation) {
  const auto period = period_of(waves(0.104, 4), Seconds{0.01}, Seconds{0.9});
  ASSERT_TRUE(period);
  ASSERT_TRUE(*period);
  EXPECT_NEAR((*period)->value(), 0.104, 0.001);
}

TEST(PeriodOf, AStepHasNone) {
  Series series = waves(0.104, 4);
  for (std::size_t i = 0; i < series.value.size(); ++i) series.value[i] = i < 1500 ? 60 : 200;
  EXPECT_FALSE(*period_of(series, Seconds{0.01}, Seconds{0.9}));
}

TEST(PeriodOf, RipplesOnASlowLoadAreNone) {
  Series series = waves(6, 16);
  for (std::size_t i = 0; i < series.value.size(); ++i)
    series.value[i] += std::sin(2 * kPi * static_cast<double>(i) / 50);
  EXPECT_FALSE(*period_of(series, Seconds{0.01}, Seconds{0.9}));
}

TEST(CompareSources, AWrongGainIsNoAliasing) {
  Series meter = waves(0.104, 8), reading = meter;
  for (double& value : reading.value) value *= 0.95;
  const auto result = compare_sources(reading, meter);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->mean_ratio, 0.95, 1e-3);
  EXPECT_TRUE(result->warnings.empty());
}

TEST(CompareSources, ReadingsThatWanderWhileTheMeterStaysAre) {
  const Series meter = waves(0.104, 16);
  EXPECT_TRUE(has(compare_sources(waves(3.4, 16), meter)->warnings, Warning::kAliasing));
}

TEST(CompareSources, NothingIsClaimedFromLittle) {
  EXPECT_EQ(compare_sources(waves(3.4, 2), waves(0.104, 2))->warnings, (Warnings{Warning::kFewSamples}));
}

}  // namespace
}  // namespace joulecast::series
