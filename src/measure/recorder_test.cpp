// SPDX-License-Identifier: Apache-2.0
#include "measure/recorder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "recording/recording.h"

namespace joulecast {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Counts its readings; may take its time over each, or fail.
class FakeSensor : public Sensor {
 public:
  FakeSensor(const std::string& device, Lane lane, microseconds period)
      : channels_{{device, Signal::kPower, "fake", std::nullopt}}, lane_(lane), period_(period) {}

  [[nodiscard]] const std::vector<Channel>& channels() const override { return channels_; }
  [[nodiscard]] Lane lane() const override { return lane_; }
  [[nodiscard]] microseconds period() const override { return period_; }
  void read(ReadingSink& sink) override {
    std::this_thread::sleep_for(takes);
    ++reads;
    if (fails) {
      sink.absent(0, monotonic_now(), Absence::kDeviceLost, 1, "gone");
    } else {
      sink.reading(0, {monotonic_now(), reads});
    }
  }

  microseconds takes{0};
  std::atomic<bool> fails = false;
  std::atomic<int> reads = 0;

 private:
  std::vector<Channel> channels_;
  Lane lane_;
  microseconds period_;
};

struct Made {
  std::unique_ptr<Recorder> recorder;
  std::vector<FakeSensor*> sensors;
};

Made recorder_of(std::vector<std::unique_ptr<FakeSensor>> fakes) {
  Made out;
  std::vector<std::unique_ptr<Sensor>> sensors;
  for (auto& fake : fakes) {
    out.sensors.push_back(fake.get());
    sensors.push_back(std::move(fake));
  }
  out.recorder = std::make_unique<Recorder>(std::move(sensors), RecordingWriter::in_memory().value());
  return out;
}

Made one(Lane lane, microseconds period) {
  std::vector<std::unique_ptr<FakeSensor>> fakes;
  fakes.push_back(std::make_unique<FakeSensor>("gpu0", lane, period));
  return recorder_of(std::move(fakes));
}

// Until it was read that often; false after more seconds than any machine needs.
bool read_often(const FakeSensor& sensor, int times) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (sensor.reads < times) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

Recording recorded(const Recorder& recorder) {
  return parse_recording(recorder.writer().contents().value()).value();
}

TEST(Recorder, KeepsEveryReadingAndEvent) {
  const Made made = one(Lane::kPower, milliseconds(5));
  made.recorder->start();
  made.recorder->event({1, EventKind::kMark, 7, "here", ""});
  made.recorder->note("a doubt");
  std::this_thread::sleep_for(milliseconds(300));
  ASSERT_TRUE(made.recorder->finish(R"({"code":0})"));
  const Recording recording = recorded(*made.recorder);
  EXPECT_EQ(recording.readings.at(0).size(), static_cast<std::size_t>(made.sensors[0]->reads));
  EXPECT_EQ(recording.events.size(), 1U);
  EXPECT_EQ(recording.notes.size(), 1U);
  EXPECT_EQ(recording.end["code"], 0);
  EXPECT_TRUE(recording.damage.complete);
  EXPECT_GE(recording.clocks.size(), 1U);
}

TEST(Recorder, ReadsOnceMoreAtTheEnd) {
  const Made made = one(Lane::kState, std::chrono::hours(1));
  made.recorder->start();
  ASSERT_TRUE(read_often(*made.sensors[0], 1));
  ASSERT_TRUE(made.recorder->finish("{}"));
  EXPECT_EQ(made.sensors[0]->reads, 2);
}

TEST(Recorder, ASlowSensorDelaysNoneOfAnotherLane) {
  std::vector<std::unique_ptr<FakeSensor>> fakes;
  fakes.push_back(std::make_unique<FakeSensor>("gpu0", Lane::kPower, milliseconds(5)));
  fakes.push_back(std::make_unique<FakeSensor>("wall", Lane::kMeter, milliseconds(5)));
  fakes[1]->takes = std::chrono::seconds(1);
  const Made made = recorder_of(std::move(fakes));
  made.recorder->start();
  ASSERT_TRUE(read_often(*made.sensors[0], 20));
  EXPECT_LE(made.sensors[1]->reads, made.sensors[0]->reads / 10);
  ASSERT_TRUE(made.recorder->finish("{}"));
}

TEST(Recorder, KnowsWhatFailsSinceItsNewestReading) {
  const Made made = one(Lane::kPower, milliseconds(2));
  made.recorder->start();
  ASSERT_TRUE(read_often(*made.sensors[0], 5));
  EXPECT_FALSE(made.recorder->failing().at(0));
  made.sensors[0]->fails = true;
  ASSERT_TRUE(read_often(*made.sensors[0], made.sensors[0]->reads + 3));
  EXPECT_EQ(made.recorder->failing().at(0), Absence::kDeviceLost);
  EXPECT_TRUE(made.recorder->newest().at(0)) << "what it said before";
  made.sensors[0]->fails = false;
  ASSERT_TRUE(read_often(*made.sensors[0], made.sensors[0]->reads + 3));
  EXPECT_FALSE(made.recorder->failing().at(0));
}

// A sensor that fails at each of a hundred readings is told a few times, with how often.
TEST(Recorder, FailuresAreCountedTogether) {
  const Made made = one(Lane::kPower, milliseconds(2));
  made.sensors[0]->fails = true;
  made.recorder->start();
  ASSERT_TRUE(read_often(*made.sensors[0], 100));
  ASSERT_TRUE(made.recorder->finish("{}"));
  const Recording recording = recorded(*made.recorder);
  std::uint64_t failures = 0;
  for (const AbsenceRecord& record : recording.absences) failures += record.count;
  EXPECT_EQ(failures, static_cast<std::uint64_t>(made.sensors[0]->reads));
  EXPECT_LE(recording.absences.size(), failures / 4);
  EXPECT_TRUE(recording.readings.at(0).empty());
}

}  // namespace
}  // namespace joulecast
