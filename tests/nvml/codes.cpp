// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "scenario.h"

namespace joulecast::nvml {
namespace {

struct Named {
  Return code;
  const char* name;
};

constexpr std::array kCodes = {
    Named{Return::kSuccess, "SUCCESS"},
    Named{Return::kUninitialized, "UNINITIALIZED"},
    Named{Return::kInvalidArgument, "INVALID_ARGUMENT"},
    Named{Return::kNotSupported, "NOT_SUPPORTED"},
    Named{Return::kNoPermission, "NO_PERMISSION"},
    Named{Return::kAlreadyInitialized, "ALREADY_INITIALIZED"},
    Named{Return::kNotFound, "NOT_FOUND"},
    Named{Return::kInsufficientSize, "INSUFFICIENT_SIZE"},
    Named{Return::kInsufficientPower, "INSUFFICIENT_POWER"},
    Named{Return::kDriverNotLoaded, "DRIVER_NOT_LOADED"},
    Named{Return::kTimeout, "TIMEOUT"},
    Named{Return::kIrqIssue, "IRQ_ISSUE"},
    Named{Return::kLibraryNotFound, "LIBRARY_NOT_FOUND"},
    Named{Return::kFunctionNotFound, "FUNCTION_NOT_FOUND"},
    Named{Return::kCorruptedInforom, "CORRUPTED_INFOROM"},
    Named{Return::kGpuIsLost, "GPU_IS_LOST"},
    Named{Return::kResetRequired, "RESET_REQUIRED"},
    Named{Return::kOperatingSystem, "OPERATING_SYSTEM"},
    Named{Return::kLibRmVersionMismatch, "LIB_RM_VERSION_MISMATCH"},
    Named{Return::kInUse, "IN_USE"},
    Named{Return::kMemory, "MEMORY"},
    Named{Return::kNoData, "NO_DATA"},
    Named{Return::kVgpuEccNotSupported, "VGPU_ECC_NOT_SUPPORTED"},
    Named{Return::kInsufficientResources, "INSUFFICIENT_RESOURCES"},
    Named{Return::kFreqNotSupported, "FREQ_NOT_SUPPORTED"},
    Named{Return::kArgumentVersionMismatch, "ARGUMENT_VERSION_MISMATCH"},
    Named{Return::kDeprecated, "DEPRECATED"},
    Named{Return::kNotReady, "NOT_READY"},
    Named{Return::kGpuNotFound, "GPU_NOT_FOUND"},
    Named{Return::kInvalidState, "INVALID_STATE"},
    Named{Return::kUnknown, "UNKNOWN"},
};

}  // namespace

std::optional<Return> return_named(const std::string& name) {
  const auto* found = std::find_if(kCodes.begin(), kCodes.end(), [&](const Named& code) { return name == code.name; });
  return found == kCodes.end() ? std::nullopt : std::optional(found->code);
}

const char* name_of(Return code) {
  const auto* found =
      std::find_if(kCodes.begin(), kCodes.end(), [&](const Named& named) { return named.code == code; });
  return found == kCodes.end() ? "code that the stand-in does not know" : found->name;
}

}  // namespace joulecast::nvml
