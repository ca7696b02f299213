// SPDX-License-Identifier: Apache-2.0
#include "measure/meter.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "analysis/summary.h"

namespace joulecast {
namespace {

using std::chrono::milliseconds;

constexpr MonotonicUs kStepUs = 20'000;
constexpr std::int64_t kWatts = 40;

// A minute of a meter's readings, all the same.
std::string write_recording() {
  const std::string path = testing::TempDir() + "meter_test.jcrun";
  auto writer = RecordingWriter::create(path, Existing::kReplace).value();
  const auto channel = writer.channel({"rail", Signal::kPower, "fake", std::nullopt});
  std::vector<Reading> readings;
  for (int i = 0; i < 3000; ++i) readings.push_back({i * kStepUs, 1000 * kWatts});  // milliwatts
  writer.readings(channel, readings);
  writer.end("{}");
  EXPECT_TRUE(writer.flush());
  return path;
}

class MeterTest : public testing::Test {
 protected:
  void SetUp() override {
    MeterOptions options;
    options.sensors.replay = write_recording();
    auto started = Meter::start(options);
    ASSERT_TRUE(started) << started.error().text();
    meter_ = *std::move(started);
  }

  Meter::Window window(const std::string& name, milliseconds time) {
    const auto begun = meter_->begin(name).value();
    std::this_thread::sleep_for(time);
    EXPECT_TRUE(meter_->end(begun));
    return begun;
  }
  RunSummary summary(Meter::Window window) {
    const auto recording = meter_->recording(window);
    EXPECT_TRUE(recording);
    return summarize(*recording).value();
  }
  static double energy_of(const RunSummary& summary) {
    for (const DeviceSummary& device : summary.devices) {
      if (device.device == "rail" && device.energy_j) return device.energy_j->mean;
    }
    return 0;
  }

  std::unique_ptr<Meter> meter_;
};

TEST_F(MeterTest, AWindowHasItsTimeAndEnergy) {
  const RunSummary found = summary(window("step", milliseconds(400)));
  EXPECT_GE(found.time_s.mean, 0.4);
  EXPECT_NEAR(energy_of(found), static_cast<double>(kWatts) * found.time_s.mean, 1e-6);
}

TEST_F(MeterTest, WindowsWithinAreItsPhasesAndOthersAreNot) {
  window("before", milliseconds(20));
  const auto outer = meter_->begin("epoch").value();
  window("step", milliseconds(60));
  window("step", milliseconds(60));
  const auto across = meter_->begin("across").value();
  ASSERT_TRUE(meter_->end(outer));
  ASSERT_TRUE(meter_->end(across));
  const RunSummary found = summary(outer);
  ASSERT_EQ(found.phases.size(), 1U);
  EXPECT_EQ(found.phases[0].name, "step");
  EXPECT_EQ(found.phases[0].time_s.count, 2U);
  EXPECT_TRUE(summary(across).phases.empty());
}

TEST_F(MeterTest, WhichWindowIsWithinTheOtherDoesNotHangOnTheClock) {
  std::vector<Meter::Window> outer;
  for (int i = 0; i < 500; ++i) {  // some pairs end within one microsecond
    outer.push_back(meter_->begin("outer").value());
    const auto across = meter_->begin("across").value();
    ASSERT_TRUE(meter_->end(outer.back()));
    ASSERT_TRUE(meter_->end(across));
  }
  for (const Meter::Window window : outer) EXPECT_EQ(meter_->recording(window)->events.size(), 2U);
}

TEST_F(MeterTest, AWindowEndsOnceAndIsReadAfterwards) {
  const auto open = meter_->begin("open").value();
  EXPECT_EQ(meter_->recording(open).error().text(), "window 'open' has not ended yet");
  ASSERT_TRUE(meter_->end(open));
  EXPECT_EQ(meter_->end(open).error().text(), "window 'open' has ended already");
  EXPECT_FALSE(meter_->begin(""));
}

TEST_F(MeterTest, WhatHasEndedIsKnownAfterTheMeterHas) {
  const auto done = window("done", milliseconds(300));
  ASSERT_TRUE(meter_->finish());
  EXPECT_GT(energy_of(summary(done)), 0);
}

TEST_F(MeterTest, AnEarlyWindowKeepsWhatItNeedsUntilItIsDropped) {
  const auto early = meter_->begin("early").value();
  std::this_thread::sleep_for(milliseconds(600));
  const auto late = window("late", milliseconds(50));
  meter_->drop(late);
  ASSERT_TRUE(meter_->end(early));
  EXPECT_GE(meter_->recording(early)->readings[0].size(), 30U);
  EXPECT_GE(meter_->kept(), 30U);
  meter_->drop(early);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LE(meter_->kept(), 20U);  // a quarter of a second
}

TEST_F(MeterTest, InAProcessForkedOffNothingIsMeasuredAndNothingHangs) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(5);
    const bool refused = !meter_->begin("here") && !meter_->finish();
    meter_.reset();
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(meter_->begin("there"));
}

TEST(Meter, WithoutSensorsThereIsTimeAlone) {
  MeterOptions options;
  options.sensors.root = "/nowhere";
  const auto meter = Meter::start(options).value();
  const auto window = meter->begin("step").value();
  ASSERT_TRUE(meter->end(window));
  const auto found = summarize(meter->recording(window).value());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->devices.empty());
  EXPECT_GT(found->time_s.mean, 0);
}

}  // namespace
}  // namespace joulecast
