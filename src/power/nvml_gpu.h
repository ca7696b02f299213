// SPDX-License-Identifier: Apache-2.0
// One NVIDIA GPU of this machine: who it is, how it is set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "power/gpu_choice.h"
#include "power/nvml_library.h"
#include "power/sensor.h"

namespace joulecast {

struct NvmlGpu {
  std::shared_ptr<const NvmlLibrary> library;
  nvml::Device handle = nullptr;  // null: it does not answer
  std::size_t index = 0;          // in NVML's order
  GpuIdentity identity;
  nvml::Architecture architecture = nvml::Architecture::kUnknown;
  std::string driver;
  std::optional<std::uint32_t> max_limit_mw;

  [[nodiscard]] std::string id() const;  // "gpu0"
  // Name, ids, driver, and the limits, clocks and modes it has now.
  [[nodiscard]] MeasuredDevice describe() const;
};

// All GPUs, one entry an index; those that do not answer have no handle and are told in `missing`. Errors: kDevice
// where NVML cannot count them.
Result<std::vector<NvmlGpu>> list_nvml_gpus(const std::shared_ptr<const NvmlLibrary>& library,
                                            std::vector<Missing>& missing);

// "hopper"; "architecture 13" for those that came later.
std::string architecture_name(nvml::Architecture architecture);

// A number that a function gives through a pointer; absent where there is no such function or it fails.
template <typename T, typename Function, typename... Arguments>
std::optional<T> ask(Function* function, Arguments... arguments) {
  T value{};
  if (function == nullptr || function(arguments..., &value) != nvml::Return::kSuccess) return std::nullopt;
  return value;
}

}  // namespace joulecast
