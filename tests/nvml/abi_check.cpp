// SPDX-License-Identifier: Apache-2.0
// Compiled, never run, by check_abi.py beside NVIDIA's header: everything that src/power/nvml_abi.h says about the
// interface is held against what the header declares. Names that older headers lack are checked where they exist.
#include <nvml.h>

#include <type_traits>

#include "power/nvml_abi.h"

namespace {

namespace ours = joulecast::nvml;

// Structs that stand for one another; their members are compared below.
template <typename Theirs, typename Ours>
constexpr bool kPaired = std::is_same_v<Theirs, Ours>;
#define JC_PAIR(theirs, name)                  \
  template <>                                  \
  constexpr bool kPaired<theirs, ours::name> = \
      sizeof(theirs) == sizeof(ours::name) && alignof(theirs) == alignof(ours::name)
JC_PAIR(nvmlValue_t, Value);
JC_PAIR(nvmlSample_t, Sample);
JC_PAIR(nvmlFieldValue_t, FieldValue);
JC_PAIR(nvmlPciInfo_t, PciInfo);
JC_PAIR(nvmlMemory_t, Memory);
JC_PAIR(nvmlUtilization_t, Utilization);
template <>
constexpr bool kPaired<std::remove_pointer_t<nvmlDevice_t>, ours::DeviceOpaque> = true;

template <typename T>
constexpr bool is_signed() {
  if constexpr (std::is_enum_v<T>) {
    return std::is_signed_v<std::underlying_type_t<T>>;
  } else {
    return std::is_signed_v<T>;
  }
}

template <typename Theirs, typename Ours>
constexpr bool same() {
  if constexpr (std::is_pointer_v<Theirs> && std::is_pointer_v<Ours>) {
    using To = std::remove_pointer_t<Theirs>;
    using OurTo = std::remove_pointer_t<Ours>;
    return std::is_const_v<To> == std::is_const_v<OurTo> && same<std::remove_const_t<To>, std::remove_const_t<OurTo>>();
  } else if constexpr ((std::is_integral_v<Theirs> || std::is_enum_v<Theirs>)&&(std::is_integral_v<Ours> ||
                                                                                std::is_enum_v<Ours>)) {
    // Ours may name as an enum what theirs leaves a number, never the other way round.
    return sizeof(Theirs) == sizeof(Ours) && is_signed<Theirs>() == is_signed<Ours>() &&
           (std::is_enum_v<Ours> || !std::is_enum_v<Theirs>);
  } else {
    return kPaired<Theirs, Ours>;
  }
}

template <typename Theirs, typename Ours>
struct SameFunction : std::false_type {};
template <typename TheirResult, typename... Theirs, typename OurResult, typename... Ours>
requires(sizeof...(Theirs) == sizeof...(Ours)) struct SameFunction<TheirResult(Theirs...), OurResult(Ours...)>
    : std::bool_constant<same<TheirResult, OurResult>() && (same<Theirs, Ours>() && ... && true)> {
};

#define JC_FUNCTION(name, ...) \
  static_assert(SameFunction<decltype(::name), ours::functions::name>::value, #name " has another shape in nvml.h");
JC_NVML_FUNCTIONS(JC_FUNCTION)

#define JC_MEMBER(theirs, their_member, name, member)                                                       \
  static_assert(offsetof(theirs, their_member) == offsetof(ours::name, member) &&                           \
                    sizeof(theirs::their_member) == sizeof(ours::name::member) &&                           \
                    same<std::remove_cv_t<decltype(theirs::their_member)>, decltype(ours::name::member)>(), \
                #name "::" #member " is elsewhere or another thing in nvml.h")
JC_MEMBER(nvmlValue_t, siVal, Value, as_int);
JC_MEMBER(nvmlValue_t, dVal, Value, as_double);
JC_MEMBER(nvmlValue_t, uiVal, Value, as_uint);
JC_MEMBER(nvmlValue_t, ulVal, Value, as_ulong);
JC_MEMBER(nvmlValue_t, ullVal, Value, as_ulong_long);
JC_MEMBER(nvmlValue_t, sllVal, Value, as_long_long);
JC_MEMBER(nvmlValue_t, usVal, Value, as_ushort);
JC_MEMBER(nvmlSample_t, timeStamp, Sample, timestamp_us);
JC_MEMBER(nvmlSample_t, sampleValue, Sample, value);
JC_MEMBER(nvmlFieldValue_t, fieldId, FieldValue, field);
JC_MEMBER(nvmlFieldValue_t, scopeId, FieldValue, scope);
JC_MEMBER(nvmlFieldValue_t, timestamp, FieldValue, timestamp_us);
JC_MEMBER(nvmlFieldValue_t, latencyUsec, FieldValue, latency_us);
JC_MEMBER(nvmlFieldValue_t, valueType, FieldValue, type);
JC_MEMBER(nvmlFieldValue_t, nvmlReturn, FieldValue, result);
JC_MEMBER(nvmlFieldValue_t, value, FieldValue, value);
JC_MEMBER(nvmlPciInfo_t, busIdLegacy, PciInfo, legacy_bus_id);
JC_MEMBER(nvmlPciInfo_t, domain, PciInfo, domain);
JC_MEMBER(nvmlPciInfo_t, bus, PciInfo, bus);
JC_MEMBER(nvmlPciInfo_t, device, PciInfo, device);
JC_MEMBER(nvmlPciInfo_t, pciDeviceId, PciInfo, device_id);
JC_MEMBER(nvmlPciInfo_t, pciSubSystemId, PciInfo, subsystem_id);
JC_MEMBER(nvmlPciInfo_t, busId, PciInfo, bus_id);
JC_MEMBER(nvmlMemory_t, total, Memory, total_bytes);
JC_MEMBER(nvmlMemory_t, free, Memory, free_bytes);
JC_MEMBER(nvmlMemory_t, used, Memory, used_bytes);
JC_MEMBER(nvmlUtilization_t, gpu, Utilization, gpu_percent);
JC_MEMBER(nvmlUtilization_t, memory, Utilization, memory_percent);

#define JC_NUMBER(theirs, name)                                                                         \
  static_assert(static_cast<unsigned long long>(theirs) == static_cast<unsigned long long>(ours::name), \
                #name " is not " #theirs)
JC_NUMBER(NVML_SUCCESS, Return::kSuccess);
JC_NUMBER(NVML_ERROR_UNINITIALIZED, Return::kUninitialized);
JC_NUMBER(NVML_ERROR_INVALID_ARGUMENT, Return::kInvalidArgument);
JC_NUMBER(NVML_ERROR_NOT_SUPPORTED, Return::kNotSupported);
JC_NUMBER(NVML_ERROR_NO_PERMISSION, Return::kNoPermission);
JC_NUMBER(NVML_ERROR_ALREADY_INITIALIZED, Return::kAlreadyInitialized);
JC_NUMBER(NVML_ERROR_NOT_FOUND, Return::kNotFound);
JC_NUMBER(NVML_ERROR_INSUFFICIENT_SIZE, Return::kInsufficientSize);
JC_NUMBER(NVML_ERROR_INSUFFICIENT_POWER, Return::kInsufficientPower);
JC_NUMBER(NVML_ERROR_DRIVER_NOT_LOADED, Return::kDriverNotLoaded);
JC_NUMBER(NVML_ERROR_TIMEOUT, Return::kTimeout);
JC_NUMBER(NVML_ERROR_IRQ_ISSUE, Return::kIrqIssue);
JC_NUMBER(NVML_ERROR_LIBRARY_NOT_FOUND, Return::kLibraryNotFound);
JC_NUMBER(NVML_ERROR_FUNCTION_NOT_FOUND, Return::kFunctionNotFound);
JC_NUMBER(NVML_ERROR_CORRUPTED_INFOROM, Return::kCorruptedInforom);
JC_NUMBER(NVML_ERROR_GPU_IS_LOST, Return::kGpuIsLost);
JC_NUMBER(NVML_ERROR_RESET_REQUIRED, Return::kResetRequired);
JC_NUMBER(NVML_ERROR_OPERATING_SYSTEM, Return::kOperatingSystem);
JC_NUMBER(NVML_ERROR_LIB_RM_VERSION_MISMATCH, Return::kLibRmVersionMismatch);
JC_NUMBER(NVML_ERROR_IN_USE, Return::kInUse);
JC_NUMBER(NVML_ERROR_MEMORY, Return::kMemory);
JC_NUMBER(NVML_ERROR_NO_DATA, Return::kNoData);
JC_NUMBER(NVML_ERROR_VGPU_ECC_NOT_SUPPORTED, Return::kVgpuEccNotSupported);
JC_NUMBER(NVML_ERROR_INSUFFICIENT_RESOURCES, Return::kInsufficientResources);
JC_NUMBER(NVML_ERROR_FREQ_NOT_SUPPORTED, Return::kFreqNotSupported);
JC_NUMBER(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, Return::kArgumentVersionMismatch);
JC_NUMBER(NVML_ERROR_DEPRECATED, Return::kDeprecated);
JC_NUMBER(NVML_ERROR_NOT_READY, Return::kNotReady);
JC_NUMBER(NVML_ERROR_GPU_NOT_FOUND, Return::kGpuNotFound);
JC_NUMBER(NVML_ERROR_INVALID_STATE, Return::kInvalidState);
JC_NUMBER(NVML_ERROR_UNKNOWN, Return::kUnknown);
JC_NUMBER(NVML_DEVICE_ARCH_KEPLER, Architecture::kKepler);
JC_NUMBER(NVML_DEVICE_ARCH_MAXWELL, Architecture::kMaxwell);
JC_NUMBER(NVML_DEVICE_ARCH_PASCAL, Architecture::kPascal);
JC_NUMBER(NVML_DEVICE_ARCH_VOLTA, Architecture::kVolta);
JC_NUMBER(NVML_DEVICE_ARCH_TURING, Architecture::kTuring);
JC_NUMBER(NVML_DEVICE_ARCH_AMPERE, Architecture::kAmpere);
JC_NUMBER(NVML_DEVICE_ARCH_ADA, Architecture::kAda);
JC_NUMBER(NVML_DEVICE_ARCH_HOPPER, Architecture::kHopper);
#ifdef NVML_DEVICE_ARCH_BLACKWELL
JC_NUMBER(NVML_DEVICE_ARCH_BLACKWELL, Architecture::kBlackwell);
#endif
JC_NUMBER(NVML_DEVICE_ARCH_UNKNOWN, Architecture::kUnknown);
JC_NUMBER(NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION, FieldId::kTotalEnergy);
JC_NUMBER(NVML_FI_DEV_POWER_AVERAGE, FieldId::kPowerAverage);
JC_NUMBER(NVML_FI_DEV_POWER_INSTANT, FieldId::kPowerInstant);
JC_NUMBER(NVML_FI_DEV_POWER_MIN_LIMIT, FieldId::kPowerMinLimit);
JC_NUMBER(NVML_FI_DEV_POWER_MAX_LIMIT, FieldId::kPowerMaxLimit);
JC_NUMBER(NVML_FI_DEV_POWER_DEFAULT_LIMIT, FieldId::kPowerDefaultLimit);
JC_NUMBER(NVML_FI_DEV_POWER_CURRENT_LIMIT, FieldId::kPowerCurrentLimit);
JC_NUMBER(NVML_FI_DEV_ENERGY, FieldId::kEnergy);
JC_NUMBER(NVML_FI_DEV_POWER_REQUESTED_LIMIT, FieldId::kPowerRequestedLimit);
JC_NUMBER(NVML_POWER_SCOPE_GPU, PowerScope::kGpu);
JC_NUMBER(NVML_POWER_SCOPE_MODULE, PowerScope::kModule);
JC_NUMBER(NVML_POWER_SCOPE_MEMORY, PowerScope::kMemory);
JC_NUMBER(NVML_VALUE_TYPE_DOUBLE, ValueType::kDouble);
JC_NUMBER(NVML_VALUE_TYPE_UNSIGNED_INT, ValueType::kUnsignedInt);
JC_NUMBER(NVML_VALUE_TYPE_UNSIGNED_LONG, ValueType::kUnsignedLong);
JC_NUMBER(NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, ValueType::kUnsignedLongLong);
JC_NUMBER(NVML_VALUE_TYPE_SIGNED_LONG_LONG, ValueType::kSignedLongLong);
JC_NUMBER(NVML_VALUE_TYPE_SIGNED_INT, ValueType::kSignedInt);
JC_NUMBER(NVML_VALUE_TYPE_UNSIGNED_SHORT, ValueType::kUnsignedShort);
JC_NUMBER(NVML_TOTAL_POWER_SAMPLES, SamplingType::kTotalPower);
JC_NUMBER(NVML_GPU_UTILIZATION_SAMPLES, SamplingType::kGpuUtilization);
JC_NUMBER(NVML_MEMORY_UTILIZATION_SAMPLES, SamplingType::kMemoryUtilization);
JC_NUMBER(NVML_ENC_UTILIZATION_SAMPLES, SamplingType::kEncoderUtilization);
JC_NUMBER(NVML_DEC_UTILIZATION_SAMPLES, SamplingType::kDecoderUtilization);
JC_NUMBER(NVML_PROCESSOR_CLK_SAMPLES, SamplingType::kProcessorClock);
JC_NUMBER(NVML_MEMORY_CLK_SAMPLES, SamplingType::kMemoryClock);
JC_NUMBER(NVML_MODULE_POWER_SAMPLES, SamplingType::kModulePower);
JC_NUMBER(NVML_CLOCK_GRAPHICS, ClockType::kGraphics);
JC_NUMBER(NVML_CLOCK_SM, ClockType::kSm);
JC_NUMBER(NVML_CLOCK_MEM, ClockType::kMemory);
JC_NUMBER(NVML_CLOCK_VIDEO, ClockType::kVideo);
JC_NUMBER(NVML_TEMPERATURE_GPU, TemperatureSensor::kGpu);
JC_NUMBER(NVML_PCIE_UTIL_TX_BYTES, PcieCounter::kTransmitted);
JC_NUMBER(NVML_PCIE_UTIL_RX_BYTES, PcieCounter::kReceived);
JC_NUMBER(NVML_FEATURE_DISABLED, EnableState::kDisabled);
JC_NUMBER(NVML_FEATURE_ENABLED, EnableState::kEnabled);
JC_NUMBER(NVML_PSTATE_0, PerformanceState::k0);
JC_NUMBER(NVML_PSTATE_8, PerformanceState::k8);
JC_NUMBER(NVML_PSTATE_15, PerformanceState::k15);
JC_NUMBER(NVML_PSTATE_UNKNOWN, PerformanceState::kUnknown);
JC_NUMBER(nvmlClocksEventReasonNone, event_reason::kNone);
JC_NUMBER(nvmlClocksEventReasonGpuIdle, event_reason::kGpuIdle);
JC_NUMBER(nvmlClocksEventReasonApplicationsClocksSetting, event_reason::kApplicationsClocksSetting);
JC_NUMBER(nvmlClocksEventReasonSwPowerCap, event_reason::kSwPowerCap);
JC_NUMBER(nvmlClocksThrottleReasonHwSlowdown, event_reason::kHwSlowdown);
JC_NUMBER(nvmlClocksEventReasonSyncBoost, event_reason::kSyncBoost);
JC_NUMBER(nvmlClocksEventReasonSwThermalSlowdown, event_reason::kSwThermalSlowdown);
JC_NUMBER(nvmlClocksThrottleReasonHwThermalSlowdown, event_reason::kHwThermalSlowdown);
JC_NUMBER(nvmlClocksThrottleReasonHwPowerBrakeSlowdown, event_reason::kHwPowerBrakeSlowdown);
JC_NUMBER(nvmlClocksEventReasonDisplayClockSetting, event_reason::kDisplayClockSetting);
JC_NUMBER(NVML_INIT_FLAG_NO_GPUS, init_flag::kNoGpus);
JC_NUMBER(NVML_INIT_FLAG_NO_ATTACH, init_flag::kNoAttach);
JC_NUMBER(NVML_DEVICE_MIG_DISABLE, kMigDisabled);
JC_NUMBER(NVML_DEVICE_MIG_ENABLE, kMigEnabled);
JC_NUMBER(NVML_DEVICE_UUID_V2_BUFFER_SIZE, kUuidBytes);
JC_NUMBER(NVML_DEVICE_NAME_V2_BUFFER_SIZE, kNameBytes);
JC_NUMBER(NVML_DEVICE_SERIAL_BUFFER_SIZE, kSerialBytes);
JC_NUMBER(NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE, kVersionBytes);
JC_NUMBER(NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE, kLegacyBusIdBytes);
JC_NUMBER(NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE, kBusIdBytes);

}  // namespace
