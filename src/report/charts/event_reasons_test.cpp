// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "report/charts/charts.h"

namespace joulecast::report {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;
constexpr std::int64_t kPowerLimit = 0x4, kIdle = 0x1, kThermal = 0x20;

// A reading a second of each device.
Recording recording(const std::vector<std::vector<std::int64_t>>& devices) {
  Recording out;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    out.channels.push_back({"gpu" + std::to_string(i), Signal::kEventReasons, "nvml", std::nullopt});
    out.readings.emplace_back();
    for (const std::int64_t bits : devices[i]) {
      out.readings.back().push_back({static_cast<MonotonicUs>(out.readings.back().size()) * kSecond, bits});
    }
  }
  return out;
}

Charts charts_of(const Recording& of) {
  const auto summary = summarize(of);
  return event_reason_charts(RunView("run.jcrun", of, *summary));
}

TEST(EventReasons, AreBandsFromOneReadingToTheNext) {
  const Charts charts = charts_of(recording({{kIdle, kPowerLimit, kPowerLimit | kThermal, 0, kThermal, 0, 0}}));
  ASSERT_EQ(charts.size(), 1U);
  const Json& blocks = charts[0].data["bands"];
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0]["constants"]["row"], "power limit");
  EXPECT_EQ(blocks[0]["columns"], (Json{{"begin_s", {1.0}}, {"end_s", {3.0}}}));
  EXPECT_EQ(blocks[1]["constants"]["row"], "thermal slowdown");
  EXPECT_EQ(blocks[1]["columns"], (Json{{"begin_s", {2.0, 4.0}}, {"end_s", {3.0, 5.0}}}));
  EXPECT_EQ(charts[0].spec["encoding"]["x"]["scale"]["domain"], Json::array({0.0, 6.0}));  // all that was read
}

TEST(EventReasons, ANameTellsTheDeviceWhereThereAreSeveral) {
  const Charts charts = charts_of(recording({{0, kPowerLimit, 0}, {0, 0, kPowerLimit}}));
  const Json& blocks = charts.at(0).data["bands"];
  EXPECT_EQ(blocks[0]["constants"]["row"], "gpu0 power limit");
  EXPECT_EQ(blocks[1]["constants"]["row"], "gpu1 power limit");
  EXPECT_EQ(blocks[1]["columns"]["end_s"], Json::array({2.0}));  // nothing is known after the last reading
}

TEST(EventReasons, NothingIsDrawnOverAGap) {
  Recording run = recording({{kPowerLimit, kPowerLimit, kPowerLimit, kPowerLimit}});
  run.absences.push_back({3 * kSecond / 2, 0, Absence::kTimeout, 1, "timeout"});
  const Charts charts = charts_of(run);
  EXPECT_EQ(charts.at(0).data["bands"][0]["columns"], (Json{{"begin_s", {0.0, 2.0}}, {"end_s", {1.0, 3.0}}}));
}

TEST(EventReasons, WhatFlickersFasterThanAScreenShowsIsJoined) {
  std::vector<std::int64_t> bits;
  for (int i = 0; i < 20'000; ++i) bits.push_back(i % 2 == 0 ? kPowerLimit : 0);
  EXPECT_EQ(charts_of(recording({bits})).at(0).data["bands"][0]["columns"]["begin_s"].size(), 1U);
}

TEST(EventReasons, WithoutASlowdownThereIsNoChart) {
  EXPECT_TRUE(charts_of(recording({{0, kIdle, 0x2}})).empty());
  EXPECT_TRUE(charts_of(recording({{}, {0, 0}})).empty());
}

}  // namespace
}  // namespace joulecast::report
