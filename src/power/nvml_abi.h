// SPDX-License-Identifier: Apache-2.0
// What crosses the border to NVIDIA's management library (libnvidia-ml.so.1), in our own names: types, constants and
// the shape of each function that we call. NVIDIA's header is neither needed nor copied; sizes, offsets and numbers are
// facts of the binary interface, held by the assertions below and by tests/nvml/check_abi.py against a published
// header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace joulecast::nvml {

inline constexpr const char* kLibraryName = "libnvidia-ml.so.1";

// A driver may be newer than we are: any number can come back, not only the ones named here.
enum class Return : std::uint32_t {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kAlreadyInitialized = 5,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kLibRmVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kVgpuEccNotSupported = 22,
  kInsufficientResources = 23,
  kFreqNotSupported = 24,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kInvalidState = 29,
  kUnknown = 999,
};

enum class Architecture : std::uint32_t {
  kKepler = 2,
  kMaxwell = 3,
  kPascal = 4,
  kVolta = 5,
  kTuring = 6,
  kAmpere = 7,
  kAda = 8,
  kHopper = 9,
  kBlackwell = 10,
  kUnknown = 0xFFFFFFFF,
};

enum class FieldId : std::uint32_t {
  kTotalEnergy = 83,    // mJ since the driver was loaded; Volta and newer
  kPowerAverage = 185,  // mW, mean of one second; Ampere except GA100, and newer
  kPowerInstant = 186,  // mW
  kPowerMinLimit = 187,
  kPowerMaxLimit = 188,
  kPowerDefaultLimit = 189,
  kPowerCurrentLimit = 190,  // enforced: what was asked for and what others (out of band) set
  kEnergy = 191,             // the same counter as kTotalEnergy
  kPowerRequestedLimit = 192,
};

// The scopeId of the power fields. Superchips with a processor beside the GPU know the module only.
enum class PowerScope : std::uint32_t { kGpu = 0, kModule = 1, kMemory = 2 };

enum class ValueType : std::uint32_t {
  kDouble = 0,
  kUnsignedInt = 1,
  kUnsignedLong = 2,
  kUnsignedLongLong = 3,
  kSignedLongLong = 4,
  kSignedInt = 5,
  kUnsignedShort = 6,
};

enum class SamplingType : std::uint32_t {
  kTotalPower = 0,
  kGpuUtilization = 1,
  kMemoryUtilization = 2,
  kEncoderUtilization = 3,
  kDecoderUtilization = 4,
  kProcessorClock = 5,
  kMemoryClock = 6,
  kModulePower = 7,
};

enum class ClockType : std::uint32_t { kGraphics = 0, kSm = 1, kMemory = 2, kVideo = 3 };

enum class TemperatureSensor : std::uint32_t { kGpu = 0 };

enum class PcieCounter : std::uint32_t { kTransmitted = 0, kReceived = 1 };

enum class EnableState : std::uint32_t { kDisabled = 0, kEnabled = 1 };

// 0 is the fastest, 15 the slowest, and 32 is "unknown".
enum class PerformanceState : std::uint32_t { k0 = 0, k8 = 8, k15 = 15, kUnknown = 32 };

// Why the clocks are where they are: bits of a 64-bit mask.
namespace event_reason {
inline constexpr std::uint64_t kNone = 0x0;
inline constexpr std::uint64_t kGpuIdle = 0x1;
inline constexpr std::uint64_t kApplicationsClocksSetting = 0x2;
inline constexpr std::uint64_t kSwPowerCap = 0x4;
inline constexpr std::uint64_t kHwSlowdown = 0x8;
inline constexpr std::uint64_t kSyncBoost = 0x10;
inline constexpr std::uint64_t kSwThermalSlowdown = 0x20;
inline constexpr std::uint64_t kHwThermalSlowdown = 0x40;
inline constexpr std::uint64_t kHwPowerBrakeSlowdown = 0x80;
inline constexpr std::uint64_t kDisplayClockSetting = 0x100;
}  // namespace event_reason

namespace init_flag {
inline constexpr std::uint32_t kNoGpus = 1;
inline constexpr std::uint32_t kNoAttach = 2;
}  // namespace init_flag

inline constexpr std::uint32_t kMigDisabled = 0;
inline constexpr std::uint32_t kMigEnabled = 1;

// Room for the texts, the closing zero included.
inline constexpr std::size_t kUuidBytes = 96;
inline constexpr std::size_t kNameBytes = 96;
inline constexpr std::size_t kSerialBytes = 30;
inline constexpr std::size_t kVersionBytes = 80;
inline constexpr std::size_t kLegacyBusIdBytes = 16;
inline constexpr std::size_t kBusIdBytes = 32;

struct DeviceOpaque;
using Device = DeviceOpaque*;

// Which member holds is said by a ValueType beside it. `long` has 64 bits where we run.
union Value {
  double as_double;
  std::int32_t as_int;
  std::uint32_t as_uint;
  std::uint64_t as_ulong;
  std::uint64_t as_ulong_long;
  std::int64_t as_long_long;
  std::uint16_t as_ushort;
};
static_assert(sizeof(Value) == 8);

struct Sample {
  std::uint64_t timestamp_us;  // since 1970
  Value value;
};
static_assert(sizeof(Sample) == 16 && offsetof(Sample, value) == 8);

// The caller sets the field and the scope; `result` must be read before `value`.
struct FieldValue {
  FieldId field;
  std::uint32_t scope;
  std::int64_t timestamp_us;  // since 1970
  std::int64_t latency_us;
  ValueType type;
  Return result;
  Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, scope) == 4 && offsetof(FieldValue, timestamp_us) == 8 &&
              offsetof(FieldValue, latency_us) == 16 && offsetof(FieldValue, type) == 24 &&
              offsetof(FieldValue, result) == 28 && offsetof(FieldValue, value) == 32);

struct PciInfo {
  char legacy_bus_id[kLegacyBusIdBytes];  // its domain has four digits
  std::uint32_t domain;
  std::uint32_t bus;
  std::uint32_t device;
  std::uint32_t device_id;  // device in the upper, vendor in the lower half
  std::uint32_t subsystem_id;
  char bus_id[kBusIdBytes];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, domain) == 16 && offsetof(PciInfo, bus) == 20 &&
              offsetof(PciInfo, device) == 24 && offsetof(PciInfo, device_id) == 28 &&
              offsetof(PciInfo, subsystem_id) == 32 && offsetof(PciInfo, bus_id) == 36);

struct Memory {
  std::uint64_t total_bytes;
  std::uint64_t free_bytes;
  std::uint64_t used_bytes;
};
static_assert(sizeof(Memory) == 24 && offsetof(Memory, free_bytes) == 8 && offsetof(Memory, used_bytes) == 16);

struct Utilization {
  std::uint32_t gpu_percent;
  std::uint32_t memory_percent;
};
static_assert(sizeof(Utilization) == 8 && offsetof(Utilization, memory_percent) == 4);

// Every function that we may call: exported name, shape. Limits and power are in mW, energy in mJ, clocks in MHz,
// temperature in degrees Celsius, PCIe throughput in KB/s. clang-format would put three of them on a line.
// clang-format off
#define JC_NVML_FUNCTIONS(X)                                                                                          \
  X(nvmlInit_v2, Return())                                                                                            \
  X(nvmlInitWithFlags, Return(std::uint32_t flags))                                                                   \
  X(nvmlShutdown, Return())                                                                                           \
  X(nvmlErrorString, const char*(Return code))                                                                        \
  X(nvmlSystemGetDriverVersion, Return(char* text, std::uint32_t size))                                               \
  X(nvmlSystemGetNVMLVersion, Return(char* text, std::uint32_t size))                                                 \
  X(nvmlSystemGetCudaDriverVersion_v2, Return(std::int32_t* version))                                                 \
  X(nvmlDeviceGetCount_v2, Return(std::uint32_t* count))                                                              \
  X(nvmlDeviceGetHandleByIndex_v2, Return(std::uint32_t index, Device* device))                                       \
  X(nvmlDeviceGetHandleByUUID, Return(const char* uuid, Device* device))                                              \
  X(nvmlDeviceGetUUID, Return(Device device, char* text, std::uint32_t size))                                         \
  X(nvmlDeviceGetName, Return(Device device, char* text, std::uint32_t size))                                         \
  X(nvmlDeviceGetSerial, Return(Device device, char* text, std::uint32_t size))                                       \
  X(nvmlDeviceGetPciInfo_v3, Return(Device device, PciInfo* info))                                                    \
  X(nvmlDeviceGetArchitecture, Return(Device device, Architecture* architecture))                                     \
  X(nvmlDeviceGetCudaComputeCapability, Return(Device device, std::int32_t* major, std::int32_t* minor))              \
  X(nvmlDeviceGetFieldValues, Return(Device device, std::int32_t count, FieldValue* values))                          \
  X(nvmlDeviceGetTotalEnergyConsumption, Return(Device device, std::uint64_t* energy_mj))                             \
  X(nvmlDeviceGetPowerUsage, Return(Device device, std::uint32_t* power_mw))                                          \
  X(nvmlDeviceGetSamples, Return(Device device, SamplingType type, std::uint64_t last_seen_us, ValueType* value_type, \
                                 std::uint32_t* count, Sample* samples))                                              \
  X(nvmlDeviceGetUtilizationRates, Return(Device device, Utilization* rates))                                         \
  X(nvmlDeviceGetClockInfo, Return(Device device, ClockType type, std::uint32_t* clock_mhz))                          \
  X(nvmlDeviceGetMaxClockInfo, Return(Device device, ClockType type, std::uint32_t* clock_mhz))                       \
  X(nvmlDeviceGetTemperature, Return(Device device, TemperatureSensor sensor, std::uint32_t* celsius))                \
  X(nvmlDeviceGetPerformanceState, Return(Device device, PerformanceState* state))                                    \
  X(nvmlDeviceGetEnforcedPowerLimit, Return(Device device, std::uint32_t* limit_mw))                                  \
  X(nvmlDeviceGetPowerManagementLimit, Return(Device device, std::uint32_t* limit_mw))                                \
  X(nvmlDeviceGetPowerManagementDefaultLimit, Return(Device device, std::uint32_t* limit_mw))                         \
  X(nvmlDeviceGetPowerManagementLimitConstraints,                                                                     \
    Return(Device device, std::uint32_t* min_mw, std::uint32_t* max_mw))                                              \
  X(nvmlDeviceSetPowerManagementLimit, Return(Device device, std::uint32_t limit_mw))                                 \
  X(nvmlDeviceGetCurrentClocksEventReasons, Return(Device device, std::uint64_t* reasons))                            \
  X(nvmlDeviceGetCurrentClocksThrottleReasons, Return(Device device, std::uint64_t* reasons))                         \
  X(nvmlDeviceGetMemoryInfo, Return(Device device, Memory* memory))                                                   \
  X(nvmlDeviceGetPcieThroughput, Return(Device device, PcieCounter counter, std::uint32_t* kb_per_s))                 \
  X(nvmlDeviceGetMigMode, Return(Device device, std::uint32_t* current, std::uint32_t* pending))                      \
  X(nvmlDeviceGetMaxMigDeviceCount, Return(Device device, std::uint32_t* count))                                      \
  X(nvmlDeviceGetMigDeviceHandleByIndex, Return(Device device, std::uint32_t index, Device* mig_device))              \
  X(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, Return(Device mig_device, Device* device))                          \
  X(nvmlDeviceSetGpuLockedClocks, Return(Device device, std::uint32_t min_mhz, std::uint32_t max_mhz))                \
  X(nvmlDeviceResetGpuLockedClocks, Return(Device device))                                                            \
  X(nvmlDeviceSetMemoryLockedClocks, Return(Device device, std::uint32_t min_mhz, std::uint32_t max_mhz))             \
  X(nvmlDeviceResetMemoryLockedClocks, Return(Device device))                                                         \
  X(nvmlDeviceSetApplicationsClocks, Return(Device device, std::uint32_t memory_mhz, std::uint32_t graphics_mhz))     \
  X(nvmlDeviceResetApplicationsClocks, Return(Device device))                                                         \
  X(nvmlDeviceGetApplicationsClock, Return(Device device, ClockType type, std::uint32_t* clock_mhz))                  \
  X(nvmlDeviceGetSupportedMemoryClocks, Return(Device device, std::uint32_t* count, std::uint32_t* clocks_mhz))       \
  X(nvmlDeviceGetSupportedGraphicsClocks,                                                                             \
    Return(Device device, std::uint32_t memory_mhz, std::uint32_t* count, std::uint32_t* clocks_mhz))                 \
  X(nvmlDeviceGetPersistenceMode, Return(Device device, EnableState* state))
// clang-format on

// The type of each function under its exported name: functions::nvmlInit_v2* is what dlsym(library, "nvmlInit_v2")
// gives.
namespace functions {
#define JC_NVML_TYPE(name, ...) using name = __VA_ARGS__;
JC_NVML_FUNCTIONS(JC_NVML_TYPE)
#undef JC_NVML_TYPE
}  // namespace functions

}  // namespace joulecast::nvml
