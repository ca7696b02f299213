// SPDX-License-Identifier: Apache-2.0
#include "analysis/sensor_doubts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace joulecast {
namespace {

using series::Warning;

constexpr std::int64_t kMicro = 1'000'000;

Recording on(const std::string& architecture, const std::string& name, const std::string& driver = "535.54") {
  Recording out;
  out.damage.complete = true;
  out.head["devices"] = {
      {{"id", "gpu0"}, {"name", name}, {"details", {{"architecture", architecture}, {"driver", driver}}}}};
  return out;
}

// Readings of `watts(t)` every `period_s`, for `seconds`.
void power(Recording& run, const std::string& device, const std::string& source, double period_s, double seconds,
           const std::function<double(double)>& watts) {
  run.channels.push_back({device, Signal::kPower, source, std::nullopt});
  run.readings.emplace_back();
  for (std::int64_t i = 0; static_cast<double>(i) * period_s <= seconds; ++i) {
    const double t = static_cast<double>(i) * period_s;
    run.readings.back().push_back({std::llround(t * kMicro), std::llround(watts(t) * 1000)});
  }
}

void counter(Recording& run, double seconds, double watts) {
  run.channels.push_back({"gpu0", Signal::kEnergy, "nvml-counter", std::nullopt});
  run.readings.emplace_back();
  for (std::int64_t i = 0; i <= std::llround(seconds * 10); ++i) {
    run.readings.back().push_back({i * 100'000, std::llround(static_cast<double>(i) * watts * 100'000)});
  }
}

std::vector<Warning> warnings(const Recording& run) {
  std::vector<Warning> out;
  const RunSummary summary = summarize(run).value();
  for (const SensorDoubt& doubt : summary.sensor_doubts) out.push_back(doubt.warning);
  return out;
}
using List = std::vector<Warning>;

double steady(double t) {
  return 200 + std::sin(37 * t);
}
// What 25 of every 100 ms show of a load that goes on and off every 52 ms: a slow wave.
double wandering(double t) {
  return std::fmod(t, 2.6) < 1.3 ? 290 : 110;
}

TEST(SensorDoubts, ClassesThatSeePartOfTheTimeAreSaid) {
  Recording a100 = on("ampere", "NVIDIA A100-SXM4-40GB");
  power(a100, "gpu0", "nvml-instant", 0.1, 20, steady);
  EXPECT_EQ(warnings(a100), List{Warning::kPartlySeen});
  Recording p100 = on("pascal", "Tesla P100-PCIE-16GB");
  power(p100, "gpu0", "nvml-buffer", 0.02, 20, steady);
  EXPECT_EQ(warnings(p100), List{Warning::kPartlySeen});
  const RunSummary summary = summarize(p100).value();
  EXPECT_EQ(summary.sensor_doubts[0].sensor_class, 'D');
  EXPECT_NE(summary.doubts.back().find("at least 32 times"), std::string::npos) << summary.doubts.back();
}

TEST(SensorDoubts, NoneWhereTheCounterGivesTheAnswer) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  counter(run, 20, 200);
  power(run, "gpu0", "nvml-instant", 0.1, 20, wandering);
  power(run, "meter0", "meter", 0.05, 20, [](double) { return 210; });
  EXPECT_EQ(warnings(run), List{});
}

TEST(SensorDoubts, NoneOfASensorThatSeesAllOfTheTime) {
  Recording run = on("ampere", "NVIDIA GeForce RTX 3090");
  power(run, "gpu0", "nvml-instant", 0.1, 20, steady);
  EXPECT_EQ(warnings(run), List{});
  Recording unknown = on("blackwell", "NVIDIA B200");
  power(unknown, "gpu0", "nvml-instant", 0.1, 20, steady);
  EXPECT_EQ(warnings(unknown), List{});
}

TEST(SensorDoubts, AMeterShowsAliasing) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  power(run, "gpu0", "nvml-instant", 0.1, 20, wandering);
  EXPECT_EQ(warnings(run), List{Warning::kPartlySeen});  // nobody can tell alone
  power(run, "meter0", "meter", 0.05, 20, [](double) { return 210; });
  EXPECT_EQ(warnings(run), (List{Warning::kPartlySeen, Warning::kAliasing}));
}

TEST(SensorDoubts, ASlowMeterShowsAliasingToo) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  power(run, "gpu0", "nvml-instant", 0.1, 120, [](double t) { return std::fmod(t, 26) < 13 ? 290 : 110; });
  power(run, "meter0", "meter", 2, 120, [](double t) { return std::fmod(t, 4) < 2 ? 200 : 214; });
  EXPECT_EQ(warnings(run), (List{Warning::kPartlySeen, Warning::kAliasing}));
}

TEST(SensorDoubts, AMeterThatAgreesShowsNone) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  power(run, "gpu0", "nvml-instant", 0.1, 20, steady);
  power(run, "meter0", "meter", 0.05, 20, [](double) { return 210; });
  EXPECT_EQ(warnings(run), List{Warning::kPartlySeen});
}

TEST(SensorDoubts, AMeterOfAnotherGpuIsNoWitness) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  power(run, "gpu0", "nvml-instant", 0.1, 20, wandering);
  power(run, "gpu1", "nvml-instant", 0.1, 20, steady);
  power(run, "gpu1-rail", "meter", 0.05, 20, [](double) { return 210; });
  EXPECT_EQ(warnings(run), List{Warning::kPartlySeen});
  run.channels.back().device = "gpu0-rail";
  EXPECT_EQ(warnings(run), (List{Warning::kPartlySeen, Warning::kAliasing}));
}

struct Batches {
  std::int64_t track = 7;
  std::string details;
  double busy = 0.5;  // share of the period
};

void batches(Recording& run, std::int64_t period_us, std::int64_t count, const Batches& how = {}) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto busy_us = std::llround(how.busy * static_cast<double>(period_us));
    run.events.push_back({i * period_us, EventKind::kBegin, how.track, "batch", how.details});
    run.events.push_back({i * period_us + busy_us, EventKind::kEnd, how.track, "batch", {}});
  }
}

// Every value twice, so that the update period can be seen.
void updated_each(Recording& run, double period_s) {
  power(run, "gpu0", "nvml-instant", period_s / 2, 20,
        [&](double t) { return wandering(t) + std::fmod(std::floor(t / period_s + 1e-6), 7); });
}

TEST(SensorDoubts, MarkedIterationsInStepShowAliasing) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  updated_each(run, 0.1);
  batches(run, 100'000, 190);
  EXPECT_EQ(warnings(run), (List{Warning::kPartlySeen, Warning::kAliasing}));
  run.events.clear();
  batches(run, 137'000, 140);  // well out of step
  EXPECT_EQ(warnings(run), List{Warning::kPartlySeen});
  run.events.clear();
  batches(run, 2'000'000, 9);  // slow enough to be followed
  EXPECT_EQ(warnings(run), List{Warning::kPartlySeen});
}

TEST(SensorDoubts, IterationsMarkedManyAtATimeAreToldFromTheirSum) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  updated_each(run, 0.1);
  batches(run, 1'000'000, 19, {7, "count=10"});  // each of 100 ms
  EXPECT_EQ(warnings(run), (List{Warning::kPartlySeen, Warning::kAliasing}));
  Recording still = on("ampere", "NVIDIA A100-SXM4-40GB");
  power(still, "gpu0", "nvml-instant", 0.02, 20, [](double) { return 60; });
  batches(still, 1'000'000, 19, {7, "count=10"});
  EXPECT_EQ(warnings(still), (List{Warning::kPartlySeen, Warning::kAliasing}));
}

TEST(SensorDoubts, IterationsWithoutAPauseMayBeAnythingInside) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  updated_each(run, 0.1);
  batches(run, 100'000, 190, {7, {}, 1.0});
  EXPECT_EQ(warnings(run), (List{Warning::kPartlySeen, Warning::kAliasing}));
}

// A card may be off the period of its class.
TEST(SensorDoubts, WhatIsInStepIsToldByThePeriodAsMeasured) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  updated_each(run, 0.131);
  batches(run, 131'000, 140);
  EXPECT_EQ(warnings(run), (List{Warning::kPartlySeen, Warning::kAliasing}));
  run.events.clear();
  batches(run, 100'000, 190);
  EXPECT_EQ(warnings(run), List{Warning::kPartlySeen});
}

// What a sensor of 25 in every 100 ms, polled every 20, shows of 380 and 100 W in turn; the energy is 240 W's.
Recording square(double half_s, std::int64_t marks, double busy) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  for (const char* source : {"nvml-instant", "nvml-power-usage"}) {
    power(run, "gpu0", source, 0.02, 2 * half_s * static_cast<double>(marks), [&](double t) {
      const double update = std::floor(t / 0.1 + 1e-6) * 0.1;
      return std::fmod(update + 0.03, 2 * half_s) < half_s ? 380 : 100;
    });
  }
  batches(run, std::llround(2 * half_s * kMicro), marks, {7, {}, busy});
  return run;
}

TEST(SensorDoubts, ASquareWaveHidesNotItsOwnStepWithTheSensor) {
  for (const std::int64_t marks : {10, 20, 30, 100}) {
    const RunSummary summary = summarize(square(0.25, marks, 0.5)).value();
    ASSERT_EQ(summary.sensor_doubts.size(), 2U) << marks;
    const std::string& text = summary.sensor_doubts[1].text;
    EXPECT_NE(text.find("every 500 ms, in step with the sensor's 100 ms; its energy may be up to"), std::string::npos)
        << text;
    // A reading of five is on the wrong side at most: half of 280 W / 5 / 240 W, and no more than twice that is said.
    const int off = std::stoi(text.substr(text.find("up to ") + 6));
    EXPECT_GE(off, 12);
    EXPECT_LE(off, 24);
    EXPECT_EQ(text.find("worthless"), std::string::npos);
  }
}

// Four readings a period, two of which are on: right, whatever the phase.
TEST(SensorDoubts, AKnownSquareWaveOfFourPeriodsIsSeenRightly) {
  EXPECT_EQ(warnings(square(0.2, 20, 0.5)), List{Warning::kPartlySeen});
  // Of what fills its period nobody knows that.
  EXPECT_EQ(warnings(square(0.2, 20, 1)), (List{Warning::kPartlySeen, Warning::kAliasing}));
}

TEST(SensorDoubts, WhatAliasesHasNoErrorThatIsKnown) {
  const RunSummary summary = summarize(square(0.25, 20, 0.5)).value();
  EXPECT_TRUE(summary.devices[0].energy_j);
  EXPECT_FALSE(summary.devices[0].standard_error_j);
  EXPECT_FALSE(summary.phases.at(0).standard_error_j.at(0));
  EXPECT_TRUE(aliases(summary, "gpu0", "nvml-instant"));
  EXPECT_FALSE(aliases(summary, "gpu0", "nvml-counter"));
  EXPECT_TRUE(summarize(square(0.2, 20, 0.5)).value().devices[0].standard_error_j);
}

TEST(SensorDoubts, TheRecordersOwnPhasesAreNoLoad) {
  Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
  updated_each(run, 0.1);
  batches(run, 100'000, 190, {kRecorderTrack, {}});
  EXPECT_EQ(warnings(run), List{Warning::kPartlySeen});
}

TEST(SensorDoubts, ReadingsThatStandStillInStepWithMarksAreWorthless) {
  const auto aliased = [](std::int64_t period_us) {
    Recording run = on("ampere", "NVIDIA A100-SXM4-40GB");
    power(run, "gpu0", "nvml-instant", 0.02, 20, [](double t) { return std::fmod(t, 0.2) < 0.1 ? 60 : 61; });
    batches(run, period_us, 20 * kMicro / period_us);
    const List found = warnings(run);
    return std::find(found.begin(), found.end(), Warning::kAliasing) != found.end();
  };
  // Of 25 ms in every 100 ms.
  for (const std::int64_t in_step : {100'000, 102'000, 98'000, 200'000, 300'000, 50'000}) {
    EXPECT_TRUE(aliased(in_step)) << in_step;
  }
  // Out of step; shown at ten moments; within the window.
  for (const std::int64_t seen : {137'000, 120'000, 1'000'000, 25'000}) EXPECT_FALSE(aliased(seen)) << seen;
}

// Marks of a busy machine come up to 3 ms late, while what they mark keeps its pace.
TEST(SensorDoubts, MarksThatComeLateHideNoStepWithTheSensor) {
  Recording run = on("pascal", "Tesla P100-PCIE-16GB");
  power(run, "gpu0", "nvml-buffer", 0.02, 6, [](double) { return 60; });
  for (std::int64_t i = 0; i < 290; ++i) {
    const std::int64_t late = (i * 7919) % 6000 - 3000;
    run.events.push_back({3000 + i * 20'000 + late, EventKind::kBegin, 7, "batch", {}});
    run.events.push_back({3000 + i * 20'000 + late + 8000, EventKind::kEnd, 7, "batch", {}});
  }
  EXPECT_EQ(warnings(run), (List{Warning::kPartlySeen, Warning::kAliasing}));
}

TEST(SensorDoubts, StillReadingsOfASensorThatSeesAllAreGood) {
  Recording run = on("ampere", "NVIDIA GeForce RTX 3090");
  power(run, "gpu0", "nvml-instant", 0.02, 20, [](double) { return 60; });
  batches(run, 100'000, 190);
  EXPECT_EQ(warnings(run), List{});
}

TEST(SensorDoubts, MeansOfASecondAreMendedOrRefused) {
  Recording run = on("hopper", "NVIDIA H100 PCIe");
  power(run, "gpu0", "nvml-average", 0.1, 20, steady);
  EXPECT_EQ(warnings(run), List{Warning::kOneSecondAverage});
  Recording brief = on("hopper", "NVIDIA H100 PCIe");
  power(brief, "gpu0", "nvml-average", 0.1, 1.5, [](double) { return 200; });
  EXPECT_EQ(warnings(brief), List{Warning::kShortWindow});
  EXPECT_FALSE(summarize(brief).value().devices[0].energy_j);
  for (const std::int64_t begin : {100'000, 800'000}) {
    brief.events.push_back({begin, EventKind::kBegin, kRecorderTrack, "command", {}});
    brief.events.push_back({begin + 600'000, EventKind::kEnd, kRecorderTrack, "command", {}});
  }
  EXPECT_EQ(warnings(brief), List{Warning::kShortWindow}) << "once for all repeats";
  counter(brief, 1.5, 200);
  EXPECT_EQ(warnings(brief), List{});
}

TEST(SensorDoubts, SlowSensorsNeedLongRunsAndEstimatesAreRefused) {
  Recording slow = on("kepler", "Tesla K80", "460.1");
  power(slow, "gpu0", "nvml-power-usage", 0.1, 20, steady);
  EXPECT_EQ(warnings(slow), List{Warning::kSlowSensor});
  EXPECT_TRUE(summarize(slow).value().devices[0].energy_j);
  Recording brief = on("kepler", "Tesla K40m", "460.1");
  power(brief, "gpu0", "nvml-power-usage", 0.015, 4, steady);
  EXPECT_EQ(warnings(brief), List{Warning::kSlowSensor});
  EXPECT_FALSE(summarize(brief).value().devices[0].energy_j);
  Recording estimated = on("", "Tesla M2090", "390.1");
  power(estimated, "gpu0", "smi-power", 0.1, 60, steady);
  EXPECT_EQ(warnings(estimated), List{Warning::kEstimatedSensor});
  EXPECT_FALSE(summarize(estimated).value().devices[0].energy_j);
}

TEST(SensorDoubts, AnImportWithoutDriverKnowsTheClassOnlyWhereAllDriversAgree) {
  Recording volta = on("", "Tesla V100-SXM2-16GB", "");
  power(volta, "gpu0", "smi-power", 0.5, 20, steady);
  EXPECT_EQ(warnings(volta), List{Warning::kPartlySeen});
  Recording ampere = on("", "NVIDIA GeForce RTX 3090", "");
  power(ampere, "gpu0", "smi-power", 0.5, 20, steady);
  EXPECT_EQ(warnings(ampere), List{});
}

}  // namespace
}  // namespace joulecast
