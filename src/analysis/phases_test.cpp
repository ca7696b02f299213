// SPDX-License-Identifier: Apache-2.0
#include "analysis/phases.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

Event at(MonotonicUs time, EventKind kind, const std::string& name, std::int64_t track = 1) {
  return {time, kind, track, name, {}};
}

TEST(Phases, NestAndOverlap) {
  Recording recording;
  recording.events = {at(0, EventKind::kBegin, "train"), at(10, EventKind::kBegin, "epoch"),
                      at(15, EventKind::kBegin, "save"), at(20, EventKind::kEnd, "epoch"),
                      at(25, EventKind::kEnd, "save"),   at(30, EventKind::kEnd, "train")};
  const auto phases = phases_of(recording).phases;
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_EQ(phases[0].end, 30);
  EXPECT_EQ(phases[1].end, 20);
  EXPECT_EQ(phases[2].end, 25);
}

TEST(Phases, AnEndClosesTheInnermostOfItsNameAndSender) {
  Recording recording;
  recording.events = {at(0, EventKind::kBegin, "a", 1), at(1, EventKind::kBegin, "a", 2),
                      at(2, EventKind::kBegin, "a", 1), at(3, EventKind::kEnd, "a", 1),
                      at(4, EventKind::kEnd, "a", 1),   at(5, EventKind::kEnd, "b", 1)};
  recording.clocks = {{9, 9}};
  const Phases phases = phases_of(recording);
  ASSERT_EQ(phases.phases.size(), 3U);
  EXPECT_EQ(phases.phases[0].end, 4);
  EXPECT_EQ(phases.phases[2].end, 3);
  EXPECT_TRUE(phases.phases[1].open);
  EXPECT_EQ(phases.phases[1].end, 9);
  EXPECT_EQ(phases.stray_ends, 1U);
}

TEST(Phases, AnotherProcessMayEndWhatOneBegan) {
  Recording recording;
  recording.events = {at(0, EventKind::kBegin, "load", 7), at(5, EventKind::kEnd, "load", 8),
                      at(6, EventKind::kBegin, "command", 0), at(7, EventKind::kEnd, "command", 8)};
  recording.clocks = {{9, 9}};
  const Phases phases = phases_of(recording);
  EXPECT_EQ(phases.phases[0].end, 5);
  // But not the recorder's own.
  EXPECT_TRUE(phases.phases[1].open);
  EXPECT_EQ(phases.stray_ends, 1U);
}

TEST(Phases, TheRecorderEndsNobodysPhases) {
  Recording recording;
  recording.events = {at(0, EventKind::kBegin, "command", 7), at(5, EventKind::kEnd, "command", kRecorderTrack)};
  recording.clocks = {{9, 9}};
  const Phases phases = phases_of(recording);
  EXPECT_TRUE(phases.phases.at(0).open);
  EXPECT_EQ(phases.stray_ends, 1U);
}

TEST(Phases, AnEndWithAnIdClosesTheBeginWithThatId) {
  Recording recording;
  recording.events = {{0, EventKind::kBegin, 1, "request", "id=1"},
                      {1, EventKind::kBegin, 1, "request", "user=2\tid=2"},
                      {5, EventKind::kEnd, 1, "request", "id=1"},
                      {6, EventKind::kEnd, 1, "request", "id=3"},
                      {7, EventKind::kEnd, 1, "request", "id=2"}};
  const Phases phases = phases_of(recording);
  ASSERT_EQ(phases.phases.size(), 2U);
  EXPECT_EQ(phases.phases[0].end, 5);
  EXPECT_EQ(phases.phases[1].end, 7);
  EXPECT_EQ(phases.stray_ends, 1U);
}

TEST(Phases, OfAWarmUpAreLeftOut) {
  Recording recording;
  recording.events = {at(0, EventKind::kBegin, "warmup", kRecorderTrack),
                      at(1, EventKind::kBegin, "epoch", 7),
                      at(2, EventKind::kEnd, "epoch", 7),
                      at(3, EventKind::kBegin, "save", 7),  // never ended
                      at(5, EventKind::kEnd, "warmup", kRecorderTrack),
                      at(5, EventKind::kBegin, "command", kRecorderTrack),
                      at(5, EventKind::kBegin, "epoch", 8),
                      at(7, EventKind::kBegin, "warmup", 8),  // a phase like any other
                      at(8, EventKind::kBegin, "load", 8),
                      at(9, EventKind::kEnd, "command", kRecorderTrack)};
  const auto phases = phases_of(recording).phases;
  ASSERT_EQ(phases.size(), 5U);
  EXPECT_EQ(phases[0].name, "warmup");
  EXPECT_EQ(phases[1].name, "command");
  EXPECT_EQ(phases[2].track, 8);
  EXPECT_EQ(phases[3].track, 8);
  EXPECT_EQ(phases[4].name, "load");
}

TEST(Phases, WhatNobodyEndedIsOverWithItsCommand) {
  Recording recording;
  recording.events = {at(0, EventKind::kBegin, "command", kRecorderTrack), at(2, EventKind::kBegin, "epoch", 7),
                      at(5, EventKind::kEnd, "command", kRecorderTrack),
                      at(6, EventKind::kBegin, "command", kRecorderTrack),
                      at(9, EventKind::kEnd, "command", kRecorderTrack)};
  EXPECT_EQ(phases_of(recording).phases.at(1).end, 5);
}

TEST(Phases, EventsMayComeOutOfOrder) {
  Recording recording;
  recording.events = {at(20, EventKind::kEnd, "epoch"), at(10, EventKind::kBegin, "epoch")};
  const Phases phases = phases_of(recording);
  ASSERT_EQ(phases.phases.size(), 1U);
  EXPECT_EQ(phases.stray_ends, 0U);
}

TEST(Phases, ThoseThatShareTimeAreJoined) {
  const auto phase = [](MonotonicUs begin, MonotonicUs end) { return Phase{"a", {}, 1, begin, end, false}; };
  const auto out = joined({phase(20, 30), phase(0, 10), phase(5, 8), phase(9, 15), phase(15, 20)});
  ASSERT_EQ(out.size(), 3U);  // what only touches stays apart
  EXPECT_EQ(out[0].end, 15);
  EXPECT_EQ(out[1].begin, 15);
  EXPECT_EQ(out[2].end, 30);
}

TEST(Phases, DetailsAreFoundByTheirKey) {
  EXPECT_EQ(detail_of("index=3\ttotal=10", "total"), "10");
  EXPECT_EQ(detail_of("index=3", "index"), "3");
  EXPECT_FALSE(detail_of("subindex=3", "index"));
  EXPECT_FALSE(detail_of("indexes=3", "index"));
  EXPECT_FALSE(detail_of("", "index"));
}

}  // namespace
}  // namespace joulecast
