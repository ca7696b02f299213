// SPDX-License-Identifier: Apache-2.0
// What is set: limits and clocks, who may, and what outlives the process that did it.
#include <sys/wait.h>

#include <csignal>
#include <thread>
#include <vector>

#include "opened_library.h"

namespace joulecast::nvml {
namespace {

constexpr const char* kBusy = "allow_set = true\n[[gpu]]\ncount = 2\nload = {constant_w = 600}\n";

std::uint32_t limit_of(const OpenedLibrary& nvml, Device device) {
  std::uint32_t limit = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetPowerManagementLimit)(device, &limit), Return::kSuccess);
  return limit;
}

std::uint32_t sm_clock_of(const OpenedLibrary& nvml, Device device) {
  std::uint32_t clock = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetClockInfo)(device, ClockType::kSm, &clock), Return::kSuccess);
  return clock;
}

std::uint64_t reasons_of(const OpenedLibrary& nvml, Device device) {
  std::uint64_t reasons = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCurrentClocksEventReasons)(device, &reasons), Return::kSuccess);
  return reasons;
}

TEST_F(StandinTest, ALimitCapsPowerClockAndSaysSo) {
  scenario(kBusy);
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  EXPECT_EQ(reasons_of(nvml, device), event_reason::kNone);
  ASSERT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, 335'000), Return::kSuccess);
  EXPECT_EQ(limit_of(nvml, device), 335'000U);
  EXPECT_EQ(reasons_of(nvml, device), event_reason::kSwPowerCap);
  EXPECT_EQ(sm_clock_of(nvml, device), 1560U);
  EXPECT_EQ(read_field(nvml, device, FieldId::kPowerCurrentLimit).value.as_uint, 335'000U);
  EXPECT_EQ(limit_of(nvml, open_gpu(nvml, 1)), 700'000U) << "the other GPU keeps its own";
  std::this_thread::sleep_for(std::chrono::milliseconds(230));
  EXPECT_EQ(read_field(nvml, device, FieldId::kPowerInstant).value.as_uint, 335'000U);
}

TEST_F(StandinTest, LimitsHaveARange) {
  scenario(kBusy);
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  std::uint32_t low = 0, high = 0, normal = 0;
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetPowerManagementLimitConstraints)(device, &low, &high), Return::kSuccess);
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetPowerManagementDefaultLimit)(device, &normal), Return::kSuccess);
  EXPECT_EQ(low, 200'000U);
  EXPECT_EQ(high, 700'000U);
  EXPECT_EQ(normal, 700'000U);
  EXPECT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, low - 1), Return::kInvalidArgument);
  EXPECT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, high + 1), Return::kInvalidArgument);
  EXPECT_EQ(limit_of(nvml, device), 700'000U);
}

TEST_F(StandinTest, WhoMayNotSetIsDenied) {
  shipped("denied");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  EXPECT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, 300'000), Return::kNoPermission);
  EXPECT_EQ(NVML(nvml, nvmlDeviceSetGpuLockedClocks)(device, 900, 900), Return::kNoPermission);
  EXPECT_EQ(NVML(nvml, nvmlDeviceResetMemoryLockedClocks)(device), Return::kNoPermission);
  EXPECT_EQ(limit_of(nvml, device), 700'000U);
}

TEST_F(StandinTest, AStubbornLimitSaysYesAndStays) {
  shipped("stubborn_limit");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  EXPECT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, 300'000), Return::kSuccess);
  EXPECT_EQ(limit_of(nvml, device), 700'000U);
}

TEST_F(StandinTest, ALimitSetByOthersIsEnforcedButNotAskedFor) {
  scenario("[[gpu]]\nload = {constant_w = 600}\n[[gpu.out_of_band]]\nat_s = 0\nlimit_w = 350\n");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  EXPECT_EQ(read_field(nvml, device, FieldId::kPowerCurrentLimit).value.as_uint, 350'000U);
  EXPECT_EQ(read_field(nvml, device, FieldId::kPowerRequestedLimit).value.as_uint, 700'000U);
  std::uint32_t enforced = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetEnforcedPowerLimit)(device, &enforced), Return::kSuccess);
  EXPECT_EQ(enforced, 350'000U);
  EXPECT_EQ(limit_of(nvml, device), 700'000U);
}

TEST_F(StandinTest, ClocksAreLockedAndLetGo) {
  scenario(kBusy);
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  ASSERT_EQ(NVML(nvml, nvmlDeviceSetGpuLockedClocks)(device, 210, 990), Return::kSuccess);
  EXPECT_EQ(sm_clock_of(nvml, device), 990U);
  EXPECT_EQ(reasons_of(nvml, device), event_reason::kApplicationsClocksSetting);
  EXPECT_EQ(NVML(nvml, nvmlDeviceSetGpuLockedClocks)(device, 990, 210), Return::kInvalidArgument);
  ASSERT_EQ(NVML(nvml, nvmlDeviceResetGpuLockedClocks)(device), Return::kSuccess);
  EXPECT_EQ(sm_clock_of(nvml, device), 1980U);
  std::uint32_t memory = 0;
  ASSERT_EQ(NVML(nvml, nvmlDeviceSetMemoryLockedClocks)(device, 1593, 1593), Return::kSuccess);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetClockInfo)(device, ClockType::kMemory, &memory), Return::kSuccess);
  EXPECT_EQ(memory, 1593U);
}

TEST_F(StandinTest, ApplicationClocksMustBeSupported) {
  shipped("v100");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  std::uint32_t count = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetSupportedGraphicsClocks)(device, 877, &count, nullptr), Return::kInsufficientSize);
  std::vector<std::uint32_t> clocks(count);
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetSupportedGraphicsClocks)(device, 877, &count, clocks.data()), Return::kSuccess);
  EXPECT_EQ(clocks.front(), 1530U);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetSupportedGraphicsClocks)(device, 1, &count, clocks.data()), Return::kNotFound);
  EXPECT_EQ(NVML(nvml, nvmlDeviceSetApplicationsClocks)(device, 877, 1000), Return::kInvalidArgument);
  ASSERT_EQ(NVML(nvml, nvmlDeviceSetApplicationsClocks)(device, 877, 975), Return::kSuccess);
  std::uint32_t clock = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetApplicationsClock)(device, ClockType::kSm, &clock), Return::kSuccess);
  EXPECT_EQ(clock, 975U);
  ASSERT_EQ(NVML(nvml, nvmlDeviceResetApplicationsClocks)(device), Return::kSuccess);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetApplicationsClock)(device, ClockType::kSm, &clock), Return::kSuccess);
  EXPECT_EQ(clock, 1530U);
}

TEST_F(StandinTest, SettingsWithoutAFileEndWithTheLibrary) {
  scenario(kBusy);
  {
    const OpenedLibrary nvml;
    ASSERT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(open_gpu(nvml), 300'000), Return::kSuccess);
  }
  const OpenedLibrary nvml;
  EXPECT_EQ(limit_of(nvml, open_gpu(nvml)), 700'000U);
}

TEST_F(StandinTest, SettingsOutliveAKilledProcess) {
  scenario(kBusy);
  const std::string state = keep_state();
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, 300'000);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(limit_of(nvml, device), 300'000U);
  EXPECT_NE(text_of(state).find(" 0 power_limit_mw 300000\n"), std::string::npos) << text_of(state);
  EXPECT_EQ(reasons_of(nvml, device), event_reason::kSwPowerCap);
}

TEST_F(StandinTest, CountersGoOnFromOneUserOfTheFileToTheNext) {
  scenario(kBusy);
  keep_state();
  const auto read = [] {
    const OpenedLibrary nvml;
    std::uint64_t energy = 0;
    EXPECT_EQ(NVML(nvml, nvmlDeviceGetTotalEnergyConsumption)(open_gpu(nvml), &energy), Return::kSuccess);
    return energy;
  };
  const std::uint64_t first = read();
  std::this_thread::sleep_for(std::chrono::milliseconds(220));
  EXPECT_GE(read(), first + 120'000);
}

TEST_F(StandinTest, AChangeIsKeptWithItsTime) {
  scenario(kBusy);
  const std::string state = keep_state();
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  ASSERT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, 300'000), Return::kSuccess);
  const std::string text = text_of(state);
  EXPECT_GE(std::stoll(text.substr(text.find('\n') + 1)), 30'000'000);
}

TEST_F(StandinTest, HalfALineOfADeadWriterIsDropped) {
  scenario(kBusy);
  const std::string state = keep_state();
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  ASSERT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, 300'000), Return::kSuccess);
  std::ofstream(state, std::ios::app) << "99 0 power_li";
  EXPECT_EQ(limit_of(nvml, device), 300'000U);
  ASSERT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, 400'000), Return::kSuccess);
  EXPECT_EQ(limit_of(nvml, device), 400'000U);
  EXPECT_EQ(text_of(state).find("power_li\n"), std::string::npos);
}

TEST_F(StandinTest, AFileOfSomethingElseIsRefused) {
  scenario(kBusy);
  const std::string state = keep_state();
  std::ofstream(state) << "not ours\n";
  const OpenedLibrary nvml;
  testing::internal::CaptureStderr();
  EXPECT_EQ(NVML(nvml, nvmlInit_v2)(), Return::kOperatingSystem);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("is no state of the stand-in"), std::string::npos);
  EXPECT_EQ(text_of(state), "not ours\n");
}

TEST_F(StandinTest, ThreadsMayCallAtOnce) {
  scenario(kBusy);
  keep_state();
  const std::string calls = count_calls();
  {
    const OpenedLibrary nvml;
    const Device device = open_gpu(nvml);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint32_t i = 0; i < 200; ++i) {
          std::uint32_t power = 0;
          EXPECT_EQ(NVML(nvml, nvmlDeviceGetPowerUsage)(device, &power), Return::kSuccess);
          if (i % 50 == 0) {
            EXPECT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(device, 300'000 + 1000 * t), Return::kSuccess);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(NVML(nvml, nvmlShutdown)(), Return::kSuccess);
    EXPECT_NE(text_of(calls).find("nvmlDeviceGetPowerUsage 800\n"), std::string::npos) << text_of(calls);
  }
  EXPECT_NE(text_of(calls).find("nvmlDeviceSetPowerManagementLimit 16\n"), std::string::npos) << text_of(calls);
}

TEST_F(StandinTest, CallsAreWrittenWithoutAShutdown) {
  setenv("JOULECAST_STANDIN_CALLS", (folder_ + "/calls.%p").c_str(), 1);
  {
    const OpenedLibrary nvml;
    open_gpu(nvml);
  }
  const std::string calls = text_of(folder_ + "/calls." + std::to_string(getpid()));
  EXPECT_EQ(calls, "nvmlInit_v2 1\nnvmlDeviceGetHandleByIndex_v2 1\n");
}

}  // namespace
}  // namespace joulecast::nvml
