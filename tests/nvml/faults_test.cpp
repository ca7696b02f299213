// SPDX-License-Identifier: Apache-2.0
// What goes wrong on demand.
#include <chrono>
#include <thread>

#include "opened_library.h"

namespace joulecast::nvml {
namespace {

constexpr const char* kTwo = "allow_set = true\n[[gpu]]\ncount = 2\nload = {constant_w = 400}\n[[fault]]\n";

Return read_power(const OpenedLibrary& nvml, Device device) {
  std::uint32_t power = 0;
  return NVML(nvml, nvmlDeviceGetPowerUsage)(device, &power);
}

TEST_F(StandinTest, AFaultHitsItsFunctionAndItsGpu) {
  scenario(std::string(kTwo) + "function = \"nvmlDeviceGetPowerUsage\"\ngpu = 1\nreturn = \"FUNCTION_NOT_FOUND\"\n");
  const OpenedLibrary nvml;
  const Device first = open_gpu(nvml, 0);
  const Device second = open_gpu(nvml, 1);
  EXPECT_EQ(read_power(nvml, first), Return::kSuccess);
  EXPECT_EQ(read_power(nvml, second), Return::kFunctionNotFound);
  std::uint64_t energy = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetTotalEnergyConsumption)(second, &energy), Return::kSuccess);
}

TEST_F(StandinTest, AGpuIsLostFromAMomentOn) {
  scenario(std::string(kTwo) + "function = \"*\"\ngpu = 0\nfrom_s = 2\nreturn = \"GPU_IS_LOST\"\n");
  const OpenedLibrary nvml;
  const Device lost = open_gpu(nvml, 0);
  const Device other = open_gpu(nvml, 1);
  ASSERT_EQ(read_power(nvml, lost), Return::kSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(2010));
  EXPECT_EQ(read_power(nvml, lost), Return::kGpuIsLost);
  FieldValue value = {};
  value.field = FieldId::kPowerInstant;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetFieldValues)(lost, 1, &value), Return::kGpuIsLost);
  EXPECT_EQ(NVML(nvml, nvmlDeviceSetPowerManagementLimit)(lost, 300'000), Return::kGpuIsLost);
  Device again = nullptr;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetHandleByIndex_v2)(0, &again), Return::kGpuIsLost);
  EXPECT_EQ(read_power(nvml, other), Return::kSuccess);
  std::uint32_t count = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCount_v2)(&count), Return::kSuccess);
}

TEST_F(StandinTest, EveryThirdCallTimesOut) {
  scenario(std::string(kTwo) + "function = \"nvmlDeviceGetPowerUsage\"\nevery = 3\nreturn = \"TIMEOUT\"\n");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  for (int i = 1; i <= 9; ++i) EXPECT_EQ(read_power(nvml, device), i % 3 == 0 ? Return::kTimeout : Return::kSuccess);
}

TEST_F(StandinTest, OnlyTheSecondCallFails) {
  scenario(std::string(kTwo) + "function = \"nvmlDeviceGetPowerUsage\"\ncall = 2\nreturn = \"UNKNOWN\"\n");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(read_power(nvml, device), i == 2 ? Return::kUnknown : Return::kSuccess);
}

TEST_F(StandinTest, AFaultEnds) {
  scenario(std::string(kTwo) + "function = \"nvmlDeviceGetPowerUsage\"\nuntil_s = 2\nreturn = \"UNKNOWN\"\n");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  EXPECT_EQ(read_power(nvml, device), Return::kUnknown);
  std::this_thread::sleep_for(std::chrono::milliseconds(2010));
  EXPECT_EQ(read_power(nvml, device), Return::kSuccess);
}

TEST_F(StandinTest, NumbersThatAreNone) {
  scenario(std::string(kTwo) + "function = \"nvmlDeviceGetPowerUsage\"\nvalue = 0xFFFFFFFF\n" +
           "[[fault]]\nfield = 186\nvalue = 0\n[[fault]]\nfield = 185\nreturn = \"NOT_SUPPORTED\"\n");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  std::uint32_t power = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetPowerUsage)(device, &power), Return::kSuccess);
  EXPECT_EQ(power, 0xFFFFFFFFU);
  const FieldValue zero = read_field(nvml, device, FieldId::kPowerInstant);
  EXPECT_EQ(zero.result, Return::kSuccess);
  EXPECT_EQ(zero.value.as_uint, 0U);
  EXPECT_EQ(read_field(nvml, device, FieldId::kPowerAverage).result, Return::kNotSupported);
  EXPECT_EQ(read_field(nvml, device, FieldId::kPowerMaxLimit).value.as_uint, 700'000U);
}

TEST_F(StandinTest, ASlowCallHoldsNobodyElseUp) {
  scenario(std::string(kTwo) + "function = \"nvmlDeviceGetTemperature\"\ndelay_ms = 2000\n");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  const auto start = std::chrono::steady_clock::now();
  std::thread slow([&] {
    std::uint32_t celsius = 0;
    EXPECT_EQ(NVML(nvml, nvmlDeviceGetTemperature)(device, TemperatureSensor::kGpu, &celsius), Return::kSuccess);
  });
  EXPECT_EQ(read_power(nvml, device), Return::kSuccess);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1500));
  slow.join();
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(2000));
}

TEST_F(StandinTest, TheWholeMachineCanFailToo) {
  scenario(std::string(kTwo) + "function = \"nvmlDeviceGetCount_v2\"\nvalue = 0\n" +
           "[[fault]]\nfunction = \"nvmlSystemGetDriverVersion\"\nreturn = \"UNKNOWN\"\n" +
           "[[fault]]\nfunction = \"nvmlShutdown\"\nreturn = \"UNKNOWN\"\n");
  const OpenedLibrary nvml;
  open_gpu(nvml);
  std::uint32_t count = 9;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCount_v2)(&count), Return::kSuccess);
  EXPECT_EQ(count, 0U);
  char text[kVersionBytes] = "";
  EXPECT_EQ(NVML(nvml, nvmlSystemGetDriverVersion)(text, sizeof text), Return::kUnknown);
  EXPECT_EQ(NVML(nvml, nvmlShutdown)(), Return::kUnknown);
}

TEST_F(StandinTest, TheDriverMayBeMissing) {
  scenario("[[fault]]\nfunction = \"nvmlInit_v2\"\nreturn = \"DRIVER_NOT_LOADED\"\n");
  const OpenedLibrary nvml;
  EXPECT_EQ(NVML(nvml, nvmlInit_v2)(), Return::kDriverNotLoaded);
  std::uint32_t count = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCount_v2)(&count), Return::kUninitialized);
  EXPECT_EQ(NVML(nvml, nvmlInitWithFlags)(0), Return::kSuccess);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCount_v2)(&count), Return::kSuccess);
  EXPECT_EQ(count, 0U) << "a scenario without GPUs has none";
}

}  // namespace
}  // namespace joulecast::nvml
