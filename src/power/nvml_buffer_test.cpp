// SPDX-License-Identifier: Apache-2.0
// On the stand-in of tests/nvml, opened before us under its library's name.
#include "power/nvml_buffer.h"

#include <chrono>
#include <thread>

#include "opened_library.h"

namespace joulecast {
namespace {

using std::chrono::milliseconds;

class Collector : public ReadingSink {
 public:
  void reading(std::size_t channel, const Reading& reading) override {
    if (channel == 0) times.push_back(reading.time);
  }
  void absent(std::size_t channel, MonotonicUs /*time*/, Absence absence, std::uint64_t count,
              const std::string& /*text*/) override {
    if (channel == 0 && absence == Absence::kLost) lost += count;
  }
  std::vector<MonotonicUs> times;
  std::uint64_t lost = 0;
};

class NvmlBufferTest : public nvml::StandinTest {
 protected:
  std::unique_ptr<Sensor> open(int ring) {
    scenario("[[gpu]]\narchitecture = \"volta\"\nload = {constant_w = 250}\nsensor = {ring = " + std::to_string(ring) +
             "}\n");
    standin_.emplace();
    library_ = *NvmlLibrary::open();
    std::vector<Missing> missing;
    return open_nvml_buffer(list_nvml_gpus(library_, missing)->at(0), {}, missing);
  }
  void TearDown() override {
    library_.reset();
    standin_.reset();
  }

  std::optional<nvml::OpenedLibrary> standin_;
  std::shared_ptr<const NvmlLibrary> library_;
};

// Of 20 ms a sample.
TEST_F(NvmlBufferTest, IsDrainedTwiceInTheTimeOfItsRing) {
  EXPECT_EQ(open(21)->period(), milliseconds(200));
  TearDown();
  EXPECT_EQ(open(120)->period(), milliseconds(1000)) << "no ring is worth more than one waking a second";
  TearDown();
  EXPECT_EQ(open(2)->period(), milliseconds(50)) << "and none more than twenty";
}

TEST_F(NvmlBufferTest, WhatRanOverIsCounted) {
  const auto sensor = open(21);
  Collector collector;
  std::this_thread::sleep_for(milliseconds(60));
  sensor->read(collector);
  ASSERT_FALSE(collector.times.empty());
  std::this_thread::sleep_for(milliseconds(1500));
  sensor->read(collector);
  EXPECT_GE(collector.lost, 50U);
  ASSERT_GT(collector.times.size(), 20U);
  // Nothing is missing that was not told.
  const auto steps = (collector.times.back() - collector.times.front() + 10'000) / 20'000;
  EXPECT_LE(std::abs(steps + 1 - static_cast<std::int64_t>(collector.times.size() + collector.lost)), 1);
  EXPECT_EQ(sensor->period(), milliseconds(200)) << "it is as long as it was";
}

TEST_F(NvmlBufferTest, WhatIsReadOnTheWayIsNotTakenForTheRing) {
  const auto sensor = open(60);
  EXPECT_EQ(sensor->period(), milliseconds(590));
  Collector collector;
  std::this_thread::sleep_for(milliseconds(300));
  sensor->read(collector);
  EXPECT_EQ(collector.lost, 0U);
  EXPECT_EQ(sensor->period(), milliseconds(590));
}

}  // namespace
}  // namespace joulecast
