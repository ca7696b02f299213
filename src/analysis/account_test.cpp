// SPDX-License-Identifier: Apache-2.0
#include "analysis/account.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;

void add(Recording& recording, Signal signal, const std::string& source, std::vector<Reading> readings) {
  recording.channels.push_back({"gpu0", signal, source, std::nullopt});
  recording.readings.push_back(std::move(readings));
}

// 200 W for ten seconds: a counter that steps by 20 J every 100 ms and is polled every 50 ms.
std::vector<Reading> counter() {
  std::vector<Reading> out;
  for (std::int64_t i = 0; i <= 200; ++i) out.push_back({i * 50'000, 5'000'000'000 + i / 2 * 20'000'000});
  return out;
}

std::vector<Reading> first_readings(std::ptrdiff_t count) {
  const std::vector<Reading> all = counter();
  return {all.begin(), all.begin() + count};
}

// Instants of `watts`, 20 a second, over [from, to] seconds.
std::vector<Reading> instants(std::int64_t watts, std::int64_t from = 0, std::int64_t to = 10) {
  std::vector<Reading> out;
  for (std::int64_t t = from * 20; t <= to * 20; ++t) out.push_back({t * 50'000, watts * 1000});
  return out;
}

TEST(Account, TheCounterIsTheAnswerAndPowerItsWitness) {
  Recording recording;
  add(recording, Signal::kPower, "nvml-instant", instants(198));
  add(recording, Signal::kEnergy, "nvml-counter", counter());
  const auto account = Accountant(recording).account("gpu0", 2 * kSecond, 7 * kSecond);
  ASSERT_EQ(account.energy.size(), 2U);
  EXPECT_EQ(account.energy[0].source, "nvml-counter");
  EXPECT_NEAR(account.energy[0].energy.value(), 1000, 1e-6);
  // A step of 0.1 s in 5 s, over the root of six.
  EXPECT_NEAR(account.energy[0].standard_error.value(), 1000 * 0.1 / 5 / 2.449, 0.01);
  EXPECT_NEAR(account.energy[1].energy.value(), 990, 1e-6);
  EXPECT_NEAR(account.power_w->mean, 200, 1e-6);
  EXPECT_NEAR(account.power_w->low, 198, 1e-6);
  EXPECT_NEAR(account.power_w->high, 198, 1e-6) << "the counter's mean is no reading of power";
  EXPECT_TRUE(account.doubts.empty());
}

// One step of half a second among those of 0.1 s, followed by others: the edges may be as late as that.
TEST(Account, TheLongestStepOfACounterIsItsError) {
  Recording recording;
  std::vector<Reading> steps;
  for (std::int64_t i = 0; i <= 100; ++i) {
    if (i <= 50 || i >= 55) steps.push_back({i * 100'000, i * 20'000'000});
  }
  add(recording, Signal::kEnergy, "nvml-counter", steps);
  const auto account = Accountant(recording).account("gpu0", 2 * kSecond, 7 * kSecond);
  EXPECT_NEAR(account.energy.at(0).standard_error.value(), 1000 * 0.5 / 5 / 2.449, 0.05);
}

TEST(Account, SourcesThatDisagreeAreNamed) {
  Recording recording;
  add(recording, Signal::kPower, "nvml-instant", instants(327));
  add(recording, Signal::kEnergy, "nvml-counter", counter());
  const auto account = Accountant(recording).account("gpu0", 0, 9 * kSecond);
  ASSERT_EQ(account.doubts.size(), 1U);
  EXPECT_NE(account.doubts[0].find("disagree by +64 %"), std::string::npos) << account.doubts[0];
}

TEST(Account, AMeterThatDisagreesIsNamed) {
  Recording recording;
  add(recording, Signal::kPower, "nvml-instant", instants(60));
  add(recording, Signal::kPower, "meter", instants(205));
  const auto doubts_with = [&](const std::string& meter, std::int64_t watts) {
    recording.channels[1].device = meter;
    recording.readings[1] = instants(watts);
    return Accountant(recording).account("gpu0", 0, 9 * kSecond).doubts;
  };
  ASSERT_EQ(doubts_with("gpu0-rail", 205).size(), 1U);
  EXPECT_EQ(doubts_with("gpu0-rail", 205)[0], "gpu0-rail and nvml-instant disagree by +242 %");
  EXPECT_TRUE(doubts_with("gpu0-rail", 62).empty());
  EXPECT_TRUE(doubts_with("gpu01-rail", 205).empty());
  EXPECT_TRUE(doubts_with("meter0", 205).empty());
  recording.readings[0] = instants(60, 7, 10);
  EXPECT_TRUE(doubts_with("gpu0-rail", 205).empty()) << "what covers a third of the time is no witness";
}

TEST(Account, AMeterFarOffASensorThatSeesAPartOfTheTimeIsToBeBelieved) {
  Recording recording;
  recording.head["devices"] = {{{"id", "gpu0"},
                                {"name", "Tesla P100-PCIE-16GB"},
                                {"details", {{"architecture", "pascal"}, {"driver", "535.54"}}}}};
  add(recording, Signal::kPower, "nvml-buffer", instants(60));
  add(recording, Signal::kPower, "meter", instants(150));
  recording.channels[1].device = "gpu0-rail";
  const auto doubts = [&] { return Accountant(recording).account("gpu0", 0, 9 * kSecond).doubts; };
  EXPECT_EQ(doubts(), std::vector<std::string>{"gpu0-rail and nvml-buffer disagree by +150 %: nvml-buffer sees only a "
                                               "part of the time, and its energy may be worthless; believe gpu0-rail"});
  recording.readings[1] = instants(72);
  EXPECT_EQ(doubts(), std::vector<std::string>{"gpu0-rail and nvml-buffer disagree by +20 %"});
}

TEST(Account, ASourceThatSawLittleIsNoAnswer) {
  Recording recording;
  add(recording, Signal::kEnergy, "nvml-counter", first_readings(40));
  add(recording, Signal::kPower, "nvml-instant", instants(200));
  const auto account = Accountant(recording).account("gpu0", 0, 10 * kSecond);
  ASSERT_EQ(account.energy.size(), 2U);
  EXPECT_EQ(account.energy[0].source, "nvml-instant");
  EXPECT_LT(account.energy[1].coverage, 0.25);
}

// As instants(), but with none inside (from, to).
std::vector<Reading> interrupted(MonotonicUs from, MonotonicUs to) {
  std::vector<Reading> out = instants(200);
  std::erase_if(out, [&](const Reading& reading) { return reading.time > from && reading.time < to; });
  return out;
}

TEST(Account, ALongGapBetweenReadingsOfPowerIsNotCovered) {
  Recording recording;
  add(recording, Signal::kPower, "nvml-instant", interrupted(3 * kSecond, 7 * kSecond));
  const Accountant accountant(recording);
  const auto covered = [&](MonotonicUs begin, MonotonicUs end) {
    return accountant.account("gpu0", begin * kSecond, end * kSecond).energy.at(0).coverage;
  };
  EXPECT_NEAR(covered(0, 8), 0.5, 1e-9);
  EXPECT_NEAR(covered(6, 8), 0.5, 1e-9);
  EXPECT_NEAR(covered(0, 4), 0.75, 1e-9);
  EXPECT_NEAR(covered(7, 9), 1, 1e-9);
  EXPECT_TRUE(accountant.account("gpu0", 4 * kSecond, 6 * kSecond).energy.empty());
  EXPECT_FALSE(accountant.energy_curve("gpu0", 0, 8 * kSecond));
}

TEST(Account, AShorterGapMakesTheErrorLarger) {
  Recording recording;
  // 1.05 s is more than five times 50 ms and than a second: it may hold 0 to 420 J.
  add(recording, Signal::kPower, "nvml-instant", interrupted(3 * kSecond, 4 * kSecond + 50'000));
  const auto account = Accountant(recording).account("gpu0", 0, 10 * kSecond + 500'000);
  EXPECT_NEAR(account.energy.at(0).coverage, (10 - 1.05) / 10.5, 1e-9);
  EXPECT_NEAR(account.energy[0].energy.value(), 2100, 1e-6);
  EXPECT_NEAR(account.energy[0].standard_error.value(), 210 / std::sqrt(3) * 1.05, 1e-6);
}

TEST(Account, ABriefGapIsBridged) {
  Recording recording;
  add(recording, Signal::kPower, "nvml-instant", interrupted(3 * kSecond, 4 * kSecond - 50'000));
  const auto account = Accountant(recording).account("gpu0", 0, 10 * kSecond);
  EXPECT_EQ(account.energy.at(0).coverage, 1);
  EXPECT_NEAR(account.energy[0].standard_error.value(), 0, 1e-9);
}

TEST(Account, SlowReadingsAreNoGaps) {
  Recording recording;
  std::vector<Reading> readings;
  for (std::int64_t i = 0; i <= 20; ++i) {
    if (i < 6 || i > 9) readings.push_back({i * 2 * kSecond, 200'000});
  }
  add(recording, Signal::kPower, "smi-power", readings);
  EXPECT_EQ(Accountant(recording).account("gpu0", 0, 40 * kSecond).energy.at(0).coverage, 1);
}

TEST(Account, GapsOfACounterDoNotMatter) {
  Recording recording;
  std::vector<Reading> readings = counter();
  std::erase_if(readings,
                [](const Reading& reading) { return reading.time > 3 * kSecond && reading.time < 7 * kSecond; });
  add(recording, Signal::kEnergy, "nvml-counter", readings);
  const auto account = Accountant(recording).account("gpu0", kSecond, 9 * kSecond);
  EXPECT_EQ(account.energy.at(0).coverage, 1);
  EXPECT_NEAR(account.energy[0].energy.value(), 1600, 1e-6);
}

TEST(Account, WithoutReadingsThereIsNoEnergyAndNotZero) {
  Recording recording;
  add(recording, Signal::kPower, "nvml-instant", {});
  recording.absences.push_back({kSecond, 0, Absence::kDeviceLost, 12, "NVML: GPU is lost (15)"});
  const auto account = Accountant(recording).account("gpu0", 0, 10 * kSecond);
  EXPECT_TRUE(account.energy.empty());
  EXPECT_FALSE(account.power_w);
  ASSERT_EQ(account.doubts.size(), 1U);
  EXPECT_NE(account.doubts[0].find("GPU is lost"), std::string::npos);
}

TEST(Account, AWrappedCounterIsCountedOn) {
  Recording recording;
  std::vector<Reading> readings = counter();
  const std::int64_t wrap = (std::int64_t{1} << 32) * 1000;
  // Such that it wraps in the middle.
  for (Reading& reading : readings) {
    reading.value += wrap - 5'000'000'000 - 1'000'000'000;
    if (reading.value >= wrap) reading.value -= wrap;
  }
  add(recording, Signal::kEnergy, "nvml-counter", readings);
  const auto account = Accountant(recording).account("gpu0", 2 * kSecond, 7 * kSecond);
  ASSERT_EQ(account.energy.size(), 1U);
  EXPECT_NEAR(account.energy[0].energy.value(), 1000, 1e-3);
  EXPECT_EQ(account.doubts.size(), 1U);
}

TEST(Account, EventReasonsSayHowOftenThePowerLimitHeldTheClocks) {
  Recording recording;
  add(recording, Signal::kEventReasons, "nvml",
      {{kSecond, 0x4}, {2 * kSecond, 0x4}, {3 * kSecond, 0x1}, {4 * kSecond, 0}});
  const auto account = Accountant(recording).account("gpu0", 0, 10 * kSecond);
  EXPECT_EQ(account.event_reasons, 0x5U);
  EXPECT_EQ(account.capped_share, 0.5);
}

TEST(Account, EventReasonsThatNobodyReadAreAbsent) {
  Recording recording;
  add(recording, Signal::kPower, "nvml-instant", instants(200));
  const auto account = Accountant(recording).account("gpu0", 0, 10 * kSecond);
  EXPECT_FALSE(account.event_reasons);
  EXPECT_FALSE(account.capped_share);
}

TEST(Account, ALineIsOfOneSourceAlone) {
  Recording recording;
  add(recording, Signal::kPower, "nvml-instant", instants(193));
  add(recording, Signal::kEnergy, "nvml-counter", counter());
  AppliedLine line{"gpu0", "nvml-instant", {}};
  line.line.gain = 0.95;
  line.line.offset = Watts{3};
  const Accountant accountant(recording, {line});
  const auto account = accountant.account("gpu0", 2 * kSecond, 7 * kSecond);
  EXPECT_NEAR(account.energy[0].energy.value(), 1000, 1e-6);
  EXPECT_FALSE(account.energy[0].uncalibrated);
  EXPECT_NEAR(account.energy[1].energy.value(), 1000, 1e-6);
  EXPECT_NEAR(account.energy[1].uncalibrated->value(), 965, 1e-6);
  EXPECT_NEAR(account.power_w->high, 200, 1e-9);
  EXPECT_NEAR(accountant.power(0).value.front(), 200, 1e-9);
}

}  // namespace
}  // namespace joulecast
