// SPDX-License-Identifier: Apache-2.0
#include "analysis/remaining.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>

namespace joulecast {
namespace {

constexpr MonotonicUs kSecond = 1'000'000;

Event at(MonotonicUs second, EventKind kind, const std::string& name, const std::string& details = {},
         std::int64_t track = 1) {
  return {second * kSecond, kind, track, name, details};
}

TEST(StillToCome, IsTheWarmEpochsMeanForEachThatIsLeft) {
  // The first took 30, the others 9, 11 and 10; of six two are left, and 4 of the fifth are over.
  const auto left = still_to_come({30, 39, 50, 60}, 64, 6);
  ASSERT_TRUE(left);
  EXPECT_DOUBLE_EQ(left->value, 16);
  // The deviation is 1, and of the mean 1/sqrt(3): sqrt(2 + 4/3); Student's 4.303 of three stands for 1.96.
  ASSERT_TRUE(left->error);
  EXPECT_NEAR(*left->error, std::sqrt(10.0 / 3) * 4.30265 / 1.95996, 1e-4);
}

TEST(StillToCome, OfTwoWarmEpochsIsWide) {
  const auto left = still_to_come({30, 39, 50}, 50, 6);
  EXPECT_NEAR(*left->error, std::sqrt(2 * (3 + 9 / 2.0)) * 12.7062 / 1.95996, 1e-3);
}

// Two epochs that look alike by a counter that steps by 60 J.
TEST(StillToCome, IsNoSurerThanTheSourcesSteps) {
  const auto left = still_to_come({100, 400, 700}, 700, 12, 60);
  EXPECT_NEAR(*left->error, 60 * std::hypot(9 / 2.0, 1) / std::sqrt(6.0), 1e-9);
}

TEST(StillToCome, IsNotKnownFromTheFirstEpochAlone) {
  EXPECT_FALSE(still_to_come({}, 5, 3));
  EXPECT_FALSE(still_to_come({30}, 35, 3));
}

TEST(StillToCome, OfOneWarmEpochHasNoError) {
  const auto left = still_to_come({30, 40}, 41, 4);
  ASSERT_TRUE(left);
  EXPECT_DOUBLE_EQ(left->value, 19);
  EXPECT_FALSE(left->error);
}

TEST(StillToCome, IsNeverNegative) {
  EXPECT_DOUBLE_EQ(still_to_come({30, 40}, 75, 3)->value, 0);
  EXPECT_DOUBLE_EQ(still_to_come({30, 40}, 40, 2)->value, 0);
}

// A training of four epochs from second 2 on, the first two of which ended at 12 and 17, with 1000 J and 1500 J.
EpochProgress two_epochs(const std::string& training, const std::string& epoch) {
  EpochProgress out;
  out.hear(at(2, EventKind::kBegin, "training", training), 100);
  for (const auto& [begin, end, energy] : {std::tuple(3, 12, 1000.0), std::tuple(12, 17, 1500.0)}) {
    out.hear(at(begin, EventKind::kBegin, "epoch", epoch), energy);
    out.hear(at(end, EventKind::kEnd, "epoch"), energy);
  }
  return out;
}

TEST(EpochProgress, TellsEpochTimeAndEnergy) {
  EpochProgress run = two_epochs("", "index=1\ttotal=4");
  run.hear(at(17, EventKind::kBegin, "epoch", "index=2\ttotal=4"), 1500);
  const auto left = run.remaining(18 * kSecond, 1600);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->epoch, 3U);
  EXPECT_EQ(left->total, 4U);
  EXPECT_DOUBLE_EQ(left->time_s->value, 9);
  EXPECT_DOUBLE_EQ(left->energy_j->value, 900);
}

TEST(EpochProgress, LikeEpochsAreNotCertain) {
  EpochProgress run = two_epochs("", "index=1\ttotal=9");
  run.hear(at(17, EventKind::kBegin, "epoch", "index=2\ttotal=9"), 1500);
  run.hear(at(22, EventKind::kEnd, "epoch"), 2000);
  // 100 W: 10 J a step of 100 ms.
  EXPECT_NEAR(*run.remaining(22 * kSecond, 2000)->energy_j->error, 10 * std::hypot(3, 1) / std::sqrt(6.0), 1e-9);
}

TEST(EpochProgress, TakesTheTotalOfTheTrainingToo) {
  EXPECT_TRUE(two_epochs("epochs=4", "index=1").remaining(18 * kSecond, 1600));
}

TEST(EpochProgress, KnowsNothingWithoutATotal) {
  EXPECT_FALSE(two_epochs("", "index=1").remaining(18 * kSecond, 1600));
  EXPECT_FALSE(two_epochs("epochs=many", "index=1").remaining(18 * kSecond, 1600));
  EXPECT_FALSE(EpochProgress().remaining(kSecond, 1));
}

TEST(EpochProgress, OfMoreEpochsThanWereSaidIsUnknown) {
  EpochProgress run = two_epochs("epochs=2", "");
  EXPECT_DOUBLE_EQ(run.remaining(17 * kSecond, 1500)->time_s->value, 0);
  run.hear(at(17, EventKind::kBegin, "epoch"), 1500);
  EXPECT_FALSE(run.remaining(18 * kSecond, 1600));
}

TEST(EpochProgress, WithoutEnergyTellsTheTime) {
  EpochProgress run = two_epochs("epochs=4", "");
  EXPECT_FALSE(run.remaining(18 * kSecond, {})->energy_j);
  run.hear(at(17, EventKind::kBegin, "epoch"), {});
  run.hear(at(22, EventKind::kEnd, "epoch"), {});  // nobody knows how much there was here
  const auto left = run.remaining(23 * kSecond, 2000);
  EXPECT_DOUBLE_EQ(left->time_s->value, 4);
  EXPECT_FALSE(left->energy_j);
}

TEST(EpochProgress, IsOverWithTheTrainingAndBeginsAnewWithTheNext) {
  EpochProgress run = two_epochs("epochs=4", "");
  run.hear(at(18, EventKind::kEnd, "training"), 1600);
  EXPECT_FALSE(run.remaining(18 * kSecond, 1600));
  run.hear(at(20, EventKind::kBegin, "training", "epochs=7", 2), 1600);
  run.hear(at(20, EventKind::kBegin, "epoch", "", 2), 1600);
  const auto left = run.remaining(21 * kSecond, 1700);
  EXPECT_EQ(left->epoch, 1U);
  EXPECT_EQ(left->total, 7U);
  EXPECT_FALSE(left->time_s);
}

TEST(EpochProgress, FollowsOneProcess) {
  EpochProgress run = two_epochs("epochs=4", "");
  run.hear(at(17, EventKind::kBegin, "epoch", "total=9", 5), 1500);
  run.hear(at(17, EventKind::kEnd, "training", "", 5), 1500);
  EXPECT_EQ(run.remaining(18 * kSecond, 1600)->total, 4U);
  run.hear(at(17, EventKind::kBegin, "training", "epochs=9", 5), 1500);
  ASSERT_TRUE(run.remaining(18 * kSecond, 1600)) << "another's training is no new one of ours";
  EXPECT_TRUE(run.remaining(18 * kSecond, 1600)->time_s);
}

TEST(EpochProgress, HearsMarksThatAreAProcessEach) {
  EpochProgress run;
  std::int64_t process = 10;
  run.hear(at(2, EventKind::kBegin, "training", "epochs=4", ++process), 100);
  for (const auto& [begin, end, energy] : {std::tuple(3, 12, 1000.0), std::tuple(12, 17, 1500.0)}) {
    run.hear(at(begin, EventKind::kBegin, "epoch", {}, ++process), energy);
    run.hear(at(end, EventKind::kEnd, "epoch", {}, ++process), energy);
  }
  run.hear(at(17, EventKind::kBegin, "epoch", {}, ++process), 1500);
  const auto left = run.remaining(18 * kSecond, 1600);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->epoch, 3U);
  ASSERT_TRUE(left->time_s);
  EXPECT_DOUBLE_EQ(left->time_s->value, 9);
  EXPECT_DOUBLE_EQ(left->energy_j->value, 900);
  run.hear(at(19, EventKind::kEnd, "training", {}, ++process), 1700);
  EXPECT_FALSE(run.remaining(20 * kSecond, 1700));
}

TEST(EpochProgress, OfWorkersInParallelCountsOne) {
  EpochProgress run;
  run.hear(at(1, EventKind::kBegin, "epoch", "total=4", 1), 0);
  run.hear(at(1, EventKind::kBegin, "epoch", "total=4", 2), 0);
  run.hear(at(5, EventKind::kEnd, "epoch", {}, 2), 100);  // its own, not the first one's
  run.hear(at(5, EventKind::kBegin, "epoch", "total=4", 2), 100);
  run.hear(at(6, EventKind::kEnd, "epoch", {}, 1), 120);
  run.hear(at(7, EventKind::kEnd, "epoch", {}, 2), 140);
  run.hear(at(7, EventKind::kBegin, "epoch", "total=4", 2), 140);
  run.hear(at(8, EventKind::kBegin, "epoch", "total=4", 1), 160);
  EXPECT_EQ(run.remaining(9 * kSecond, 180)->epoch, 2U);
}

TEST(EpochProgress, TellsNoEnergyThatTheSensorDoesNotShow) {
  EpochProgress run;
  for (const MonotonicUs second : {1, 2, 3}) {
    run.hear(at(second, EventKind::kBegin, "epoch", "total=9"), 500);
    run.hear(at(second + 1, EventKind::kEnd, "epoch"), 500);
  }
  ASSERT_TRUE(run.remaining(4 * kSecond, 500));
  EXPECT_GT(run.remaining(4 * kSecond, 500)->time_s->value, 0);
  EXPECT_FALSE(run.remaining(4 * kSecond, 500)->energy_j);
  // Nor what has come already, by a sensor that came late, while time is left.
  EXPECT_FALSE(two_epochs("epochs=4", "").remaining(18 * kSecond, 2600)->energy_j);
}

TEST(EpochProgress, OfARunThatWasKilledIsForgottenAtTheNext) {
  EpochProgress run = two_epochs("epochs=4", "");
  run.hear(at(17, EventKind::kBegin, "command", "index=1", kRecorderTrack), 1500);
  EXPECT_FALSE(run.remaining(18 * kSecond, 1600));
  run.hear(at(18, EventKind::kBegin, "epoch", "total=9", 5), 1500);
  EXPECT_EQ(run.remaining(18 * kSecond, 1600)->total, 9U);
}

}  // namespace
}  // namespace joulecast
