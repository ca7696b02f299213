// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace joulecast::nvml {
namespace {

std::string error_of(const std::string& text) {
  const auto scenario = parse_scenario(text, ".");
  return scenario ? "no error" : scenario.error().text();
}

TEST(StandinScenario, AllThatShipRead) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(JOULECAST_SOURCE_DIR "/tests/nvml/scenarios")) {
    if (entry.path().extension() != ".toml") continue;
    ++count;
    const auto scenario = read_scenario(entry.path().string());
    ASSERT_TRUE(scenario) << scenario.error().text();
    EXPECT_FALSE(scenario->gpus.empty());
  }
  EXPECT_GE(count, 13U);
}

TEST(StandinScenario, CopiesOfAGpuHaveNamesOfTheirOwn) {
  const auto scenario = parse_scenario("[[gpu]]\ncount = 3\n[[gpu]]\nuuid = \"GPU-x\"\n", ".");
  ASSERT_TRUE(scenario) << scenario.error().text();
  ASSERT_EQ(scenario->gpus.size(), 4U);
  EXPECT_NE(scenario->gpus[0].uuid, scenario->gpus[1].uuid);
  EXPECT_NE(scenario->gpus[1].bus_id, scenario->gpus[2].bus_id);
  EXPECT_EQ(scenario->gpus[3].uuid, "GPU-x");
}

TEST(StandinScenario, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(error_of("[[gpu]]\nidle_watts = 3\n"), "line 2: gpu.idle_watts: unknown key");
  EXPECT_EQ(error_of("allow_set = 1\n"), "line 1: allow_set: expected true or false");
  EXPECT_EQ(error_of("[[gpu]]\nidle_w = \"much\"\n"), "line 2: gpu.idle_w: expected a number");
  EXPECT_EQ(error_of("[[fault]]\nfunction = \"nvmlFly\"\n"),
            "line 2: fault.function: the stand-in has no 'nvmlFly' that can fail");
  EXPECT_EQ(error_of("[[fault]]\nfunction = \"nvmlDeviceGetName\"\nvalue = 3\n"),
            "line 3: fault.value: 'nvmlDeviceGetName' does not answer one number");
  EXPECT_EQ(error_of("[[fault]]\nfunction = \"nvmlDeviceGetSamples\"\nvalue = 3\n"),
            "line 3: fault.value: 'nvmlDeviceGetSamples' does not answer one number");
  EXPECT_EQ(error_of("[[fault]]\nfunction = \"nvmlDeviceGetClockInfo\"\nvalue = 3\n"), "no error");
  EXPECT_EQ(error_of("[[fault]]\nfield = 186\ngpu = 0\n"), "line 3: fault.gpu: there is no such GPU above");
  EXPECT_EQ(error_of("[[fault]]\nfield = 186\ndelay_ms = 3\n"),
            "line 3: fault.delay_ms: delays a function, not a field");
  EXPECT_EQ(error_of("[[fault]]\nfield = 186\nreturn = \"OOPS\"\n"), "line 3: fault.return: there is no 'OOPS'");
  EXPECT_NE(error_of("[[gpu]]\nmig = \"maybe\"\n").find("is none of: unsupported, disabled, enabled"),
            std::string::npos);
  EXPECT_NE(error_of("[[gpu]]\nload = {}\n").find("needs one of constant_w, high_w, csv"), std::string::npos);
  EXPECT_NE(error_of("[[gpu]]\nmax_limit_w = 100\n").find("is not between"), std::string::npos);
  EXPECT_NE(error_of("[[gpu]\n").find("line 1"), std::string::npos);
}

class StandinRecording : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Result<Scenario> with(const std::string& rows, const char* more = "") {
    std::ofstream(folder_ + "/standin_load.csv") << rows;
    return parse_scenario(std::string("[[gpu]]\nload = {csv = \"standin_load.csv\"") + more + "}\n", folder_);
  }
  std::string folder_ = testing::TempDir() + "standin_" + std::to_string(::getpid());
};

TEST_F(StandinRecording, HoldsEachPowerUntilTheNext) {
  const auto scenario = with("time_s,power_w\n0,100\n0.5,250.5\n1,90\n", ", repeat = true");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const Load& load = scenario->gpus[0].load;
  ASSERT_EQ(load.steps.size(), 3U);
  EXPECT_EQ(load.steps[1].at, kSecond / 2);
  EXPECT_DOUBLE_EQ(load.steps[1].power_w, 250.5);
  EXPECT_EQ(load.period, kSecond);
}

TEST_F(StandinRecording, RefusesWhatIsNoRecording) {
  EXPECT_NE(with("t,p\n0,1\n1,2\n").error().text().find("first line"), std::string::npos);
  EXPECT_NE(with("time_s,power_w\n0,1\n0,2\n").error().text().find("line 3 is no later time"), std::string::npos);
  EXPECT_NE(with("time_s,power_w\n0,1\n1,x\n").error().text().find("line 3"), std::string::npos);
  EXPECT_NE(with("time_s,power_w\n0,1\n").error().text().find("fewer than two"), std::string::npos);
}

}  // namespace
}  // namespace joulecast::nvml
