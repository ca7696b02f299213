// SPDX-License-Identifier: Apache-2.0
#include "profile/sensor_span.h"

#include <gtest/gtest.h>

namespace joulecast::profile {
namespace {

Recording on(const std::string& architecture, const std::string& name, const std::string& driver,
             std::vector<Channel> channels) {
  Recording out;
  out.head["devices"] = {
      {{"id", "gpu0"}, {"name", name}, {"details", {{"architecture", architecture}, {"driver", driver}}}}};
  out.readings.resize(channels.size());
  out.channels = std::move(channels);
  return out;
}

Channel power_of(const std::string& source) {
  return {"gpu0", Signal::kPower, source, std::nullopt};
}

// 0.1 s / (sqrt(6) 2 %) = 2.04 s.
constexpr double kTenHertz = 2.0412414523193152;

TEST(SensorSpan, TheCounterGoesBeforeReadingsOfPower) {
  const auto span = span_for_power(
      on("ampere", "NVIDIA A30", "535.54", {power_of("nvml-instant"), {"gpu0", Signal::kEnergy, "nvml-counter", {}}}),
      "gpu0");
  ASSERT_TRUE(span);
  EXPECT_NEAR(span->span.value(), kTenHertz, 1e-12);
  EXPECT_EQ(span->reason, "nvml-counter");
}

TEST(SensorSpan, ByClass) {
  const auto span = [](const char* architecture, const char* name, const char* driver, const char* source) {
    return span_for_power(on(architecture, name, driver, {power_of(source)}), "gpu0")->span.value();
  };
  EXPECT_NEAR(span("turing", "NVIDIA GeForce RTX 2080 Ti", "535.54", "nvml-instant"), kTenHertz, 1e-12);       // B
  EXPECT_NEAR(span("ampere", "NVIDIA A100-SXM4-40GB", "535.54", "nvml-instant"), 4 * kTenHertz, 1e-12);        // A
  EXPECT_NEAR(span("ampere", "NVIDIA GeForce RTX 3090", "535.54", "nvml-average"), 1 + kTenHertz, 1e-12);      // C
  EXPECT_NEAR(span("volta", "Tesla V100-SXM2-16GB", "535.54", "nvml-power-usage"), 2 * kTenHertz / 5, 1e-12);  // D
  EXPECT_NEAR(span("maxwell", "Tesla M40", "470.1", "nvml-power-usage"), 10, 1e-12);                           // E
}

TEST(SensorSpan, NothingWithoutASensor) {
  EXPECT_FALSE(span_for_power(on("ampere", "NVIDIA A30", "535.54", {power_of("nvml-instant")}), "gpu1"));
  EXPECT_FALSE(
      span_for_power(on("ampere", "NVIDIA A30", "535.54", {{"gpu0", Signal::kTemperature, "nvml", {}}}), "gpu0"));
}

}  // namespace
}  // namespace joulecast::profile
