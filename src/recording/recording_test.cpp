// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "recording/frame_sum.h"
#include "recording/layout.h"
#include "recording/packed.h"
#include "recording/recording.h"
#include "recording/writer.h"

namespace joulecast {
namespace {

std::string scratch(const std::string& name) {
  return testing::TempDir() + "recording_" + std::to_string(::getpid()) + "_" + name;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Reading> steady(std::size_t count) {
  std::vector<Reading> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    out.push_back({1'000'000 + n * 20'000 + n % 7, 300'000 + n % 11 * 1000});
  }
  return out;
}

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

// A recording with one of everything.
std::string sample(std::size_t readings = 2500) {
  const std::string path = scratch("sample.jcrun");
  auto writer = RecordingWriter::create(path, Existing::kReplace).value();
  writer.head(R"({"command":["train"],"host":"here"})");
  const auto power = writer.channel({"gpu0", Signal::kPower, "nvml-instant", 0.1});
  const auto energy = writer.channel({"gpu0", Signal::kEnergy, "nvml-counter", std::nullopt});
  writer.readings(power, steady(readings));
  writer.readings(energy, std::vector<Reading>{{1, -kLargest}, {2, kLargest}, {3, 0}});
  writer.absence({5, energy, Absence::kDeviceLost, 3, "NVML: GPU is lost"});
  writer.event({7, EventKind::kBegin, 42, "epoch", "index=3"});
  writer.clocks({1'000'000, 1'700'000'000'000'000});
  writer.note("power readings see a quarter of the time");
  writer.head(R"({"host":"there"})");
  writer.end(R"({"exit":0})");
  EXPECT_TRUE(writer.sync());
  std::string bytes = bytes_of(path);
  EXPECT_EQ(writer.bytes_written(), bytes.size());
  std::filesystem::remove(path);
  return bytes;
}

TEST(Recording, GivesBackWhatWasWritten) {
  const Recording run = parse_recording(sample()).value();
  EXPECT_EQ(run.head["command"][0], "train");
  EXPECT_EQ(run.head["host"], "there");
  EXPECT_EQ(run.end["exit"], 0);
  ASSERT_EQ(run.channels.size(), 2U);
  EXPECT_EQ(run.channels[0], (Channel{"gpu0", Signal::kPower, "nvml-instant", 0.1}));
  EXPECT_EQ(run.channels[1], (Channel{"gpu0", Signal::kEnergy, "nvml-counter", std::nullopt}));
  EXPECT_EQ(run.readings[0], steady(2500));
  EXPECT_EQ(run.readings[1], (std::vector<Reading>{{1, -kLargest}, {2, kLargest}, {3, 0}}));
  ASSERT_EQ(run.absences.size(), 1U);
  EXPECT_EQ(run.absences[0], (AbsenceRecord{5, 1, Absence::kDeviceLost, 3, "NVML: GPU is lost"}));
  ASSERT_EQ(run.events.size(), 1U);
  EXPECT_EQ(run.events[0], (Event{7, EventKind::kBegin, 42, "epoch", "index=3"}));
  EXPECT_EQ(run.clocks, (std::vector<ClockPair>{{1'000'000, 1'700'000'000'000'000}}));
  EXPECT_EQ(run.notes, (std::vector<std::string>{"power readings see a quarter of the time"}));
  EXPECT_EQ(run.damage, (RecordingDamage{true, 0, 0, 0}));
}

TEST(Recording, AnEvenPaceTakesFewBytes) {
  const std::size_t many = sample(20'000).size();
  const std::size_t none = sample(0).size();
  EXPECT_LE(static_cast<double>(many - none) / 20'000, 4.2);
}

// What a killed program leaves: every prefix is read, and nothing but the last frame is missing.
TEST(Recording, CutAnywhereItIsReadUpToItsLastWholeFrame) {
  const std::string whole = sample(10);
  std::size_t readings_before = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto run = parse_recording(whole.substr(0, size));
    if (size < recording::kMagic.size()) {
      EXPECT_FALSE(run) << size;
      continue;
    }
    ASSERT_TRUE(run) << size;
    EXPECT_FALSE(run->damage.complete);
    EXPECT_EQ(run->damage.damaged, 0U) << size;
    const std::size_t readings = run->readings.empty() ? 0 : run->readings[0].size();
    EXPECT_GE(readings, readings_before);
    readings_before = readings;
  }
  EXPECT_EQ(readings_before, 10U);
}

TEST(Recording, ADamagedByteCostsOneFrame) {
  const std::string whole = sample(2500);
  const std::size_t middle = whole.size() / 2;
  std::string broken = whole;
  broken[middle] = static_cast<char>(broken[middle] ^ 0x10);
  const Recording run = parse_recording(broken).value();
  EXPECT_TRUE(run.damage.complete);
  EXPECT_GT(run.damage.damaged, 0U);
  EXPECT_EQ(run.damage.cut_off, 0U);
  EXPECT_GE(run.readings[0].size(), 1500U);
  EXPECT_EQ(run.events.size(), 1U);
}

TEST(Recording, MarksEverywhereDoNotKeepTheReaderBusy) {
  std::string hostile = sample(0);
  std::string mark;
  recording::append_fixed32(mark, recording::kFrameMark);
  recording::append_fixed32(mark, 3);
  recording::append_fixed32(mark, recording::kMaxPayload);
  for (int i = 0; i < 400'000; ++i) hostile += mark;
  const Recording run = parse_recording(hostile).value();
  EXPECT_GT(run.damage.cut_off, 1'000'000U);
}

std::string frame(recording::FrameKind kind, const std::string& payload) {
  std::string out;
  recording::append_fixed32(out, recording::kFrameMark);
  recording::append_fixed32(out, static_cast<std::uint32_t>(kind));
  recording::append_fixed32(out, static_cast<std::uint32_t>(payload.size()));
  recording::append_fixed32(out, recording::frame_sum(static_cast<std::uint32_t>(kind), payload));
  return out + payload;
}

// Channel 0 is of a signal nobody knows yet; channel 1 keeps its readings.
TEST(Recording, QuantitiesOfANewerVersionAreLeftOut) {
  const std::string header = sample(0).substr(0, recording::kHeaderSize);
  const auto channel = [](char id, const std::string& signal) {
    return frame(recording::FrameKind::kChannel,
                 std::string(1, id) + R"({"device":"gpu0","signal":")" + signal + R"(","source":"x"})");
  };
  const auto reading = [](char id) { return frame(recording::FrameKind::kReadings, std::string{id, 1, 20, 4}); };
  const Recording run =
      parse_recording(header + channel(0, "noise_db") + channel(1, "power_w") + reading(0) + reading(1)).value();
  ASSERT_EQ(run.channels.size(), 1U);
  EXPECT_EQ(run.channels[0].signal, Signal::kPower);
  EXPECT_EQ(run.readings[0], (std::vector<Reading>{{10, 2}}));
  EXPECT_EQ(run.damage.damaged, 0U);
}

// Written without a look at what it holds, as another program may.
TEST(Recording, TextsOfOthersAreHarmless) {
  constexpr const char* kBad = "a\u202Eb\xFF\x1B";
  constexpr const char* kGood = "a\uFFFDb\uFFFD\uFFFD";
  const std::string path = scratch("hostile.jcrun");
  auto writer = RecordingWriter::create(path, Existing::kReplace).value();
  writer.head(R"({"command":["a\u202eb\n"],"devices":[{"a\u2066":1}],"raw":")" + std::string("\xFF") + R"("})");
  const auto id = writer.channel({"gpu\u202E", Signal::kPower, "\u2067nvml", std::nullopt});
  writer.absence({5, id, Absence::kError, 1, kBad});
  writer.event({7, EventKind::kBegin, 42, kBad, kBad});
  writer.note(kBad);
  writer.end(R"({"why":"\u202e"})");
  ASSERT_TRUE(writer.sync());
  const Recording run = parse_recording(bytes_of(path)).value();
  std::filesystem::remove(path);
  EXPECT_EQ(run.head["command"][0], "a\uFFFDb\n");
  EXPECT_TRUE(run.head["devices"][0].contains("a\uFFFD"));
  EXPECT_EQ(run.head["raw"], "\uFFFD");
  EXPECT_EQ(run.end["why"], "\uFFFD");
  ASSERT_EQ(run.channels.size(), 1U);
  EXPECT_EQ(run.channels[0].device, "gpu\uFFFD");
  EXPECT_EQ(run.channels[0].source, "\uFFFDnvml");
  EXPECT_EQ(run.absences[0].text, kGood);
  EXPECT_EQ(run.events[0].name, kGood);
  EXPECT_EQ(run.events[0].details, kGood);
  EXPECT_EQ(run.notes[0], kGood);
}

// Printing JSON walks it down to its depth, and no file may choose that.
TEST(Recording, AHeadNestedBeyondReasonIsCutShort) {
  const std::string header = sample(0).substr(0, recording::kHeaderSize);
  const std::string deep = R"({"x":1,"y":)" + std::string(400'000, '[') + std::string(400'000, ']') + "}";
  const Recording run = parse_recording(header + frame(recording::FrameKind::kHead, deep)).value();
  EXPECT_EQ(run.head["x"], 1);
  EXPECT_LT(run.head.dump().size(), 1000U);
}

TEST(Recording, TimesThatNobodyMeasuredAreLeftOut) {
  const std::string path = scratch("times.jcrun");
  auto writer = RecordingWriter::create(path, Existing::kReplace).value();
  const auto id = writer.channel({"gpu0", Signal::kPower, "nvml", std::nullopt});
  writer.readings(id, std::vector<Reading>{{-kLargest, 1}, {5, 2}, {4, 3}, {kLargest, 4}});
  writer.event({kLargest, EventKind::kMark, 42, "x", ""});
  ASSERT_TRUE(writer.sync());
  const Recording run = parse_recording(bytes_of(path)).value();
  std::filesystem::remove(path);
  EXPECT_EQ(run.readings[0], (std::vector<Reading>{{5, 2}}));
  EXPECT_TRUE(run.events.empty());
}

TEST(Recording, WhatIsNoRecordingIsSaid) {
  const auto text = parse_recording("time,power\n");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), ErrorCode::kInvalidInput);
  std::string newer = sample(0);
  newer[8] = 9;
  const auto run = parse_recording(newer);
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().text().find("newer joulecast"), std::string::npos);
}

TEST(Recording, AnExistingFileIsNotReplacedUnlessAskedFor) {
  const std::string path = scratch("there.jcrun");
  ASSERT_TRUE(RecordingWriter::create(path, Existing::kRefuse));
  const auto again = RecordingWriter::create(path, Existing::kRefuse);
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().text().find("is there already"), std::string::npos);
  EXPECT_TRUE(RecordingWriter::create(path, Existing::kReplace));
  std::filesystem::remove(path);
}

TEST(Recording, TimesTurnIntoUtcBetweenTheirPairs) {
  Recording run;
  EXPECT_FALSE(run.utc(5));
  // The wall clock is set forward by a slow adjustment: 1100 us of UTC in 1000 us.
  run.clocks = {{1000, 5'000'000}, {2000, 5'001'100}};
  EXPECT_EQ(run.utc(1500), 5'000'550);
  EXPECT_EQ(run.utc(900), 4'999'900);
  EXPECT_EQ(run.utc(2100), 5'001'200);
}

}  // namespace
}  // namespace joulecast
