// SPDX-License-Identifier: Apache-2.0
#include "analysis/averaged_power.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace joulecast {
namespace {

using series::Series;

// 50 W up to 2 s, 250 W up to 6 s, 50 W after; the mean of the last second, updated every 100 ms and polled every 20.
// `tremble` alternates from update to update: real readings never stand still.
Series smeared(double tremble) {
  Series out;
  for (int i = 50; i <= 450; ++i) {
    const double t = i * 0.02;
    const int update = i / 5;
    const double end = update * 0.1;
    const double loaded = std::clamp(std::min(end, 6.0) - std::max(end - 1, 2.0), 0.0, 1.0);
    out.time_s.push_back(t);
    out.value.push_back(50 + 200 * loaded + (update % 2 == 0 ? tremble : 0));
  }
  return out;
}

TEST(AveragedPower, IsUndoneWhereEachUpdateWasSeen) {
  const auto energy = AveragedPower(smeared(0.01)).energy(Seconds{2}, Seconds{4}).value();
  EXPECT_EQ(energy.correction, Correction::kDesmeared);
  EXPECT_NEAR(energy.energy.value.value(), 500, 5);  // as read 400
}

TEST(AveragedPower, ElseTheSecondAfterTheEdgeIsLeftOut) {
  Series polls = smeared(0.01);
  // Half a second of polls is missing: the mean cannot be undone.
  polls.time_s.erase(polls.time_s.begin() + 210, polls.time_s.begin() + 235);
  polls.value.erase(polls.value.begin() + 210, polls.value.begin() + 235);
  const auto energy = AveragedPower(polls).energy(Seconds{2}, Seconds{4.8}).value();
  EXPECT_EQ(energy.correction, Correction::kOffEdges);
  EXPECT_NEAR(energy.energy.value.value(), 700, 7);
  EXPECT_NEAR(energy.energy.standard_error.value(), 50, 6);  // half of the 100 J that were not read
}

TEST(AveragedPower, OfAShortStretchIsRefused) {
  Series polls = smeared(0);  // equal readings hide updates
  const auto energy = AveragedPower(polls).energy(Seconds{2}, Seconds{3.5});
  ASSERT_FALSE(energy);
  EXPECT_EQ(energy.error().code(), ErrorCode::kUnsupported);
  EXPECT_NE(energy.error().text().find("at least 2 s"), std::string::npos);
}

}  // namespace
}  // namespace joulecast
