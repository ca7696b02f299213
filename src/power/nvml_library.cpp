// SPDX-License-Identifier: Apache-2.0
#include "power/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace joulecast {
namespace {

template <typename Function>
void find(void* library, const char* name, Function*& out) {
  out = reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

NvmlLibrary::NvmlLibrary(void* handle) : handle_(handle) {
#define JC_NVML_FIND(name, ...) find(handle, #name, this->name);
  JC_NVML_FUNCTIONS(JC_NVML_FIND)
#undef JC_NVML_FIND
}

Result<std::shared_ptr<const NvmlLibrary>> NvmlLibrary::open() {
  void* handle = ::dlopen(nvml::kLibraryName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return not_found(fmt::format("{} is not installed: no NVIDIA driver here", nvml::kLibraryName));
  std::shared_ptr<NvmlLibrary> library(new NvmlLibrary(handle));
  if (library->nvmlInit_v2 == nullptr || library->nvmlDeviceGetCount_v2 == nullptr ||
      library->nvmlDeviceGetHandleByIndex_v2 == nullptr) {
    return tl::unexpected<Error>(Error{ErrorCode::kDevice, fmt::format("{} is too old for us", nvml::kLibraryName)});
  }
  if (const nvml::Return code = library->nvmlInit_v2(); code != nvml::Return::kSuccess) {
    return tl::unexpected<Error>(Error{ErrorCode::kDevice, library->text(code)});
  }
  library->started_ = true;
  return library;
}

NvmlLibrary::~NvmlLibrary() {
  if (started_ && nvmlShutdown != nullptr) nvmlShutdown();
  if (handle_ != nullptr) ::dlclose(handle_);
}

std::string NvmlLibrary::text(nvml::Return code) const {
  const auto number = static_cast<unsigned>(code);
  const char* words = nvmlErrorString == nullptr ? nullptr : nvmlErrorString(code);
  return words == nullptr ? fmt::format("NVML: error {}", number) : fmt::format("NVML: {} ({})", words, number);
}

std::string NvmlLibrary::driver_version() const {
  std::array<char, nvml::kVersionBytes> text{};
  if (nvmlSystemGetDriverVersion == nullptr ||
      nvmlSystemGetDriverVersion(text.data(), text.size()) != nvml::Return::kSuccess) {
    return {};
  }
  text.back() = '\0';
  return text.data();
}

Absence absence_of(nvml::Return code) {
  switch (code) {
    case nvml::Return::kNoPermission:
      return Absence::kNoPermission;
    case nvml::Return::kGpuIsLost:
    case nvml::Return::kResetRequired:
      return Absence::kDeviceLost;
    case nvml::Return::kTimeout:
      return Absence::kTimeout;
    case nvml::Return::kNotSupported:
    case nvml::Return::kFunctionNotFound:
    case nvml::Return::kInvalidArgument:
    case nvml::Return::kDeprecated:
      return Absence::kUnsupported;
    default:
      return Absence::kError;
  }
}

}  // namespace joulecast
