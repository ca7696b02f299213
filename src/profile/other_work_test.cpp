// SPDX-License-Identifier: Apache-2.0
#include "profile/other_work.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace joulecast::profile {
namespace {

constexpr double kTicks = 100;

TEST(OtherWork, ProcessorsInQuestionAreAddedUp) {
  const char* const stat =
      "cpu  900 900 900 900 900 900 900 900 900 900\n"
      "cpu0 100 20 30 5000 70 3 4 50 60 0\n"
      "cpu1 1000 0 0 0 0 0 0 0 0 0\n"
      "cpu12 200 0 0 100 0 0 0 7 0 0\n"
      "intr 5 5 5\n";
  const auto use = processor_use(stat, {0, 12, 99}, kTicks);
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(use->busy_s, 1.0 + 0.2 + 0.3 + 0.03 + 0.04 + 2.0);  // neither idle nor waiting, and guests are users
  EXPECT_DOUBLE_EQ(use->stolen_s, 0.5 + 0.07);
  EXPECT_FALSE(processor_use(stat, {3}, kTicks));
  EXPECT_FALSE(processor_use("", {0}, kTicks));
  EXPECT_FALSE(processor_use("cpu0 1", {0}, kTicks));
}

TEST(OtherWork, AProcessHasItsTimeAndThatOfChildrenItWaitedFor) {
  const char* const times = "1 2 3 0 -1 4194560 100 200 300 400 150 50 1000 7 20 0 3 0";
  EXPECT_DOUBLE_EQ(process_seconds(std::string("42 (python3) S ") + times, kTicks).value(), 12.07);
  EXPECT_DOUBLE_EQ(process_seconds(std::string("42 (a) R 5 (b) S ) R ") + times, kTicks).value(), 12.07);
  EXPECT_FALSE(process_seconds("", kTicks));
  EXPECT_FALSE(process_seconds("42 (cut) ", kTicks));
  EXPECT_FALSE(process_seconds("42 (cut) S 1 2 3 0 -1 4194560 100 200 300 400 150", kTicks));
}

// Two seconds on four processors; the runner was busy with one thread of its own throughout.
std::string found(double others_s, double stolen_s, std::size_t threads) {
  constexpr double kOwn = 2;
  const ProcessorUse begin{100, 3, 50}, end{100 + kOwn + others_s, 3 + stolen_s, 50 + kOwn};
  return other_work(begin, end, 2, 4, threads);
}

TEST(OtherWork, ProcessorsThatNoThreadNeedsAreAnybodys) {
  EXPECT_EQ(found(6, 0, 1), "");
  EXPECT_EQ(found(6.2, 0, 1), "other processes");
  EXPECT_EQ(found(2, 0, 3), "");
  EXPECT_EQ(found(2.4, 0, 3), "other processes");
  EXPECT_EQ(found(0.3, 0, 4), "");  // 5 % of eight seconds
  EXPECT_EQ(found(0.5, 0, 4), "other processes");
}

TEST(OtherWork, TheHypervisorTakesWhatItTakes) {
  EXPECT_EQ(found(0, 0.1, 1), "");
  EXPECT_EQ(found(0, 0.2, 1), "the hypervisor");
  EXPECT_EQ(found(0, 0.2, 4), "");
  EXPECT_EQ(found(7, 1, 2), "other processes, the hypervisor");
}

TEST(OtherWork, OfThisMachineItNeedsTwoLooks) {
  OtherWork others(::getpid(), 1);
  EXPECT_EQ(others.since(0), "");
  others.look();
  EXPECT_EQ(others.since(0), "");
  OtherWork gone(-1, 1);
  gone.look();
  gone.look();
  EXPECT_EQ(gone.since(INT64_MAX), "");
}

}  // namespace
}  // namespace joulecast::profile
