// SPDX-License-Identifier: Apache-2.0
// The library as a program sees it: handles, readings, samples, MIG.
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "opened_library.h"

namespace joulecast::nvml {
namespace {

using std::chrono::milliseconds;

TEST_F(StandinTest, ExportsEveryFunctionAndNothingWorksBeforeInit) {
  const OpenedLibrary nvml;
#define JC_EXPORTED(name, ...) EXPECT_NE(NVML(nvml, name), nullptr);
  JC_NVML_FUNCTIONS(JC_EXPORTED)
#undef JC_EXPORTED
  std::uint32_t count = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCount_v2)(&count), Return::kUninitialized);
  EXPECT_EQ(NVML(nvml, nvmlShutdown)(), Return::kUninitialized);
  EXPECT_STREQ(NVML(nvml, nvmlErrorString)(Return::kGpuIsLost), "GPU_IS_LOST");
}

TEST_F(StandinTest, InitCountsItsUsers) {
  const OpenedLibrary nvml;
  ASSERT_EQ(NVML(nvml, nvmlInit_v2)(), Return::kSuccess);
  ASSERT_EQ(NVML(nvml, nvmlInitWithFlags)(init_flag::kNoGpus), Return::kSuccess);
  ASSERT_EQ(NVML(nvml, nvmlShutdown)(), Return::kSuccess);
  std::uint32_t count = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCount_v2)(&count), Return::kSuccess);
  EXPECT_EQ(count, 1U);
  ASSERT_EQ(NVML(nvml, nvmlShutdown)(), Return::kSuccess);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCount_v2)(&count), Return::kUninitialized);
}

TEST_F(StandinTest, ABrokenScenarioIsTold) {
  scenario("[[gpu]]\nidle_watts = 3\n");
  const OpenedLibrary nvml;
  testing::internal::CaptureStderr();
  EXPECT_EQ(NVML(nvml, nvmlInit_v2)(), Return::kUnknown);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("line 2: gpu.idle_watts: unknown key"), std::string::npos);
}

TEST_F(StandinTest, DevicesHaveIdentity) {
  shipped("eight_h100");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml, 3);
  char text[kUuidBytes] = "";
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetName)(device, text, sizeof text), Return::kSuccess);
  EXPECT_STREQ(text, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetName)(device, text, 21), Return::kInsufficientSize);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetSerial)(device, text, sizeof text), Return::kNotSupported);
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetUUID)(device, text, sizeof text), Return::kSuccess);
  Device again = nullptr;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetHandleByUUID)(text, &again), Return::kSuccess);
  EXPECT_EQ(again, device);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetHandleByUUID)("GPU-nobody", &again), Return::kNotFound);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetHandleByIndex_v2)(8, &again), Return::kInvalidArgument);
  PciInfo pci = {};
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetPciInfo_v3)(device, &pci), Return::kSuccess);
  EXPECT_STREQ(pci.bus_id, "00000000:13:00.0");
  EXPECT_STREQ(pci.legacy_bus_id, "0000:13:00.0");
  EXPECT_EQ(pci.bus, 0x13U);
  Architecture architecture = Architecture::kUnknown;
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetArchitecture)(device, &architecture), Return::kSuccess);
  EXPECT_EQ(architecture, Architecture::kHopper);
  std::int32_t major = 0, minor = 0;
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetCudaComputeCapability)(device, &major, &minor), Return::kSuccess);
  EXPECT_EQ(major, 9);
  EXPECT_EQ(minor, 0);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCudaComputeCapability)(device, &major, nullptr), Return::kInvalidArgument);
  ASSERT_EQ(NVML(nvml, nvmlSystemGetDriverVersion)(text, sizeof text), Return::kSuccess);
  EXPECT_STREQ(text, "550.54.15");
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetName)(reinterpret_cast<Device>(&pci), text, sizeof text), Return::kInvalidArgument);
}

TEST_F(StandinTest, PowerAndEnergyOfAConstantLoad) {
  scenario("[[gpu]]\nload = {constant_w = 400}\ncounter = {start_mj = 0}\n");
  const OpenedLibrary nvml;
  const auto loaded = std::chrono::steady_clock::now();
  const Device device = open_gpu(nvml);
  std::uint32_t power = 0;
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetPowerUsage)(device, &power), Return::kSuccess);
  EXPECT_EQ(power, 400'000U);
  EXPECT_EQ(read_field(nvml, device, FieldId::kPowerInstant).value.as_uint, 400'000U);
  EXPECT_EQ(read_field(nvml, device, FieldId::kPowerAverage).value.as_uint, 400'000U);
  std::this_thread::sleep_for(milliseconds(310));
  std::uint64_t energy = 0;
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetTotalEnergyConsumption)(device, &energy), Return::kSuccess);
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - loaded).count();
  EXPECT_EQ(energy % 40'000, 0U) << "steps of 100 ms at 400 W";
  EXPECT_GE(energy, 120'000U);
  EXPECT_LE(static_cast<double>(energy), passed * 400e3 + 40e3);
  const FieldValue field = read_field(nvml, device, FieldId::kEnergy);
  EXPECT_EQ(field.type, ValueType::kUnsignedLongLong);
  EXPECT_GE(field.value.as_ulong_long, energy);
}

TEST_F(StandinTest, FieldsStandOnTheirOwn) {
  shipped("a100");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  FieldValue values[3] = {};
  values[0].field = FieldId::kPowerAverage;
  values[1].field = FieldId::kPowerMaxLimit;
  values[2].field = static_cast<FieldId>(9999);
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetFieldValues)(device, 3, values), Return::kSuccess);
  EXPECT_EQ(values[0].result, Return::kNotSupported);
  EXPECT_EQ(values[1].result, Return::kSuccess);
  EXPECT_EQ(values[1].value.as_uint, 400'000U);
  EXPECT_EQ(values[2].result, Return::kInvalidArgument);
  const auto now =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
  EXPECT_NEAR(static_cast<double>(values[1].timestamp_us), static_cast<double>(now.count()), 5e6);
}

TEST_F(StandinTest, PascalHasNoCounterAndNoLockedClocks) {
  shipped("p100");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  std::uint64_t energy = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetTotalEnergyConsumption)(device, &energy), Return::kNotSupported);
  EXPECT_EQ(read_field(nvml, device, FieldId::kTotalEnergy).result, Return::kNotSupported);
  EXPECT_EQ(NVML(nvml, nvmlDeviceSetGpuLockedClocks)(device, 544, 810), Return::kNotSupported);
  std::uint32_t power = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetPowerUsage)(device, &power), Return::kSuccess);
  EXPECT_EQ(power, 180'000U);
}

TEST_F(StandinTest, ASuperchipKnowsItsModuleOnly) {
  shipped("grace_hopper");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  EXPECT_EQ(read_field(nvml, device, FieldId::kPowerInstant).result, Return::kNotSupported);
  const FieldValue module = read_field(nvml, device, FieldId::kPowerInstant, PowerScope::kModule);
  EXPECT_EQ(module.result, Return::kSuccess);
  EXPECT_EQ(module.value.as_uint, 620'000U);
  const FieldValue memory = read_field(nvml, device, FieldId::kPowerAverage, PowerScope::kMemory);
  EXPECT_EQ(memory.result, Return::kSuccess);
  EXPECT_EQ(memory.value.as_uint, 0U);
}

TEST_F(StandinTest, SamplesComeOnceAndTheOldestAreLost) {
  scenario("[[gpu]]\nload = {constant_w = 300}\nsensor = {update_ms = 20, window_ms = 10, ring = 5}\n");
  const OpenedLibrary nvml;
  const Device device = open_gpu(nvml);
  const auto samples = NVML(nvml, nvmlDeviceGetSamples);
  ValueType type = ValueType::kDouble;
  std::uint32_t count = 0;
  ASSERT_EQ(samples(device, SamplingType::kTotalPower, 0, &type, &count, nullptr), Return::kSuccess);
  EXPECT_EQ(count, 5U);
  std::vector<Sample> got(100);
  count = 100;
  ASSERT_EQ(samples(device, SamplingType::kTotalPower, 0, &type, &count, got.data()), Return::kSuccess);
  ASSERT_EQ(count, 5U);
  EXPECT_EQ(type, ValueType::kUnsignedInt);
  EXPECT_EQ(got[4].value.as_uint, 300'000U);
  EXPECT_EQ(got[4].timestamp_us - got[3].timestamp_us, 20'000U);
  const std::uint64_t seen = got[4].timestamp_us;
  count = 100;
  EXPECT_EQ(samples(device, SamplingType::kTotalPower, seen + 60'000'000, &type, &count, got.data()),
            Return::kNotFound);
  std::this_thread::sleep_for(milliseconds(210));
  count = 100;
  ASSERT_EQ(samples(device, SamplingType::kTotalPower, seen, &type, &count, got.data()), Return::kSuccess);
  EXPECT_EQ(count, 5U);
  EXPECT_GT(got[0].timestamp_us, seen + 80'000) << "what came between was pushed out of the ring";
  count = 0;
  EXPECT_EQ(samples(device, SamplingType::kTotalPower, 0, &type, &count, got.data()), Return::kInvalidArgument);
  EXPECT_EQ(samples(device, SamplingType::kProcessorClock, 0, &type, &count, nullptr), Return::kNotSupported);
}

TEST_F(StandinTest, IdleAndBusyShowEverywhere) {
  scenario("[[gpu]]\nload = {constant_w = 70}\n[[gpu]]\nload = {constant_w = 370}\npcie_kb_per_s = 7\n");
  const OpenedLibrary nvml;
  const Device idle = open_gpu(nvml, 0);
  const Device busy = open_gpu(nvml, 1);
  PerformanceState state = PerformanceState::kUnknown;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetPerformanceState)(idle, &state), Return::kSuccess);
  EXPECT_EQ(state, PerformanceState::k8);
  std::uint64_t reasons = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetCurrentClocksThrottleReasons)(idle, &reasons), Return::kSuccess);
  EXPECT_EQ(reasons, event_reason::kGpuIdle);
  Utilization rates = {};
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetUtilizationRates)(busy, &rates), Return::kSuccess);
  EXPECT_EQ(rates.gpu_percent, 100U);
  std::uint32_t celsius = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetTemperature)(busy, TemperatureSensor::kGpu, &celsius), Return::kSuccess);
  EXPECT_EQ(celsius, 52U);  // 30 + 0.06 * 370
  const auto start = std::chrono::steady_clock::now();
  std::uint32_t traffic = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetPcieThroughput)(busy, PcieCounter::kReceived, &traffic), Return::kSuccess);
  EXPECT_EQ(traffic, 7U);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(20));
}

TEST_F(StandinTest, SlicesAreNamedButNotMeasured) {
  shipped("mig");
  const OpenedLibrary nvml;
  const Device gpu = open_gpu(nvml);
  std::uint32_t current = 9, pending = 9;
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetMigMode)(gpu, &current, &pending), Return::kSuccess);
  EXPECT_EQ(current, kMigEnabled);
  Device slice = nullptr;
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetMigDeviceHandleByIndex)(gpu, 1, &slice), Return::kSuccess);
  Device none = nullptr;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetMigDeviceHandleByIndex)(gpu, 2, &none), Return::kNotFound);
  char text[kUuidBytes] = "";
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetUUID)(slice, text, sizeof text), Return::kSuccess);
  EXPECT_EQ(std::string(text).substr(0, 4), "MIG-");
  Memory memory = {};
  ASSERT_EQ(NVML(nvml, nvmlDeviceGetMemoryInfo)(slice, &memory), Return::kSuccess);
  EXPECT_EQ(memory.total_bytes, std::uint64_t{10} << 30);
  Device parent = nullptr;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetDeviceHandleFromMigDeviceHandle)(slice, &parent), Return::kSuccess);
  EXPECT_EQ(parent, gpu);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetDeviceHandleFromMigDeviceHandle)(gpu, &parent), Return::kInvalidArgument);
  std::uint32_t power = 0;
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetPowerUsage)(slice, &power), Return::kNotSupported);
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetPowerUsage)(gpu, &power), Return::kSuccess);
  Utilization rates = {};
  EXPECT_EQ(NVML(nvml, nvmlDeviceGetUtilizationRates)(gpu, &rates), Return::kNotSupported);
}

}  // namespace
}  // namespace joulecast::nvml
