// SPDX-License-Identifier: Apache-2.0
#include "joulecast/units.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Units, PowerTimesTimeIsEnergy) {
  const Joules energy = Watts{250.0} * Seconds{0.5};
  EXPECT_DOUBLE_EQ(energy.value(), 125.0);
}

TEST(Units, BandwidthTimesIntensityIsACeilingOnFlopsPerSecond) {
  const FlopsPerByte intensity = Flops{400.0} / Bytes{100.0};
  const FlopsPerSecond roof = BytesPerSecond{1e9} * intensity;
  EXPECT_DOUBLE_EQ(roof.value(), 4e9);
}

TEST(Units, QuotientOfEqualUnitsIsANumber) {
  const double ratio = Seconds{3.0} / Seconds{2.0};
  EXPECT_DOUBLE_EQ(ratio, 1.5);
}

TEST(Units, EnergyDelayProduct) {
  const JouleSeconds edp = Joules{10.0} * Seconds{0.25};
  EXPECT_DOUBLE_EQ(edp.value(), 2.5);
}

TEST(Units, CyclesOverClockIsTime) {
  const Seconds time = 1000.0 / Hertz{1e9};
  EXPECT_DOUBLE_EQ(time.value(), 1e-6);
}

}  // namespace
}  // namespace joulecast
