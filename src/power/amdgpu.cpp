// SPDX-License-Identifier: Apache-2.0
#include "power/amdgpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "power/gpu_choice.h"
#include "power/hwmon.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::microseconds kPowerPeriod{50'000};
constexpr std::chrono::microseconds kStatePeriod{500'000};
constexpr double kMilliwattsOfMicrowatt = 1e-3;
constexpr double kStepsOfPercent = 100;

const std::vector<HwmonFile>& power_files() {
  // Chips have one of the first two: the driver renamed it when firmware began to give instants.
  static const std::vector<HwmonFile> kFiles{{"power1_input", Signal::kPower, kMilliwattsOfMicrowatt},
                                             {"power1_average", Signal::kPower, kMilliwattsOfMicrowatt},
                                             {"energy1_input", Signal::kEnergy, 1.0}};
  return kFiles;
}

const std::vector<HwmonFile>& state_files() {
  static const std::vector<HwmonFile> kFiles{{"freq1_input", Signal::kSmClock, 1.0},
                                             {"freq2_input", Signal::kMemoryClock, 1.0},
                                             {"temp1_input", Signal::kTemperature, 1.0},
                                             {"power1_cap", Signal::kPowerLimit, kMilliwattsOfMicrowatt},
                                             {"device/gpu_busy_percent", Signal::kUtilization, kStepsOfPercent},
                                             {"device/mem_busy_percent", Signal::kMemoryUtilization, kStepsOfPercent},
                                             {"device/mem_info_vram_used", Signal::kMemoryUsed, 1.0}};
  return kFiles;
}

nlohmann::json details(const HwmonChip& chip) {
  nlohmann::json out = nlohmann::json::object();
  std::error_code ignored;
  const fs::path card = fs::canonical(chip.folder / "device", ignored);
  if (!ignored) out["pci"] = card.filename().string();
  if (const auto id = read_text(chip.folder / "device/unique_id")) out["uuid"] = *id;
  if (const auto total = read_number(chip.folder / "device/mem_info_vram_total")) out["memory_bytes"] = *total;
  if (const auto cap = read_number(chip.folder / "power1_cap")) {
    out["settings"] = {{"power_limit_w", static_cast<double>(*cap) * 1e-6}};
  }
  return out;
}

// The numbers that stay visible; absent where all do.
std::optional<std::string> visible_list() {
  for (const char* variable : {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    if (auto list = process_environment(variable)) return list;
  }
  return std::nullopt;
}

bool is_visible(std::size_t index, const std::optional<std::string>& list) {
  if (!list) return true;
  const std::string padded = "," + *list + ",";
  return padded.find(fmt::format(",{},", index)) != std::string::npos;
}

void add(const HwmonChip& chip, std::size_t index, Found& found) {
  const std::string device = fmt::format("amd{}", index);
  const std::string name = read_text(chip.folder / "device/product_name").value_or("AMD GPU");
  auto power = open_hwmon(chip, power_files(), device, found.missing);
  auto state = open_hwmon(chip, state_files(), device, found.missing);
  if (power.empty()) found.missing.push_back({device + ": power", "the driver shows none for this chip", ""});
  if (!power.empty()) found.sensors.push_back(file_sensor(std::move(power), Lane::kPower, kPowerPeriod));
  if (!state.empty()) found.sensors.push_back(file_sensor(std::move(state), Lane::kState, kStatePeriod));
  found.devices.push_back({device, "gpu", name, details(chip)});
}

}  // namespace

Result<Found> find_amdgpu(const SensorOptions& options) {
  Found found;
  const auto list = options.gpus == "all" ? std::nullopt : visible_list();
  std::size_t index = 0;
  for (const HwmonChip& chip : list_hwmon(options.root)) {
    if (chip.name != "amdgpu") continue;
    if (is_visible(index, list)) add(chip, index, found);
    ++index;
  }
  return found;
}

}  // namespace joulecast
