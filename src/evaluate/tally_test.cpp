// SPDX-License-Identifier: Apache-2.0
// Figures of groups, against values worked out by hand.
#include "evaluate/tally.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

Circumstances on(const std::string& gpu, Mode mode = Mode::kInference) {
  Circumstances at;
  at.gpu = gpu;
  at.mode = mode;
  return at;
}

JudgedRow timed(double measured, double found, double lo, double hi) {
  JudgedRow row;
  row.time = {measured, found, lo, hi};
  return row;
}

// Relative errors +0.1, -0.1, +0.25 of measured 1, 2, 4.
TEST(Tally, FiguresAreThoseOfTheRawScale) {
  Tally tally;
  tally.judged(on("a30"), timed(1.0, 1.1, 0.9, 1.3));
  tally.judged(on("a30"), timed(2.0, 1.8, 1.7, 1.9));  // the measured value lies outside
  tally.judged(on("a30"), timed(4.0, 5.0, 4.0, 6.0));  // on the bound: inside
  const Evaluation e = tally.finish();
  ASSERT_EQ(e.groups.size(), 1U);
  EXPECT_EQ(e.groups[0].n, 3U);
  const ErrorFigures& f = e.groups[0].time.figures;
  EXPECT_EQ(f.count, 3U);
  EXPECT_NEAR(*f.mape, 0.15, 1e-12);
  EXPECT_NEAR(*f.median, 0.1, 1e-12);
  EXPECT_NEAR(*f.p90, 0.1 + 0.8 * 0.15, 1e-12);  // between the second and the third of three
  EXPECT_NEAR(*f.max, 0.25, 1e-12);
  EXPECT_NEAR(*f.bias, 0.25 / 3.0, 1e-12);
  // Mean 7/3; squared errors 0.01 + 0.04 + 1, distances 16/9 + 1/9 + 25/9. On logarithms it would be another number.
  EXPECT_NEAR(*f.r2, 1.0 - 1.05 / (42.0 / 9.0), 1e-12);
  EXPECT_NEAR(*e.groups[0].time.coverage, 2.0 / 3.0, 1e-12);
}

TEST(Tally, WhatWasNotMeasuredHasNoFigures) {
  Tally tally;
  tally.judged(on("a30"), timed(1.0, 1.0, 1.0, 1.0));
  const Evaluation e = tally.finish();
  EXPECT_EQ(e.groups[0].power.figures.count, 0U);
  EXPECT_FALSE(e.groups[0].power.figures.mape);
  EXPECT_FALSE(e.groups[0].power.coverage);
  EXPECT_FALSE(e.groups[0].time.figures.r2) << "a single value has no spread";
}

TEST(Tally, GroupsAreByTheTablesWordForTheGpuAndByMode) {
  Circumstances labelled = on("a30");
  labelled.gpu_label = "a30-no-tensor-cores";
  Tally tally;
  tally.judged(on("a30"), timed(1, 1, 1, 1));
  tally.judged(on("a30", Mode::kTraining), timed(1, 1, 1, 1));
  tally.judged(labelled, timed(1, 1, 1, 1));
  tally.set_aside(on("a30"));
  tally.unmapped(on("a30"), {}, 12, "no such GPU");
  const Evaluation e = tally.finish();
  ASSERT_EQ(e.groups.size(), 3U);
  EXPECT_EQ(e.groups[0].gpu, "a30");
  EXPECT_EQ(e.groups[0].mode, Mode::kInference);
  EXPECT_EQ(e.groups[0].n, 1U);
  EXPECT_EQ(e.groups[0].set_aside, 1U);
  EXPECT_EQ(e.groups[0].unmapped, 1U);
  EXPECT_EQ(e.groups[1].mode, Mode::kTraining);
  EXPECT_EQ(e.groups[1].unmapped, 0U);
  EXPECT_EQ(e.groups[2].gpu, "a30-no-tensor-cores");
  ASSERT_EQ(e.refused.rows(), 1U);
  EXPECT_EQ(refusal_text(e.refused.reasons()[0]), "line 12: no such GPU");
}

}  // namespace
}  // namespace joulecast
