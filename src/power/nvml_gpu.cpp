// SPDX-License-Identifier: Apache-2.0
#include "power/nvml_gpu.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace joulecast {
namespace {

constexpr double kWattsOfMilliwatts = 1e-3;

// Texts of NVML: at most so many bytes, the closing zero included.
template <std::size_t size, typename Function>
std::string text_of(Function* function, nvml::Device device) {
  std::array<char, size> out{};
  if (function == nullptr || function(device, out.data(), size) != nvml::Return::kSuccess) return {};
  out.back() = '\0';
  return out.data();
}

std::string pci_of(const NvmlLibrary& library, nvml::Device device) {
  nvml::PciInfo info{};
  if (library.nvmlDeviceGetPciInfo_v3 == nullptr ||
      library.nvmlDeviceGetPciInfo_v3(device, &info) != nvml::Return::kSuccess) {
    return {};
  }
  return fmt::format("{:08X}:{:02X}:{:02X}.0", info.domain, info.bus, info.device);
}

bool mig_enabled(const NvmlLibrary& library, nvml::Device device) {
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  return library.nvmlDeviceGetMigMode != nullptr &&
         library.nvmlDeviceGetMigMode(device, &current, &pending) == nvml::Return::kSuccess &&
         current == nvml::kMigEnabled;
}

std::vector<std::string> mig_devices(const NvmlLibrary& library, nvml::Device device) {
  std::vector<std::string> out;
  if (!mig_enabled(library, device)) return out;
  const auto count = ask<std::uint32_t>(library.nvmlDeviceGetMaxMigDeviceCount, device).value_or(0);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto mig = ask<nvml::Device>(library.nvmlDeviceGetMigDeviceHandleByIndex, device, i);
    if (mig) out.push_back(text_of<nvml::kUuidBytes>(library.nvmlDeviceGetUUID, *mig));
  }
  return out;
}

NvmlGpu gpu_of(const std::shared_ptr<const NvmlLibrary>& library, nvml::Device device, std::size_t index) {
  NvmlGpu gpu{library, device, index, {}, nvml::Architecture::kUnknown, library->driver_version(), std::nullopt};
  gpu.identity.uuid = text_of<nvml::kUuidBytes>(library->nvmlDeviceGetUUID, device);
  gpu.identity.name = text_of<nvml::kNameBytes>(library->nvmlDeviceGetName, device);
  gpu.identity.pci = pci_of(*library, device);
  gpu.identity.mig = mig_devices(*library, device);
  gpu.architecture =
      ask<nvml::Architecture>(library->nvmlDeviceGetArchitecture, device).value_or(nvml::Architecture::kUnknown);
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  if (library->nvmlDeviceGetPowerManagementLimitConstraints != nullptr &&
      library->nvmlDeviceGetPowerManagementLimitConstraints(device, &low, &high) == nvml::Return::kSuccess) {
    gpu.max_limit_mw = high;
  }
  return gpu;
}

void add_limit(nlohmann::json& out, const char* key, std::optional<std::uint32_t> milliwatts) {
  if (milliwatts) out[key] = *milliwatts * kWattsOfMilliwatts;
}

void add_clock(nlohmann::json& out, const char* key, std::optional<std::uint32_t> megahertz) {
  if (megahertz) out[key] = *megahertz;
}

// As they are now; keys as everywhere outside the type system.
nlohmann::json settings_of(const NvmlGpu& gpu) {
  const NvmlLibrary& library = *gpu.library;
  nlohmann::json out = nlohmann::json::object();
  add_limit(out, "power_limit_w", ask<std::uint32_t>(library.nvmlDeviceGetPowerManagementLimit, gpu.handle));
  add_limit(out, "enforced_power_limit_w", ask<std::uint32_t>(library.nvmlDeviceGetEnforcedPowerLimit, gpu.handle));
  add_limit(out, "default_power_limit_w",
            ask<std::uint32_t>(library.nvmlDeviceGetPowerManagementDefaultLimit, gpu.handle));
  add_limit(out, "max_power_limit_w", gpu.max_limit_mw);
  const auto app = [&](nvml::ClockType type) {
    return ask<std::uint32_t>(library.nvmlDeviceGetApplicationsClock, gpu.handle, type);
  };
  const auto max = [&](nvml::ClockType type) {
    return ask<std::uint32_t>(library.nvmlDeviceGetMaxClockInfo, gpu.handle, type);
  };
  add_clock(out, "app_sm_clock_mhz", app(nvml::ClockType::kGraphics));
  add_clock(out, "app_memory_clock_mhz", app(nvml::ClockType::kMemory));
  add_clock(out, "max_sm_clock_mhz", max(nvml::ClockType::kSm));
  add_clock(out, "max_memory_clock_mhz", max(nvml::ClockType::kMemory));
  if (const auto mode = ask<nvml::EnableState>(library.nvmlDeviceGetPersistenceMode, gpu.handle)) {
    out["persistence_mode"] = *mode == nvml::EnableState::kEnabled;
  }
  return out;
}

}  // namespace

std::string NvmlGpu::id() const {
  return fmt::format("gpu{}", index);
}

MeasuredDevice NvmlGpu::describe() const {
  nlohmann::json details{{"uuid", identity.uuid},
                         {"pci", identity.pci},
                         {"architecture", architecture_name(architecture)},
                         {"driver", driver},
                         {"settings", settings_of(*this)}};
  if (const auto memory = ask<nvml::Memory>(library->nvmlDeviceGetMemoryInfo, handle)) {
    details["memory_bytes"] = memory->total_bytes;
  }
  std::array<char, nvml::kVersionBytes> version{};
  if (library->nvmlSystemGetNVMLVersion != nullptr &&
      library->nvmlSystemGetNVMLVersion(version.data(), version.size()) == nvml::Return::kSuccess) {
    version.back() = '\0';
    details["nvml_version"] = version.data();
  }
  std::int32_t cuda = 0;  // 12040 is 12.4
  if (library->nvmlSystemGetCudaDriverVersion_v2 != nullptr &&
      library->nvmlSystemGetCudaDriverVersion_v2(&cuda) == nvml::Return::kSuccess) {
    details["cuda_version"] = fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
  }
  std::int32_t major = 0, minor = 0;
  if (library->nvmlDeviceGetCudaComputeCapability != nullptr &&
      library->nvmlDeviceGetCudaComputeCapability(handle, &major, &minor) == nvml::Return::kSuccess) {
    details["compute_capability"] = fmt::format("{}.{}", major, minor);
  }
  if (!identity.mig.empty()) details["mig_devices"] = identity.mig;
  return {id(), "gpu", identity.name, std::move(details)};
}

Result<std::vector<NvmlGpu>> list_nvml_gpus(const std::shared_ptr<const NvmlLibrary>& library,
                                            std::vector<Missing>& missing) {
  std::uint32_t count = 0;
  if (const auto code = library->nvmlDeviceGetCount_v2(&count); code != nvml::Return::kSuccess) {
    return tl::unexpected<Error>(Error{ErrorCode::kDevice, library->text(code)});
  }
  std::vector<NvmlGpu> gpus;
  for (std::uint32_t i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    const auto code = library->nvmlDeviceGetHandleByIndex_v2(i, &device);
    if (code == nvml::Return::kSuccess) {
      gpus.push_back(gpu_of(library, device, i));
    } else {
      missing.push_back({fmt::format("gpu{}", i), library->text(code),
                         code == nvml::Return::kGpuIsLost ? "the machine has to be restarted" : ""});
      gpus.push_back({library, nullptr, i, {}, nvml::Architecture::kUnknown, {}, std::nullopt});
    }
  }
  return gpus;
}

std::string architecture_name(nvml::Architecture architecture) {
  constexpr std::array<const char*, 9> kNames{"kepler", "maxwell", "pascal", "volta",    "turing",
                                              "ampere", "ada",     "hopper", "blackwell"};
  const auto number = static_cast<std::uint32_t>(architecture);
  const std::uint32_t first = static_cast<std::uint32_t>(nvml::Architecture::kKepler);
  if (architecture == nvml::Architecture::kUnknown) return "unknown";
  if (number < first || number - first >= kNames.size()) return fmt::format("architecture {}", number);
  return kNames[number - first];
}

}  // namespace joulecast
