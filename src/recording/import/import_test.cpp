// SPDX-License-Identifier: Apache-2.0
// All numbers are made up.
#include "recording/import/import.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "recording/import/gpyjoules.h"
#include "recording/import/smi_log.h"
#include "recording/import/wall_time.h"

namespace joulecast {
namespace {

constexpr std::int64_t kHour = 3'600'000'000;
// 2026-05-07 22:08:19 UTC.
constexpr std::int64_t kStart = 1'778'191'699'000'000;

std::string error_of(const Result<Recording>& run) {
  return run ? "no error" : run.error().text();
}

bool has_note(const Recording& run, std::string_view part) {
  return std::any_of(run.notes.begin(), run.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

// The readings of a channel, found by what it is; fails the test where there is none.
std::vector<Reading> readings(const Recording& run, const std::string& device, Signal signal,
                              const std::string& source) {
  for (std::size_t i = 0; i < run.channels.size(); ++i) {
    const Channel& channel = run.channels[i];
    if (channel.device == device && channel.signal == signal && channel.source == source) return run.readings[i];
  }
  ADD_FAILURE() << "no channel " << device << " " << info(signal).key << " of " << source;
  return {};
}

TEST(WallTime, IsReadInItsSpellings) {
  EXPECT_EQ(parse_wall_time("2026/05/07 22:08:19.005")->us, kStart + 5000);
  EXPECT_EQ(parse_wall_time("2026-05-07T22:08:19")->us, kStart);
  EXPECT_FALSE(parse_wall_time("2026-05-07T22:08:19")->zoned);
  EXPECT_EQ(parse_wall_time("2026-05-07 22:08:19.1234567+02:00")->us, kStart + 123456 - 2 * kHour);
  EXPECT_TRUE(parse_wall_time("2026-05-07 22:08:19Z")->zoned);
  for (const char* wrong : {"", "2026-02-30 00:00:00", "2026/05-07 22:08:19", "2026-05-07 24:00:00", "22:08:19",
                            "2026-05-07 22:08:19.", "2026-05-07 22:08:19 and"}) {
    EXPECT_FALSE(parse_wall_time(wrong)) << wrong;
  }
  EXPECT_EQ(utc_text(kStart + 5000), "2026-05-07T22:08:19.005000Z");
  EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59.999999Z");
}

TEST(WallTime, OffsetsOfZones) {
  EXPECT_EQ(parse_utc_offset("+02:00"), 2 * kHour);
  EXPECT_EQ(parse_utc_offset("-0330"), -7 * kHour / 2);
  EXPECT_EQ(parse_utc_offset("Z"), 0);
  for (const char* wrong : {"", "2", "+2", "+02:60", "+19:00", "CET"}) EXPECT_FALSE(parse_utc_offset(wrong)) << wrong;
  EXPECT_EQ(utc_offset_text(-7 * kHour / 2), "-03:30");
}

TEST(SmiLog, ReadsColumnsInAnyOrderWithTheirUnits) {
  const Recording run =
      parse_smi_log(
          "utilization.gpu [%], timestamp, power.draw [W], memory.used [MiB], index, power.draw.instant [W], pstate\n"
          "50 %, 2026/05/07 22:08:19.000, 75.20 W, 10 MiB, 0, 80.00 W, P2\n"
          "0 %, 2026/05/07 22:08:19.002, 30.50 W, 2 MiB, 1, 31.00 W, P8\n"
          "70 %, 2026/05/07 22:08:19.100, 76.00 W, 11 MiB, 0, 81.50 W, P0\n",
          {}, "log.csv")
          .value();
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "smi-power"), (std::vector<Reading>{{0, 75'200}, {100'000, 76'000}}));
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "smi-instant"),
            (std::vector<Reading>{{0, 80'000}, {100'000, 81'500}}));
  EXPECT_EQ(readings(run, "gpu1", Signal::kPower, "smi-power"), (std::vector<Reading>{{2000, 30'500}}));
  EXPECT_EQ(readings(run, "gpu0", Signal::kUtilization, "smi"), (std::vector<Reading>{{0, 5000}, {100'000, 7000}}));
  EXPECT_EQ(readings(run, "gpu0", Signal::kMemoryUsed, "smi")[1].value, 11 * 1048576);
  EXPECT_EQ(readings(run, "gpu0", Signal::kPerformanceState, "smi")[0].value, 2);
  EXPECT_EQ(run.utc(0), kStart);
  EXPECT_TRUE(has_note(run, "read as UTC"));
  EXPECT_EQ(run.head["devices"].size(), 2U);
}

TEST(SmiLog, WithoutUnitsTheHeaderTellsThem) {
  const Recording run = parse_smi_log(
                            "timestamp, clocks.current.sm [MHz], enforced.power.limit [W], power.limit [W], "
                            "clocks_throttle_reasons.active\n"
                            "2026/05/07 22:08:19.000, 1410, 250.00, 300.00, 0x0000000000000004\n",
                            {}, "log.csv")
                            .value();
  EXPECT_EQ(readings(run, "gpu0", Signal::kSmClock, "smi")[0].value, 1'410'000'000);
  EXPECT_EQ(readings(run, "gpu0", Signal::kPowerLimit, "smi")[0].value, 250'000);
  EXPECT_EQ(readings(run, "gpu0", Signal::kRequestedLimit, "smi")[0].value, 300'000);
  EXPECT_EQ(readings(run, "gpu0", Signal::kEventReasons, "smi")[0].value, 4);
  EXPECT_TRUE(has_note(run, "no column says which GPU"));
}

TEST(SmiLog, WithoutHeaderTheColumnsMustBeGiven) {
  const std::string log =
      "2026/05/07 22:08:19.000, GPU-1a, 75.20 W\n"
      "2026/05/07 22:08:19.000, GPU-2b, 30.00 W\n";
  EXPECT_NE(error_of(parse_smi_log(log, {}, "log.csv")).find("log.csv:1: has no header"), std::string::npos);
  const Recording run = parse_smi_log(log, {2 * kHour, {"timestamp", "gpu_uuid", "power.draw"}}, "log.csv").value();
  EXPECT_EQ(readings(run, "gpu1", Signal::kPower, "smi-power"), (std::vector<Reading>{{0, 30'000}}));
  EXPECT_EQ(run.head["devices"][1]["details"]["uuid"], "GPU-2b");
  EXPECT_EQ(run.utc(0), kStart - 2 * kHour);
  EXPECT_TRUE(has_note(run, "UTC+02:00, as was asked for"));
}

TEST(SmiLog, WhatIsNotThereIsNeverZero) {
  const Recording run = parse_smi_log(
                            "timestamp, index, power.draw [W], power.draw.average [W]\n"
                            "2026/05/07 22:08:19.000, 0, [N/A], [Not Supported]\n"
                            "2026/05/07 22:08:20.000, 0, [N/A], [Not Supported]\n"
                            "2026/05/07 22:08:21.000, 0, 75.20 W, [Not Supported]\n"
                            "2026/05/07 22:08:22.000, 0, [GPU is lost], [Not Supported]\n",
                            {}, "log.csv")
                            .value();
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "smi-power"), (std::vector<Reading>{{2'000'000, 75'200}}));
  EXPECT_TRUE(readings(run, "gpu0", Signal::kPower, "smi-average").empty());
  ASSERT_EQ(run.absences.size(), 3U);
  EXPECT_EQ(run.absences[0], (AbsenceRecord{0, 0, Absence::kUnsupported, 2, "[N/A]"}));
  EXPECT_EQ(run.absences[1], (AbsenceRecord{0, 1, Absence::kUnsupported, 4, "[Not Supported]"}));
  EXPECT_EQ(run.absences[2], (AbsenceRecord{3'000'000, 0, Absence::kDeviceLost, 1, "[GPU is lost]"}));
}

// The field's commonest fault: 0 where there was no reading, or a number that stands for none.
TEST(SmiLog, PowerThatNoGpuDrawsIsNoReading) {
  const Recording run = parse_smi_log(
                            "timestamp, index, power.draw [W], utilization.gpu [%], enforced.power.limit [W]\n"
                            "2026/05/07 22:08:19.000, 0, 75.20 W, 0 %, 250.00 W\n"
                            "2026/05/07 22:08:20.000, 0, 0.00 W, 0 %, 250.00 W\n"
                            "2026/05/07 22:08:21.000, 0, 0.00 W, 0 %, 250.00 W\n"
                            "2026/05/07 22:08:22.000, 0, 99999.00 W, 0 %, 250.00 W\n"
                            "2026/05/07 22:08:23.000, 0, 501.00 W, 0 %, 250.00 W\n"
                            "2026/05/07 22:08:24.000, 0, 310.00 W, 0 %, 250.00 W\n",
                            {}, "log.csv")
                            .value();
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "smi-power"),
            (std::vector<Reading>{{0, 75'200}, {5'000'000, 310'000}}));
  EXPECT_EQ(readings(run, "gpu0", Signal::kUtilization, "smi").size(), 6U) << "0 % is a reading";
  ASSERT_EQ(run.absences.size(), 2U);
  EXPECT_EQ(run.absences[0].absence, Absence::kImplausible);
  EXPECT_EQ(run.absences[0].count, 2U);
  EXPECT_EQ(run.absences[1].time, 3'000'000);
  EXPECT_EQ(run.absences[1].count, 2U);
  EXPECT_NE(run.absences[1].text.find("more than 500 W"), std::string::npos);
  EXPECT_TRUE(has_note(run, "gpu0 smi-power: 4 of 6 values are no power of a GPU"));
}

TEST(SmiLog, WithoutALimitPowerIsAsMuchAsAnyGpuDraws) {
  const Recording run = parse_smi_log(
                            "timestamp, power.draw [W]\n2026/05/07 22:08:19.000, 1400.00 W\n"
                            "2026/05/07 22:08:20.000, 99999.00 W\n",
                            {}, "log.csv")
                            .value();
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "smi-power"), (std::vector<Reading>{{0, 1'400'000}}));
}

TEST(SmiLog, TextsAreHarmless) {
  const std::string log =
      "timestamp, uuid, name, power.draw [W]\n2026/05/07 22:08:19.000, GPU-\u202E1, A\xFF\u2066, [a\u202E]\n";
  const Recording run = parse_smi_log(log, {}, "a.csv").value();
  EXPECT_EQ(run.head["devices"][0]["name"], "A\uFFFD\uFFFD");
  EXPECT_EQ(run.head["devices"][0]["details"]["uuid"], "GPU-\uFFFD1");
  EXPECT_EQ(run.absences.at(0).text, "[a\uFFFD]");
}

TEST(SmiLog, ALineThatWasCutOffIsLeftOut) {
  const Recording run = parse_smi_log(
                            "timestamp, power.draw [W]\n"
                            "2026/05/07 22:08:19.000, 75.20 W\n"
                            "2026/05/07 22:08:20.000, 7",
                            {}, "log.csv")
                            .value();
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "smi-power").size(), 1U);
  EXPECT_TRUE(has_note(run, "line 3 was cut off"));
}

TEST(SmiLog, RowsThatCannotBeReadAreLeftOutAndCounted) {
  const auto row = [](int second, const char* rest) {
    return fmt::format("2026/05/07 22:08:{}.000, 0, {}\n", second, rest);
  };
  // Half a line, with what the next logger wrote after it; and one torn inside its last value.
  const std::string log = "timestamp, index, power.draw [W]\n" + row(19, "75.20 W") + "2026/05/07 22:08:20.000, 0, 7" +
                          row(21, "80.00 W") + row(22, "90.00 W") + row(23, "9x");
  const Recording run = parse_smi_log(log, {}, "log.csv").value();
  const auto power = readings(run, "gpu0", Signal::kPower, "smi-power");
  ASSERT_EQ(power.size(), 2U);
  EXPECT_EQ(power[1].value, 90'000);
  EXPECT_EQ(run.head["devices"].size(), 1U);
  EXPECT_TRUE(has_note(run, "2 of 4 rows cannot be read and are left out, the first: log.csv:3: has 5 cells"));
}

TEST(SmiLog, ErrorsNameTheLine) {
  const std::string head = "timestamp, power.draw [W]\n";
  const auto error = [&](const std::string& line) {
    return error_of(parse_smi_log(head + line + "\n", {}, "log.csv"));
  };
  EXPECT_EQ(error("2026/05/07 22:08:20.000, much"), "log.csv:2: 'much' is no value of power.draw");
  EXPECT_EQ(error("2026/05/07 22:08:20.000, 7 MHz"), "log.csv:2: 'MHz' is no unit of power.draw");
  EXPECT_EQ(error("yesterday, 75.20 W"), "log.csv:2: 'yesterday' is no time");
  const std::string first = "2026/05/07 22:08:19.000, 75.20 W\n";
  EXPECT_NE(error(first + "2026/05/07 21:08:20.000, 75.20 W").find("log.csv:3: the time goes back"), std::string::npos);
  EXPECT_NE(error(first + "2026/05/07 22:08:19.000, 75.20 W").find("--query-gpu=timestamp,index"), std::string::npos);
  EXPECT_EQ(error("2026/05/07 22:08:20.000, 75.20 W, 3"), "log.csv:2: has 3 cells instead of 2");
  EXPECT_NE(error_of(parse_smi_log("power.draw [W], index\n75, 0\n", {}, "x")).find("no column 'timestamp'"),
            std::string::npos);
}

GpyjoulesFiles small_run() {
  GpyjoulesFiles files;
  files.gpu_power =
      ",timestamp,power,total-energy,clock-gpu,tmp,pci-tx,fan\n"
      "0,2026-05-08 00:08:19.000000,101500,5000,1380,44,12,7\n"
      "1,2026-05-08 00:08:19.150000,102500,5020,1380,,12,7\n";
  files.power_samples =
      ",timestamp,value\n"
      "0,1778191698900000,99000\n"
      "1,1778191698940000,98000\n"
      "2,1778191698920000,97000\n";
  files.external = ",timestamp,d0c0,d1c1\n0,2026-05-08 00:08:19.020000,16000,9000\n";
  files.timestamps =
      "timestamp,event,data\n"
      "2026-05-08 00:08:19.010000,experiment_begin,0\n"
      "2026-05-08 00:08:19.020000,epoch_begin,3\n"
      "2026-05-08 00:08:19.140000,epoch_end,3\n"
      "2026-05-08 00:08:19.145000,experiment_end,0\n";
  files.system_info = R"({"device_name":"Made Up GPU","driver_version":"460.1"})";
  return files;
}

TEST(Gpyjoules, ReadsARun) {
  const GpyjoulesRun place{"pl/mnist/200W/0", "pl", "mnist", "200W", "0", gpyjoules_setting("200W")};
  const Recording run = parse_gpyjoules(small_run(), place, {}).value();
  // The first sample of the buffer is where the run begins; the other clocks are two hours ahead of its.
  EXPECT_EQ(run.utc(0), 1'778'191'698'900'000);
  EXPECT_TRUE(has_note(run, "UTC+02:00, after the sample buffer"));
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "gpyjoules-buffer"),
            (std::vector<Reading>{{0, 99'000}, {20'000, 97'000}, {40'000, 98'000}}));
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "gpyjoules-power-usage"),
            (std::vector<Reading>{{100'000, 101'500}, {250'000, 102'500}}));
  EXPECT_EQ(readings(run, "gpu0", Signal::kEnergy, "gpyjoules-counter")[1].value, 5'020'000);
  EXPECT_EQ(readings(run, "gpu0", Signal::kSmClock, "gpyjoules")[0].value, 1'380'000'000);
  EXPECT_EQ(readings(run, "gpu0", Signal::kTemperature, "gpyjoules").size(), 1U);
  EXPECT_EQ(readings(run, "gpu0", Signal::kPcieSent, "gpyjoules")[0].value, 12'000);
  EXPECT_EQ(readings(run, "meter-d0c0", Signal::kPower, "gpyjoules-meter")[0].value, 160'000);
  EXPECT_TRUE(has_note(run, "'fan' was left out"));
  ASSERT_EQ(run.absences.size(), 1U);
  ASSERT_EQ(run.events.size(), 4U);
  EXPECT_EQ(run.events[1], (Event{120'000, EventKind::kBegin, 0, "epoch", "index=3"}));
  EXPECT_EQ(run.events[3], (Event{245'000, EventKind::kEnd, 0, "experiment", ""}));
  EXPECT_EQ(run.head["imported"]["setting"]["power_limit_w"], 200.0);
  EXPECT_EQ(run.head["devices"][0]["name"], "Made Up GPU");
}

TEST(Gpyjoules, ZeroIsAReadingOfMetersAlone) {
  GpyjoulesFiles files = small_run();
  files.gpu_power =
      ",timestamp,power,total-energy\n"
      "0,2026-05-08 00:08:19.000000,0,0\n"
      "1,2026-05-08 00:08:19.150000,102500,5020\n";
  files.power_samples = ",timestamp,value\n0,1778191698900000,4294967295\n1,1778191698940000,98000\n";
  files.external = ",timestamp,d0c0\n0,2026-05-08 00:08:19.020000,0\n";
  const Recording run = parse_gpyjoules(files, {}, {}).value();
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "gpyjoules-power-usage").size(), 1U);
  EXPECT_EQ(readings(run, "gpu0", Signal::kEnergy, "gpyjoules-counter").size(), 1U);
  EXPECT_EQ(readings(run, "gpu0", Signal::kPower, "gpyjoules-buffer").size(), 1U);
  EXPECT_EQ(readings(run, "meter-d0c0", Signal::kPower, "gpyjoules-meter").at(0).value, 0);
  EXPECT_TRUE(has_note(run, "gpu0 gpyjoules-counter: 1 of 2 values are no energy"));
}

TEST(Gpyjoules, WithoutTheBufferTheZoneIsAnAssumption) {
  GpyjoulesFiles files = small_run();
  files.power_samples = {};
  const Recording assumed = parse_gpyjoules(files, {}, {}).value();
  EXPECT_TRUE(has_note(assumed, "read as UTC; joulecast export --utc-offset"));
  EXPECT_EQ(assumed.utc(0), kStart + 2 * kHour);
  EXPECT_EQ(parse_gpyjoules(files, {}, {2 * kHour, {}})->utc(0), kStart);
}

TEST(Gpyjoules, ErrorsNameFileAndLine) {
  GpyjoulesFiles files = small_run();
  files.external = ",timestamp,d0c0\n0,2026-05-08 00:08:19.020000,lots\n";
  const GpyjoulesRun place{"pl/0", "", "", "", "", {}};
  EXPECT_EQ(error_of(parse_gpyjoules(files, place, {})), "pl/0: power-external.csv:2: 'lots' is no number");
}

TEST(Gpyjoules, ALineThatWasCutOffIsLeftOut) {
  GpyjoulesFiles files = small_run();
  const std::string whole(files.gpu_power);
  const std::size_t rows = static_cast<std::size_t>(std::count(whole.begin(), whole.end(), '\n')) - 1;
  for (const std::size_t missing : {1U, 2U, 30U}) {
    const std::string cut = whole.substr(0, whole.size() - missing);
    files.gpu_power = cut;
    const auto run = parse_gpyjoules(files, {}, {});
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_EQ(readings(*run, "gpu0", Signal::kPower, "gpyjoules-power-usage").size(), rows - 1) << missing;
    EXPECT_TRUE(has_note(*run, fmt::format("gpu-power.csv:{} was cut off and is left out", rows + 1)));
  }
}

TEST(Gpyjoules, FolderNamesAreSettings) {
  EXPECT_EQ(gpyjoules_setting("200W").power_limit_w, 200.0);
  const auto clocks = gpyjoules_setting("877MHz,1065MHz");
  EXPECT_EQ(clocks.memory_clock_hz, 877e6);
  EXPECT_EQ(clocks.sm_clock_hz, 1065e6);
  EXPECT_FALSE(gpyjoules_setting("fastW").power_limit_w);
}

class Folder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void put(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name) << text;
  }
  std::string root_ = testing::TempDir() + "import_" + std::to_string(::getpid());
};

TEST_F(Folder, ATreeIsListedWithoutItsBaselines) {
  put("pl/mnist/200W/0/gpu-power.csv", small_run().gpu_power);
  EXPECT_EQ(kind_of(root_), RecordingKind::kGpyjoules);
  EXPECT_TRUE(load_any(root_ + "/pl"));  // the only one
  put("pl/mnist/250W/1/gpu-power.csv", small_run().gpu_power);
  put("pl/mnist/_baseline/0/gpu-power.csv", small_run().gpu_power);
  const auto runs = find_gpyjoules_runs(root_)->runs;
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1].experiment, "pl");
  EXPECT_EQ(runs[1].benchmark, "mnist");
  EXPECT_EQ(runs[1].setting.power_limit_w, 250.0);
  EXPECT_NE(error_of(load_any(root_)).find("holds 2 runs of GPyJoules; name one, such as"), std::string::npos);
  EXPECT_TRUE(load_any(root_ + "/pl/mnist/_baseline/0"));
  EXPECT_NE(error_of(load_any(root_ + "/pl/mnist/_baseline/none")).find("No such file"), std::string::npos);
}

TEST_F(Folder, WhatMayNotBeReadInATreeIsNamed) {
  put("pl/mnist/200W/0/gpu-power.csv", small_run().gpu_power);
  std::filesystem::create_directories(root_ + "/pl/mnist/200W/1");
  std::filesystem::create_symlink("gpu-power.csv", root_ + "/pl/mnist/200W/1/gpu-power.csv");  // its own target
  std::filesystem::create_symlink("2", root_ + "/pl/mnist/200W/2");
  const GpyjoulesTree tree = find_gpyjoules_runs(root_).value();
  ASSERT_EQ(tree.runs.size(), 2U) << "reading the second says what is wrong with it";
  EXPECT_NE(error_of(load_any(tree.runs[1].path)).find("200W/1/gpu-power.csv: "), std::string::npos);
  ASSERT_EQ(tree.unread.size(), 1U);
  EXPECT_TRUE(tree.unread[0].starts_with(root_ + "/pl/mnist/200W/2: Too many levels")) << tree.unread[0];
}

TEST_F(Folder, WhatWasImportedIsSavedAsARecording) {
  put("log.csv",
      "timestamp, index, power.draw [W]\n2026/05/07 22:08:19.000, 0, [N/A]\n2026/05/07 22:08:20.000, 0, 9 W\n");
  const Recording run = load_any(root_ + "/log.csv").value();
  ASSERT_TRUE(save_recording(run, root_ + "/run.jcrun"));
  EXPECT_FALSE(std::filesystem::exists(root_ + "/run.jcrun.part"));
  const Recording again = load_any(root_ + "/run.jcrun").value();
  EXPECT_EQ(again.channels, run.channels);
  EXPECT_EQ(again.readings, run.readings);
  EXPECT_EQ(again.absences, run.absences);
  EXPECT_EQ(again.notes, run.notes);
  EXPECT_EQ(again.clocks, run.clocks);
  EXPECT_TRUE(again.damage.complete);
}

TEST_F(Folder, AnythingElseIsRefused) {
  put("notes.txt", "power was high\n");
  EXPECT_NE(error_of(load_any(root_ + "/notes.txt")).find("is neither a recording"), std::string::npos);
}

}  // namespace
}  // namespace joulecast
