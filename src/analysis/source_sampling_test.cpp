// SPDX-License-Identifier: Apache-2.0
#include "analysis/source_sampling.h"
#include "analysis/sensor_check.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(SourceSampling, GapsJitterAndWhatTheDriverDropped) {
  Recording run;
  run.channels = {{"gpu0", Signal::kPower, "nvml-buffer", std::nullopt},
                  {"gpu0", Signal::kTemperature, "nvml", std::nullopt},
                  {"gpu0", Signal::kEnergy, "nvml-counter", std::nullopt}};
  run.readings.resize(3);
  // Every 20 ms from 5 s on; one second of them is missing after 2 s.
  for (std::int64_t i = 0; i <= 300; ++i) {
    if (i > 100 && i < 150) continue;
    run.readings[0].push_back({5'000'000 + i * 20'000, 200'000 + i % 3});
  }
  run.absences.push_back({7'100'000, 0, Absence::kLost, 49, "ring"});
  run.absences.push_back({7'100'000, 0, Absence::kTimeout, 2, "slow"});
  const auto sources = sampling_of_sources(run);
  ASSERT_EQ(sources.size(), 2U);
  const SourceSampling& buffer = sources[0];
  ASSERT_TRUE(buffer.sampling);
  EXPECT_EQ(buffer.sampling->samples, 252U);
  EXPECT_NEAR(buffer.sampling->rate.value(), 251 / 6.0, 1e-6);
  EXPECT_NEAR(buffer.sampling->longest_gap.value(), 1, 1e-6);
  EXPECT_NEAR(buffer.sampling->longest_gap_at.value(), 2, 1e-6);
  EXPECT_EQ(buffer.sampling->lost, 49U);
  // 250 gaps of 20 ms and one of a second: mean 6 / 251 s, deviation by hand 61.9 ms.
  EXPECT_NEAR(buffer.sampling->jitter.value(), 0.06186, 1e-4);
  EXPECT_NEAR(buffer.sampling->coefficient_of_variation, 2.588, 0.01);
  EXPECT_EQ(buffer.dropped, 49U);
  EXPECT_EQ(buffer.absent, 2U);
  EXPECT_NEAR(*buffer.update_period_s, 0.02, 1e-6);
  EXPECT_FALSE(sources[1].sampling);
}

TEST(SourceSampling, APollThatCameLateLosesNothingOfASlowerSensor) {
  Recording run;
  run.channels = {{"gpu0", Signal::kPower, "nvml-instant", std::nullopt}};
  run.readings.resize(1);
  // An update every 100 ms, polled every 20 ms but for one poll that came after 80.
  for (std::int64_t i = 0; i <= 500; ++i) {
    if (i > 200 && i < 204) continue;
    run.readings[0].push_back({i * 20'000, 200'000 + i / 5});
  }
  EXPECT_EQ(sampling_of_sources(run)[0].sampling->lost, 0U);
}

// A load that turns every 200 ms changes the value of a sensor of 102 ms every second time.
TEST(SourceSampling, TheUpdatePeriodIsTheSensorsNotTheLoads) {
  const auto period = [](double update_us, std::int64_t half_us) {
    Recording run;
    run.head["devices"] = {{{"id", "gpu0"},
                            {"name", "NVIDIA A100-SXM4-40GB"},
                            {"details", {{"architecture", "ampere"}, {"driver", "535.54"}}}}};
    run.channels = {{"gpu0", Signal::kPower, "nvml-instant", std::nullopt}};
    run.readings.resize(1);
    for (std::int64_t i = 0; i <= 2000; ++i) {
      const auto update = static_cast<std::int64_t>(static_cast<double>(i) * 10'000 / update_us);
      const auto time = static_cast<std::int64_t>(static_cast<double>(update) * update_us);
      run.readings[0].push_back({i * 10'000, time / half_us % 2 == 0 ? 380'000 : 100'000});
    }
    return *sampling_of_sources(run)[0].update_period_s;
  };
  EXPECT_NEAR(period(102'000, 204'000), 0.102, 0.0005);
  EXPECT_NEAR(period(100'000, 250'000), 0.1, 0.0005);
  EXPECT_NEAR(period(100'000, 1'000'000), 0.1, 1e-9) << "of ten updates a change the class' is better";
  EXPECT_NEAR(period(31'000, 31'000), 0.031, 0.0005) << "a card may be faster than its class";
}

// What doctor and report show: registers and buffers under a load that turns every 1.5 s; what an H100's buffer holds
// is not known, so its samples alone tell.
TEST(SensorCheck, TellsTheSensorsPeriodApartFromTheTimeBetweenChanges) {
  Recording run;
  const auto gpu = [](const char* id, const char* name, const char* architecture) {
    return nlohmann::json{
        {"id", id}, {"name", name}, {"details", {{"architecture", architecture}, {"driver", "535.54"}}}};
  };
  run.head["devices"] = {gpu("gpu0", "NVIDIA A100-SXM4-40GB", "ampere"),
                         gpu("gpu1", "NVIDIA H100 80GB HBM3", "hopper")};
  run.channels = {{"gpu0", Signal::kPower, "nvml-instant", std::nullopt},
                  {"gpu0", Signal::kPower, "nvml-buffer", std::nullopt},
                  {"gpu1", Signal::kPower, "nvml-buffer", std::nullopt}};
  run.readings.resize(3);
  for (std::int64_t i = 0; i <= 3000; ++i) {
    const std::int64_t watts = i * 10'000 / 1'500'000 % 2 == 0 ? 380'000 : 100'000;
    run.readings[0].push_back({i * 10'000, watts});
    if (i % 10 != 0) continue;
    for (const std::size_t buffer : {1U, 2U}) run.readings[buffer].push_back({i * 10'000, watts});
  }
  for (const SensorCheck& check : check_sensors(run)) {
    EXPECT_NEAR(*check.changes_s, 1.5, 0.001) << check.channel.device << check.channel.source;
    EXPECT_NEAR(*check.period_s, 0.1, 0.001) << check.channel.device << check.channel.source;
  }
}

}  // namespace
}  // namespace joulecast
