// SPDX-License-Identifier: Apache-2.0
#include "profile/timed_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace joulecast::profile {
namespace {

// Says what it is told to; a request takes it from one second to two.
class SayingRunner : public Runner {
 public:
  explicit SayingRunner(std::string reply) : reply_(std::move(reply)) {}
  Result<Reply> request(std::string_view /*lines*/, Seconds /*timeout*/) override {
    now_us_ = 2'000'000;
    return Reply::parse(reply_);
  }
  [[nodiscard]] std::int64_t now_us() const override { return now_us_; }

 private:
  std::string reply_;
  std::int64_t now_us_ = 1'000'000;
};

Result<TimedWindow> told(std::string reply) {
  SayingRunner runner(std::move(reply));
  return timed_run(runner, 100, Seconds{1});
}

std::string refusal(std::string reply) {
  const auto window = told(std::move(reply));
  return window ? "" : window.error().text();
}

TEST(TimedRun, WhatCanBeTrueIsBelieved) {
  const TimedWindow window = told("ok iterations=100 begin_us=1100000 end_us=1900000 host_s=0.2 device_s=0.7").value();
  EXPECT_DOUBLE_EQ(window.clock_s(), 0.8);
  EXPECT_DOUBLE_EQ(window.iteration_s(), 0.007);
  EXPECT_TRUE(told("ok iterations=100 begin_us=1000000 end_us=2000000 host_s=0"));
  EXPECT_TRUE(told("ok iterations=100 begin_us=999500 end_us=2000500 host_s=0"));  // rounded
}

TEST(TimedRun, OtherIterationsThanWereAskedForAreNoMeasurement) {
  EXPECT_EQ(refusal("ok iterations=1 begin_us=1100000 end_us=1900000 host_s=0.2"),
            "the runner was asked for 100 iterations and tells of 1");
  EXPECT_EQ(refusal("ok begin_us=1100000 end_us=1900000 host_s=0.2"),
            "the runner was asked for 100 iterations and tells of none");
}

TEST(TimedRun, EdgesLieBetweenRequestAndReply) {
  EXPECT_EQ(refusal("ok iterations=100 begin_us=900000 end_us=1900000 host_s=0.2"),
            "the runner tells of work that began 0.1 s before it was asked for");
  EXPECT_EQ(refusal("ok iterations=100 begin_us=1100000 end_us=1000002000000 host_s=0.2"),
            "the runner tells of work that ended 1e+06 s after the reply");
  EXPECT_NE(refusal("ok iterations=100 begin_us=-9223372036854775808 end_us=9223372036854775807 host_s=0.2"), "");
}

TEST(TimedRun, TimePasses) {
  EXPECT_EQ(refusal("ok iterations=100 begin_us=1100000 end_us=1100000 host_s=0.2"),
            "the runner tells of 100 iterations that took 0 us");
  EXPECT_NE(refusal("ok iterations=100 begin_us=1900000 end_us=1100000 host_s=0.2"), "");
  // Less than a microsecond is nothing in microseconds.
  SayingRunner one("ok iterations=1 begin_us=1100000 end_us=1100000 host_s=0");
  EXPECT_DOUBLE_EQ(timed_run(one, 1, Seconds{1}).value().clock_s(), 1e-6);
}

TEST(TimedRun, TimesOfHostAndDeviceAreTimes) {
  for (const char* odd : {"host_s=nan", "host_s=-1", "host_s=inf", "host_s=0.1 device_s=nan", "host_s=0.1 device_s=0",
                          "host_s=0.1 device_s=-1", "host_s=0.1 device_s=0.9"}) {
    EXPECT_NE(refusal(fmt::format("ok iterations=100 begin_us=1100000 end_us=1900000 {}", odd)), "") << odd;
  }
}

}  // namespace
}  // namespace joulecast::profile
