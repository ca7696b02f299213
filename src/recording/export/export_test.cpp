// SPDX-License-Identifier: Apache-2.0
// All numbers are made up.
#include "recording/export/exporters.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "recording/export/timeline.h"
#include "recording/export/trace_file.h"
#include "recording/writer.h"

namespace joulecast {
namespace {

// 2026-05-07 22:08:19 UTC.
constexpr std::int64_t kStart = 1'778'191'699'000'000;

Recording small_run() {
  Recording run;
  run.head = {{"devices", {{{"id", "gpu0"}, {"name", "Made \"Up\""}, {"details", {{"uuid", "GPU-1a"}}}}}}};
  run.channels = {{"gpu0", Signal::kPower, "nvml-instant", 0.025},
                  {"gpu0", Signal::kEnergy, "nvml-counter", 0.0},
                  {"gpu0", Signal::kTemperature, "nvml", {}},
                  {"cpu0", Signal::kEnergy, "rapl", {}}};
  run.readings = {{{5'000'000, 100'500}, {5'100'000, 99'000}, {5'200'000, 120'000}},
                  {{5'000'000, 7'000'000}, {5'200'000, 28'000'000}},
                  {},
                  {{5'050'000, 1'000'000}}};
  run.absences = {{5'000'000, 2, Absence::kUnsupported, 4, "not supported"}};
  run.events = {{5'020'000, EventKind::kBegin, 42, "train", ""},
                {5'090'000, EventKind::kBegin, 42, "epoch", "index=0"},
                {5'150'000, EventKind::kMark, 42, "saved", ""},
                {5'180'000, EventKind::kEnd, 42, "epoch", ""}};
  run.clocks = {{5'000'000, kStart}};
  run.notes = {"a quarter of the time is seen"};
  return run;
}

std::string exported(std::string_view name, const RunSource& run, const ExportOptions& options = {}) {
  std::string out;
  const auto done = find_exporter(name)->write(run, options, [&](std::string_view text) { out += text; });
  return done ? out : "error: " + done.error().text();
}

std::string exported(std::string_view name) {
  return exported(name, RunSource::of(small_run()));
}

std::string scratch(const std::string& name) {
  return testing::TempDir() + "export_" + std::to_string(::getpid()) + "_" + name;
}

TEST(ExportCsv, HasALineAReading) {
  EXPECT_EQ(exported("csv"),
            "time_utc,time_s,device,source,signal,value,phase\r\n"
            "2026-05-07T22:08:19.000000Z,0.000000,gpu0,nvml-instant,power_w,100.5,\r\n"
            "2026-05-07T22:08:19.100000Z,0.100000,gpu0,nvml-instant,power_w,99,train/epoch\r\n"
            "2026-05-07T22:08:19.200000Z,0.200000,gpu0,nvml-instant,power_w,120,train\r\n"
            "2026-05-07T22:08:19.000000Z,0.000000,gpu0,nvml-counter,energy_j,7,\r\n"
            "2026-05-07T22:08:19.200000Z,0.200000,gpu0,nvml-counter,energy_j,28,train\r\n"
            "2026-05-07T22:08:19.050000Z,0.050000,cpu0,rapl,energy_j,1,train\r\n");
}

TEST(ExportCsv, WithoutAWallClockItsColumnIsEmpty) {
  Recording run = small_run();
  run.clocks.clear();
  EXPECT_NE(exported("csv", RunSource::of(run)).find("\r\n,0.100000,gpu0"), std::string::npos);
}

TEST(ExportJson, IsOneObjectWithSamplesOnlyWhereAskedFor) {
  const auto json = nlohmann::json::parse(exported("json"));
  EXPECT_EQ(json["start_utc"], "2026-05-07T22:08:19.000000Z");
  EXPECT_EQ(json["duration_s"], 0.2);
  EXPECT_EQ(json["channels"][0]["lowest"], 99);
  EXPECT_EQ(json["channels"][0]["highest"], 120);
  EXPECT_EQ(json["channels"][0]["n"], 3);
  EXPECT_TRUE(json["channels"][2]["lowest"].is_null());
  EXPECT_EQ(json["absences"][0]["why"], "unsupported");
  EXPECT_EQ(json["events"][1]["details"], "index=0");
  EXPECT_TRUE(json["end"].is_null());
  EXPECT_FALSE(json.contains("samples"));
  const auto all = nlohmann::json::parse(exported("json", RunSource::of(small_run()), {true, {}, ""}));
  ASSERT_EQ(all["samples"].size(), 6U);
  EXPECT_EQ(all["samples"][1], nlohmann::json::parse("[0,0.1,99]"));
}

// The times of all events with that kind and name.
std::vector<double> times(const nlohmann::json& trace, const std::string& kind, const std::string& name) {
  std::vector<double> out;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == kind && event["name"] == name) out.push_back(event["ts"]);
  }
  return out;
}

TEST(ExportTrace, CountersAndPhasesStandOnPyTorchsClock) {
  const auto trace = nlohmann::json::parse(exported("trace"));
  const double start = static_cast<double>(kStart - trace["baseTimeNanoseconds"].get<std::int64_t>() / 1000);
  EXPECT_EQ(trace["baseTimeNanoseconds"].get<std::int64_t>() % 7'889'238'000'000'000, 0);
  EXPECT_EQ(times(trace, "C", "gpu0 power (nvml-instant)"),
            (std::vector<double>{start, start + 100'000, start + 200'000}));
  EXPECT_EQ(times(trace, "B", "epoch"), (std::vector<double>{start + 90'000}));
  EXPECT_EQ(times(trace, "E", "epoch"), (std::vector<double>{start + 180'000}));
  EXPECT_EQ(times(trace, "i", "saved"), (std::vector<double>{start + 150'000}));
  // Nobody ended the training: it ends with the recording.
  EXPECT_EQ(times(trace, "E", "train"), (std::vector<double>{start + 200'000}));
}

// `joulecast mark end` is another process than `joulecast mark begin`.
TEST(ExportTrace, AnotherProcessMayEndAPhase) {
  Recording run = small_run();
  run.events = {{5'020'000, EventKind::kBegin, 42, "load", ""},
                {5'080'000, EventKind::kBegin, kRecorderTrack, "command", ""},
                {5'090'000, EventKind::kEnd, 43, "load", ""},
                {5'100'000, EventKind::kEnd, 43, "command", ""}};
  const auto trace = nlohmann::json::parse(exported("trace", RunSource::of(run)));
  const double start = static_cast<double>(kStart - trace["baseTimeNanoseconds"].get<std::int64_t>() / 1000);
  EXPECT_EQ(times(trace, "E", "load"), (std::vector<double>{start + 90'000}));
  EXPECT_EQ(times(trace, "E", "command"), (std::vector<double>{start + 200'000}));
  EXPECT_NE(exported("csv", RunSource::of(run)).find("power_w,99,command\r\n"), std::string::npos);
}

class Merge : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string merged(const std::string& theirs) const {
    std::ofstream(path_) << theirs;
    return exported("trace", RunSource::of(small_run()), {false, path_, ""});
  }
  std::string path_ = scratch("trace.json");
};

TEST_F(Merge, PutsOurEventsOnTheirClock) {
  // Their time 0 is 19 s before the recording begins.
  const std::string theirs =
      R"({"schemaVersion": 1, "note": "\"traceEvents\": [", "traceEvents": [
        {"ph": "X", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 19000010.5, "dur": 3.25}
      ], "baseTimeNanoseconds": 1778191680000000000})";
  const auto trace = nlohmann::json::parse(merged(theirs));
  EXPECT_EQ(times(trace, "X", "aten::mm"), (std::vector<double>{19'000'010.5}));
  EXPECT_EQ(times(trace, "B", "epoch"), (std::vector<double>{19'090'000}));
  EXPECT_EQ(trace["schemaVersion"], 1);
}

TEST_F(Merge, OlderTracesCountFrom1970) {
  const auto trace = nlohmann::json::parse(merged(R"([{"ph":"X","name":"a","ts":1778191699000010,"dur":1}])"));
  ASSERT_TRUE(trace.is_array());
  EXPECT_EQ(trace[1]["ph"], "M");
  EXPECT_EQ(trace.back()["name"], "a");
}

TEST_F(Merge, RefusesWhatCannotBeAligned) {
  EXPECT_NE(merged(R"({"traceEvents":[{"ph":"X","ts":5}]})").find("baseTimeNanoseconds"), std::string::npos);
  EXPECT_NE(merged(R"({"traceEvents":[{"ts":1000000000000001}]})").find("nothing in it is of the time"),
            std::string::npos);
  EXPECT_NE(merged(R"({"traceEvents":[{"ph":"X")").find("ends in the middle"), std::string::npos);
  EXPECT_NE(merged("\x1f\x8b...").find("gunzip"), std::string::npos);
  EXPECT_NE(merged("{}").find("has no \"traceEvents\""), std::string::npos);
}

TEST(ExportOpenMetrics, NamesUnitsAndTimes) {
  const std::string text = exported("openmetrics", RunSource::of(small_run()), {false, {}, "1.2"});
  EXPECT_TRUE(text.starts_with("# TYPE joulecast_build info\n"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
  EXPECT_NE(text.find("# TYPE joulecast_gpu_energy_joules counter\n# UNIT joulecast_gpu_energy_joules joules\n"),
            std::string::npos);
  // A counter counts from its first reading.
  EXPECT_NE(text.find("joulecast_gpu_energy_joules_total{gpu=\"gpu0\",source=\"nvml-counter\",model=\"Made "
                      "\\\"Up\\\"\",uuid=\"GPU-1a\"} 21 1778191699.200000\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("joulecast_cpu_energy_joules_total{cpu=\"cpu0\",source=\"rapl\"} 0 "), std::string::npos);
  // Absent is absent.
  EXPECT_EQ(text.find("temperature_celsius"), std::string::npos);
  EXPECT_NE(text.find("joulecast_sensor_up{device=\"gpu0\",signal=\"temperature_c\",source=\"nvml\"} 0\n"),
            std::string::npos);
}

TEST(ExportOpenMetrics, ACounterThatWasSetBackNeverFalls) {
  Recording run = small_run();
  run.readings[1] = {{5'000'000, 9'000'000}, {5'100'000, 10'000'000}, {5'200'000, 500'000}, {5'300'000, 2'500'000}};
  const std::string text = exported("openmetrics", RunSource::of(run));
  EXPECT_NE(text.find("} 1 1778191699.200000\n"), std::string::npos);
  EXPECT_NE(text.find("} 3 1778191699.300000\n"), std::string::npos);
}

TEST(RunSource, AFileTellsWhatMemoryTells) {
  const std::string path = scratch("run.jcrun");
  const Recording run = small_run();
  auto writer = RecordingWriter::create(path, Existing::kReplace).value();
  writer.head(run.head.dump());
  for (const Channel& channel : run.channels) writer.channel(channel);
  for (const ClockPair& pair : run.clocks) writer.clocks(pair);
  for (std::uint32_t i = 0; i < run.readings.size(); ++i) writer.readings(i, run.readings[i]);
  // A reading out of order is left out, as it is on loading.
  writer.readings(0, std::vector<Reading>{{5'150'000, 1}});
  for (const Event& event : run.events) writer.event(event);
  for (const AbsenceRecord& record : run.absences) writer.absence(record);
  ASSERT_TRUE(writer.sync());
  const RunSource file = RunSource::open(path).value();
  for (const char* name : {"csv", "trace", "openmetrics"}) EXPECT_EQ(exported(name, file), exported(name)) << name;
  EXPECT_EQ(file.counts(), (std::vector<std::uint64_t>{3, 2, 0, 1}));
  const std::string out = scratch("out.csv");
  ASSERT_TRUE(export_to_file(*find_exporter("csv"), file, {}, out));
  std::ifstream in(out, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), exported("csv"));
  EXPECT_FALSE(std::filesystem::exists(out + ".part"));
  std::filesystem::remove(path);
  std::filesystem::remove(out);
}

TEST(RunSource, AFailedExportLeavesWhatWasThere) {
  const std::string out = scratch("kept.json");
  std::ofstream(out) << "kept";
  EXPECT_FALSE(export_to_file(*find_exporter("trace"), RunSource::of(small_run()), {false, "/nowhere.json", ""}, out));
  std::ifstream in(out);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "kept");
  EXPECT_FALSE(std::filesystem::exists(out + ".part"));
  std::filesystem::remove(out);
}

TEST(UtcClock, StandsBetweenItsPairs) {
  // The wall clock was set forward slowly: 1100 us of UTC in 1000 us; then it was set at once, which says nothing of
  // the time in between.
  const UtcClock clock({{2000, 5'001'100}, {1000, 5'000'000}, {3000, 9'000'000}});
  EXPECT_EQ(clock.utc(1500), 5'000'550);
  EXPECT_EQ(clock.utc(900), 4'999'900);
  EXPECT_EQ(clock.utc(2500), 5'001'600);
  EXPECT_EQ(clock.utc(3100), 9'000'100);
}

TEST(SiText, HasTheDigitsOfItsStep) {
  EXPECT_EQ(si_text({0, 100'500}, Signal::kPower), "100.5");
  EXPECT_EQ(si_text({0, -1}, Signal::kEnergy), "-0.000001");
  EXPECT_EQ(si_text({0, 5000}, Signal::kUtilization), "0.5");
  EXPECT_EQ(si_text({0, 0}, Signal::kPower), "0");
  EXPECT_EQ(si_text({0, 1'410'000'000}, Signal::kSmClock), "1410000000");
  EXPECT_EQ(si_text({0, std::numeric_limits<std::int64_t>::max()}, Signal::kPower), "9223372036854775.807");
}

}  // namespace
}  // namespace joulecast
