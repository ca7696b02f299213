// SPDX-License-Identifier: Apache-2.0
#include "power/update_period.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

using std::chrono::microseconds;

// Polls a sensor that changes every `period` as often as it is asked to, for `duration`.
UpdatePeriod study(MonotonicUs period, MonotonicUs duration) {
  UpdatePeriod out;
  for (MonotonicUs now = 1'000; now < duration; now += out.wait().count()) out.see({now, now / period});
  return out;
}

TEST(UpdatePeriod, IsSeenFromTheChanges) {
  EXPECT_NEAR(static_cast<double>(study(100'000, 3'000'000).period().value().count()), 100'000, 5'000);
  EXPECT_NEAR(static_cast<double>(study(20'000, 3'000'000).period().value().count()), 20'000, 5'000);
}

TEST(UpdatePeriod, IsAskedTwiceAPeriodAfterwards) {
  EXPECT_EQ(study(100'000, 3'000'000).wait(), microseconds(50'000));
  EXPECT_EQ(study(20'000, 3'000'000).wait(), microseconds(10'000));
  EXPECT_EQ(study(1'000'000, 30'000'000).wait(), microseconds(50'000));
}

TEST(UpdatePeriod, ASensorThatStandsStillIsNotAskedForeverInHaste) {
  UpdatePeriod out;
  for (MonotonicUs now = 0; now < 3'000'000; now += out.wait().count()) out.see({now, 7});
  EXPECT_FALSE(out.period());
  EXPECT_EQ(out.wait(), microseconds(50'000));
}

}  // namespace
}  // namespace joulecast
