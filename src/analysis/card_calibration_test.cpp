// SPDX-License-Identifier: Apache-2.0
#include "analysis/card_calibration.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

// 50 W true for 10 s, 250 W for 10 s, 150 W for 10 s.
double truth(double t) {
  if (t < 10) return 50;
  return t < 20 ? 250 : 150;
}

Recording recording(const std::string& uuid = "GPU-1a") {
  Recording out;
  out.head["devices"] = {{{"id", "gpu0"}, {"name", "Made Up"}, {"details", {{"uuid", uuid}}}}};
  out.channels = {{"gpu0", Signal::kPower, "nvml-instant", std::nullopt},
                  {"gpu0", Signal::kEnergy, "nvml-counter", std::nullopt},
                  {"wall", Signal::kPower, "meter", std::nullopt}};
  out.readings.resize(3);
  double joules = 0;
  for (std::int64_t i = 0; i <= 600; ++i) {
    const double t = static_cast<double>(i) * 0.05;
    out.readings[0].push_back({i * 50'000, std::llround((0.95 * truth(t) - 2) * 1000)});
    out.readings[1].push_back({i * 50'000, std::llround(joules * 1e6)});
    out.readings[2].push_back({i * 50'000, std::llround(truth(t) * 1000)});
    joules += 0.05 * (1.02 * truth(t) + 3);
  }
  return out;
}

TEST(CardCalibration, EachSourceHasItsLine) {
  const Recording run = recording();
  const auto lines = fit_card({&run}, "gpu0", "wall").value();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].source, "nvml-instant");
  EXPECT_EQ(lines[0].uuid, "GPU-1a");
  EXPECT_NEAR(lines[0].line.gain, 0.95, 1e-4);
  EXPECT_NEAR(lines[0].line.offset.value(), -2, 0.01);
  EXPECT_NEAR(*lines[0].line.r2, 1, 1e-6);
  EXPECT_EQ(lines[1].source, "nvml-counter");
  EXPECT_NEAR(lines[1].line.gain, 1.02, 1e-3);
  EXPECT_NEAR(lines[1].line.offset.value(), 3, 0.1);
}

TEST(CardCalibration, RefusesWhatIsNoFit) {
  const Recording run = recording();
  const Recording other = recording("GPU-2b");
  EXPECT_FALSE(fit_card({&run, &other}, "gpu0", "wall"));
  EXPECT_FALSE(fit_card({&run}, "gpu1", "wall"));
  EXPECT_FALSE(fit_card({&run}, "gpu0", "none"));
  Recording flat = recording();
  for (Reading& reading : flat.readings[2]) reading.value = 200'000;
  const auto level = fit_card({&flat}, "gpu0", "wall");
  ASSERT_FALSE(level);
  EXPECT_NE(level.error().text().find("idle and under load"), std::string::npos) << level.error().text();
}

// The meter read once a second, and levels of 10 s divided by `faster`.
Recording read_each_second(std::int64_t faster) {
  Recording out = recording();
  std::vector<Reading> meter;
  for (std::size_t i = 0; i < out.readings[2].size(); i += static_cast<std::size_t>(20 * faster)) {
    meter.push_back(out.readings[2][i]);
  }
  out.readings[2] = meter;
  for (auto& readings : out.readings) {
    for (Reading& reading : readings) reading.time /= faster;
  }
  return out;
}

TEST(CardCalibration, SaysForHowLongALevelHasToBe) {
  const Recording just = read_each_second(1);
  EXPECT_TRUE(fit_card({&just}, "gpu0", "wall"));
  const Recording brief = read_each_second(2);
  const auto refused = fit_card({&brief}, "gpu0", "wall");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("each steady for 10 s"), std::string::npos) << refused.error().text();
}

}  // namespace
}  // namespace joulecast
