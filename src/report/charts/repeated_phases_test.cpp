// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "report/charts/charts.h"

namespace joulecast::report {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;

// 200 W, and phases of a second, one after the other.
Recording recording(std::size_t phases, const std::string& details) {
  Recording out;
  out.channels.push_back({"gpu0", Signal::kPower, "nvml-instant", std::nullopt});
  out.readings.emplace_back();
  const auto end = static_cast<MonotonicUs>(phases) * kSecond;
  for (MonotonicUs time = 0; time <= end; time += kSecond / 4) out.readings[0].push_back({time, 200'000});
  for (MonotonicUs time = 0; time < end; time += kSecond) {
    out.events.push_back({time, EventKind::kBegin, 3, "batch", details});
    out.events.push_back({time + kSecond, EventKind::kEnd, 3, "batch", {}});
  }
  return out;
}

Charts charts_of(const Recording& of) {
  const auto summary = summarize(of);
  return repeated_phase_charts(RunView("run.jcrun", of, *summary));
}

TEST(RepeatedPhases, StepsThatWereMarkedTogetherCountEach) {
  const Charts charts = charts_of(recording(4, "count=25"));
  ASSERT_EQ(charts.size(), 2U);
  const Json& time = charts[0].data["boxes"][0]["columns"];
  EXPECT_EQ(time["count"], Json::array({100}));
  EXPECT_EQ(time["median"], Json::array({0.04})) << "of one step";
  EXPECT_TRUE(charts[0].caption.starts_with("100 of them, marked in 4 parts that stand with their means. "))
      << charts[0].caption;
  const Json& energy = charts[1].data["boxes"][0]["columns"];
  EXPECT_EQ(energy["count"], Json::array({100}));
  EXPECT_EQ(energy["median"], Json::array({8.0}));
}

TEST(RepeatedPhases, ThoseThatAreNotDrawnAreCounted) {
  const Charts charts = charts_of(recording(2001, {}));
  EXPECT_EQ(charts.at(0).data["boxes"][0]["columns"]["count"], Json::array({2001}));
  EXPECT_TRUE(charts[0].caption.starts_with("2001 of them; one of 3 is drawn. ")) << charts[0].caption;
  EXPECT_TRUE(charts_of(recording(3, {}))[0].caption.starts_with("3 of them. "));
}

}  // namespace
}  // namespace joulecast::report
