// SPDX-License-Identifier: Apache-2.0
// Limits and clocks of a GPU: what was found, what is wanted, and whether it took.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "power/nvml_gpu.h"

namespace joulecast {

struct ClockRange {
  std::uint32_t low_mhz = 0, high_mhz = 0;
  bool operator==(const ClockRange&) const = default;
};

struct ApplicationClocks {
  std::uint32_t memory_mhz = 0, sm_mhz = 0;
  bool operator==(const ApplicationClocks&) const = default;
};

// What a GPU shall have; what is absent is left alone.
struct GpuSettings {
  std::optional<std::uint32_t> power_limit_mw;
  std::optional<ClockRange> sm_lock, memory_lock;
  std::optional<ApplicationClocks> application;

  [[nodiscard]] bool empty() const { return *this == GpuSettings{}; }
  // "200 W, SM 1200 MHz, memory 877 MHz"; "as found" where nothing is wanted.
  [[nodiscard]] std::string text() const;
  bool operator==(const GpuSettings&) const = default;
};

// What a GPU had before anything was changed, enough to put it back. NVML tells limits and application clocks, but not
// whether clocks are locked: those are unlocked in the end, which is how a driver starts.
struct FoundSettings {
  std::string uuid, name;
  std::size_t index = 0;
  std::optional<std::uint32_t> power_limit_mw, default_limit_mw;
  std::optional<ApplicationClocks> application;
  // What may have been changed since; only that is put back.
  bool limit_changes = false, application_changes = false, sm_lock_changes = false, memory_lock_changes = false;

  // Requires: the settings are about the same GPU.
  void will_change(const GpuSettings& wanted);
  bool operator==(const FoundSettings&) const = default;
};
nlohmann::json to_json(const FoundSettings& found);
// Errors: kInvalidInput for what to_json() does not write.
Result<FoundSettings> found_of_json(const nlohmann::json& json);

FoundSettings find_settings(const NvmlGpu& gpu);

// Whether the GPU can have them at all; nothing is changed. Errors: kInvalidInput with the range or the nearest clocks
// there are, kUnsupported for chips that have no such setting.
Result<void> check_settings(const NvmlGpu& gpu, const GpuSettings& wanted);

// Sets, then reads back. Errors: kDevice where the driver refuses, with the command that an administrator has to run
// where it is a matter of rights, and all of verify_settings(). What was set before the error stays set; `changed` is
// told of it.
Result<void> apply_settings(const NvmlGpu& gpu, const GpuSettings& wanted, FoundSettings* changed = nullptr);

// Errors: kDevice where the limit did not take, where something outside the driver (a board controller, a power
// manager) enforces less, and where application clocks are others. Locked clocks cannot be read back.
Result<void> verify_settings(const NvmlGpu& gpu, const GpuSettings& wanted);

// Puts back what may have been changed and is not as it was, as much of it as can be, and reads it back. Errors:
// kDevice, naming all that did not work.
Result<void> restore_settings(const NvmlGpu& gpu, const FoundSettings& found);

// The GPU with that UUID, wherever it is counted now. Errors: kNotFound.
Result<NvmlGpu> gpu_with_uuid(const std::vector<NvmlGpu>& gpus, const std::string& uuid);

}  // namespace joulecast
