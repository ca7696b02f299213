// SPDX-License-Identifier: Apache-2.0
#include "series/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast::series {
namespace {

TEST(Calibration, FindsGainAndOffset) {
  // reading = 0.95 * meter - 2
  const auto line = fit_calibration(std::vector<double>{55, 93, 188}, std::vector<double>{60, 100, 200});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->gain, 0.95, 1e-13);
  EXPECT_NEAR(line->offset.value(), -2, 1e-11);
  EXPECT_NEAR(true_power(*line, Watts{188}).value(), 200, 1e-10);
  EXPECT_TRUE(has(line->warnings, Warning::kFewSamples));
}

TEST(Calibration, StatesItsErrors) {
  // Residuals +1 -1 -1 +1 around the line through x = 100, 200: s = sqrt(4 / 2), gain's s / sqrt(10000).
  const auto line = fit_calibration(std::vector<double>{101, 99, 199, 201}, std::vector<double>{100, 100, 200, 200});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->gain, 1, 1e-13);
  EXPECT_NEAR(line->residual_deviation->value(), std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(*line->gain_standard_error, std::sqrt(2.0) / 100, 1e-14);
  EXPECT_NEAR(line->centre.value(), 150, 1e-12);
}

TEST(Calibration, OfEnergyTakesTheOffsetTimesTheTime) {
  CalibrationLine line;
  line.gain = 0.5;
  line.offset = Watts{10};
  line.residual_deviation = Watts{2};
  line.gain_standard_error = 0.01;
  line.points = 4;
  line.centre = Watts{80};
  // 600 J in 10 s are (600 - 100) / 0.5 = 1000 J, 20 W off the centre: 1 W and 0.2 W of the reading, over 0.5.
  const Energy energy = true_energy(line, {Joules{600}, Joules{0}, Seconds{10}, EnergyMethod::kSteps, {}});
  EXPECT_DOUBLE_EQ(energy.value.value(), 1000);
  EXPECT_NEAR(energy.standard_error.value(), std::hypot(1, 0.2) / 0.5 * 10, 1e-12);
}

TEST(Calibration, OfASeriesIsOfEachValue) {
  CalibrationLine line;
  line.gain = 2;
  line.offset = Watts{1};
  EXPECT_EQ(true_power(line, Series{{0, 1}, {3, 5}}).value, (std::vector<double>{1, 2}));
}

TEST(Calibration, NeedsTwoLevels) {
  EXPECT_FALSE(fit_calibration(std::vector<double>{190, 191, 190}, std::vector<double>{200, 201, 200}));
  EXPECT_FALSE(fit_calibration(std::vector<double>{190}, std::vector<double>{200}));
  EXPECT_FALSE(fit_calibration(std::vector<double>{200, 100}, std::vector<double>{100, 200}));
}

}  // namespace
}  // namespace joulecast::series
