// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library, opened at run time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/result.h"
#include "power/nvml_abi.h"
#include "recording/channel.h"

namespace joulecast {

// The loaded library, initialised as long as this lives. Functions that the installed version lacks are null: ask with
// the member functions, or check first. NVML's functions may be called from any thread.
//
//   JC_ASSIGN_OR_RETURN(std::shared_ptr<const NvmlLibrary> nvml, NvmlLibrary::open());
//   if (nvml->nvmlDeviceGetPowerUsage != nullptr) ...
class NvmlLibrary {
 public:
  // Errors: kNotFound where there is no such library, kDevice where it does not start ("driver not loaded").
  static Result<std::shared_ptr<const NvmlLibrary>> open();

  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  ~NvmlLibrary();

  // "NVML: GPU is lost (15)".
  [[nodiscard]] std::string text(nvml::Return code) const;
  [[nodiscard]] std::string driver_version() const;  // empty where it does not say

#define JC_NVML_MEMBER(name, ...) nvml::functions::name* name = nullptr;  // NOLINT(readability-identifier-naming)
  JC_NVML_FUNCTIONS(JC_NVML_MEMBER)
#undef JC_NVML_MEMBER

 private:
  explicit NvmlLibrary(void* handle);

  void* handle_ = nullptr;
  bool started_ = false;
};

// What a call that fails with this code means for a reading.
Absence absence_of(nvml::Return code);

}  // namespace joulecast
